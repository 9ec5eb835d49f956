"""Path: one location in a JSON value, such as `$.job.event` or `$.rows[0]`.

These are the reference paths of JSONPath. Wildcards, filters and the context object (`$$.`) are refused.
"""

import re
from typing import Any, Final

from interlock.lifecycle.asl.state_errors import RESULT_PATH, RUNTIME, Fault

_STEP: Final = re.compile(r"\.([A-Za-z_]\w*)|\['([^']+)'\]|\[(0|[1-9][0-9]*)\]", re.ASCII)


class Path:
    """A parsed path. Raises ValueError for invalid text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._steps = _parse(text)

    def read(self, value: Any) -> Any:
        """The value there. A missing value is a fault, never a null."""
        found = value
        for step in self._steps:
            if not _leads_on(found, step):
                raise Fault(RUNTIME, f"The path {self.text} leads to nothing in the input.")
            found = found[step]
        return found

    def present(self, value: Any) -> bool:
        """Whether a value exists there, even null."""
        try:
            self.read(value)
        except Fault:
            return False
        return True

    def write(self, value: Any, new: Any) -> Any:
        """A copy of the value with `new` there; missing objects on the way are created."""
        return self._write(value, new, self._steps)

    def _write(self, value: Any, new: Any, steps: tuple[str | int, ...]) -> Any:
        if not steps:
            return new
        first, rest = steps[0], steps[1:]
        if isinstance(value, dict) and isinstance(first, str):
            return {**value, first: self._write(value.get(first, {}), new, rest)}
        if isinstance(first, int) and _leads_on(value, first):
            return [*value[:first], self._write(value[first], new, rest), *value[first + 1 :]]
        raise Fault(RESULT_PATH, f"The path {self.text} can't be written into the input.")


def _leads_on(value: Any, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(value, dict) and step in value
    return isinstance(value, list) and step < len(value)


def _parse(text: str) -> tuple[str | int, ...]:
    steps: list[str | int] = []
    end = 1
    while match := _STEP.match(text, end):
        name, quoted, index = match.groups()
        steps.append(int(index) if index else name or quoted)
        end = match.end()
    if not text.startswith("$") or end != len(text):
        raise ValueError(f"{text!r} is not a reference path such as $.job.event")
    return tuple(steps)


#: The whole value.
ROOT: Final = Path("$")
