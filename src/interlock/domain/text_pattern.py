"""Text pattern: a regular expression of a rule, in RE2 syntax.

RE2 matches in linear time: no reading can make it hang, as it can with Python's `re`. The library is imported
with the first pattern, so that a process without one does not load it.
"""

from functools import lru_cache
from typing import Any

LONGEST_PATTERN = 1000
#: What one compiled pattern may occupy, in bytes; RE2 refuses a larger one.
_LARGEST_PROGRAM = 1 << 20


def pattern_problem(pattern: str) -> str | None:
    """Why a text is not a pattern; None if it is one."""
    if len(pattern) > LONGEST_PATTERN:
        return f"a pattern has at most {LONGEST_PATTERN} characters"
    try:
        _compiled(pattern)
    except ValueError as error:
        return str(error)
    return None


def matches_whole(pattern: str, text: str) -> bool:
    """Whether the pattern matches the text from its beginning to its end. Raises ValueError for a text that
    is not a pattern.
    """
    return _compiled(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    import re2  # type: ignore[import-untyped] # only a rule that matches needs it, and functions start faster without it

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _LARGEST_PROGRAM
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0]
        reason = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
        raise ValueError(f"not a regular expression of RE2: {reason}") from None
