"""Problem: something wrong in a file, where it is, and how to fix it."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from interlock.domain.objection import ProblemKind as ProblemKind

Path = tuple[str | int, ...]

_LONGEST_KEY = 200


class ProblemSeverity(StrEnum):
    """A file with an error is refused; a warning is legal but certainly a mistake."""

    ERROR = "error"
    WARNING = "warning"


class Problem(msgspec.Struct, frozen=True):
    """One problem. Lines and columns count from 1; 0 means the file as a whole."""

    path: str
    kind: ProblemKind
    message: str
    hint: str = ""
    severity: ProblemSeverity = ProblemSeverity.ERROR
    file: str = ""
    line: int = 0
    column: int = 0

    @property
    def is_error(self) -> bool:
        return self.severity is ProblemSeverity.ERROR

    def __str__(self) -> str:
        """`file:line:column: path: message; hint`, on one line whatever the file holds."""
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        place = place.removeprefix(":")
        severity = "" if self.is_error else "warning"
        said = f"{self.message}; {self.hint}" if self.hint else self.message
        return ": ".join(part for part in (place, severity, self.path, said) if part)


def by_file(problems: Iterable[Problem]) -> dict[str, list[Problem]]:
    """The problems of each file, in their order."""
    found: dict[str, list[Problem]] = {}
    for problem in problems:
        found.setdefault(problem.file, []).append(problem)
    return found


def spell(path: Path) -> str:
    """`schedules[1].id`: keys joined by dots, positions in brackets."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{printable(step, _LONGEST_KEY)}"
    return text.removeprefix(".")


def printable(text: str, longest: int = 60) -> str:
    """Text from a file, safe to show: no control characters, limited length."""
    short = text if len(text) <= longest else f"{text[:longest]}..."
    if short.isprintable():
        return short
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in short
    )


def quoted(text: str) -> str:
    """Text from a file inside a sentence."""
    return f"'{printable(text)}'"
