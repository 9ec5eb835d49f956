"""Form fields: what a person sent with a form, and how it becomes the body of a request."""

from typing import Any, TypeVar
from urllib.parse import parse_qsl

import msgspec

from interlock.web.http_problem import HttpProblem

#: A thousand dates, and what goes with them.
MOST_FIELDS = 1020

T = TypeVar("T", bound=msgspec.Struct)


class FormFields:
    """The fields of a form; of one that is sent twice, the last counts unless all are asked for."""

    def __init__(self, text: str) -> None:
        """Raises HttpProblem for a form that can't be read."""
        try:
            self._pairs = parse_qsl(text, max_num_fields=MOST_FIELDS)
        except ValueError as error:
            raise HttpProblem(422, f"invalid form: {error}") from None
        self._last = dict(self._pairs)

    def get(self, name: str) -> str:
        return self._last.get(name, "")

    def all(self, name: str) -> list[str]:
        """Every value of a field, in order."""
        return [value for each, value in self._pairs if each == name]

    def lines(self, name: str) -> list[tuple[str, str]]:
        """A field that holds one `name=value` per line. Raises HttpProblem for a line without a name."""
        return [_pair(line) for line in self.get(name).splitlines() if line.strip()]

    def again(self, *without: str) -> list[tuple[str, str]]:
        """All fields but these, to send them again."""
        return [pair for pair in self._pairs if pair[0] not in without]


def checked(wanted: dict[str, Any], kind: type[T]) -> T:
    """As the body of the same request to the API. Raises HttpProblem."""
    try:
        return msgspec.convert(wanted, kind)
    except msgspec.ValidationError as error:
        raise HttpProblem(422, f"invalid form: {error}") from None


def _pair(line: str) -> tuple[str, str]:
    name, mark, value = line.partition("=")
    if not mark or not name.strip():
        raise HttpProblem(422, f"{line.strip()!r} is not name=value")
    return name.strip(), value.strip()
