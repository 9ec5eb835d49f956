"""Suggestion: the name that a person meant, or the names there are."""

import difflib
from collections.abc import Collection

#: So many names are listed; more would bury the message.
_FEW = 8


def did_you_mean(word: str, names: Collection[str]) -> str:
    """`did you mean silver-orders?`, or the few names there are, or nothing."""
    by_small = {each.lower(): each for each in names}
    near = difflib.get_close_matches(word[:80].lower(), by_small, n=1, cutoff=0.6)
    if near:
        return f"did you mean {by_small[near[0]]}?"
    return f"there are: {', '.join(sorted(names))}" if 0 < len(names) <= _FEW else ""


def with_suggestion(message: str, word: str, names: Collection[str]) -> str:
    """The message, and the suggestion if there is one."""
    hint = did_you_mean(word, names)
    return f"{message}; {hint}" if hint else message
