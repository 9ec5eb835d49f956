"""Problem collector: collects the problems of one file, at most one error per path."""

from collections.abc import Callable, Mapping
from typing import Any

from interlock.domain.objection import BROKEN as BROKEN
from interlock.domain.objection import Objector
from interlock.domain.objection import known as known
from interlock.files.nodes import Map, Node, Scalar, find
from interlock.files.problem import Path, Problem, ProblemKind, ProblemSeverity, printable, spell
from interlock.files.scalars import is_nothing

#: Enough for the codes of all countries.
_LONGEST_MESSAGE = 1500
MOST_SUGGESTIONS = 50


class ProblemCollector:
    """The problems of one file so far."""

    def __init__(self, file: str = "", checks: Mapping[type, "Check"] | None = None) -> None:
        self.problems: list[Problem] = []
        self.checks = checks or {}
        self._suggestions_left = MOST_SUGGESTIONS
        self._file = file
        self._errors: set[Path] = set()

    @property
    def is_sound(self) -> bool:
        return not self._errors

    def error(
        self, path: Path, place: Node, kind: ProblemKind, message: str, hint: str = ""
    ) -> Any:
        """Record an error and return the stand-in for the value."""
        if path not in self._errors:
            self._errors.add(path)
            self.note(path, place, kind, message, hint, ProblemSeverity.ERROR)
        return BROKEN

    def warn(self, path: Path, root: Node, kind: ProblemKind, message: str, hint: str = "") -> None:
        self.note(path, find(root, path), kind, message, hint, ProblemSeverity.WARNING)

    def may_suggest(self) -> bool:
        """Whether to search for a suggestion: that is slow, and a file may hold only nonsense."""
        self._suggestions_left -= 1
        return self._suggestions_left >= 0

    def note(
        self,
        path: Path,
        place: Node,
        kind: ProblemKind,
        message: str,
        hint: str,
        severity: ProblemSeverity,
    ) -> None:
        self.problems.append(
            Problem(
                path=spell(path),
                kind=kind,
                message=printable(message, _LONGEST_MESSAGE),
                hint=hint,
                severity=severity,
                file=self._file,
                line=place.line,
                column=place.column,
            )
        )


class At:
    """A struct just read: its position, and how to report a problem with a part of it."""

    __slots__ = ("node", "path", "reading")

    def __init__(self, reading: ProblemCollector, node: Node, path: Path) -> None:
        self.reading, self.node, self.path = reading, node, path

    def inner(self, *steps: str | int) -> "At":
        """A part of it; if that was not written, its nearest ancestor."""
        return At(self.reading, find(self.node, steps), (*self.path, *steps))

    def given(self, key: str) -> Node | None:
        """What was written under a key; null counts as not written."""
        node = self.node.items.get(key) if isinstance(self.node, Map) else None
        return None if isinstance(node, Scalar) and is_nothing(node) else node

    def error(self, key: str, kind: ProblemKind, message: str, hint: str = "") -> Any:
        """Report that the part named by the key is wrong or missing."""
        place = find(self.node, (key,))
        return self.reading.error((*self.path, key), place, kind, message, hint)

    def object_to(self, part: Objector) -> None:
        """Note what the part says is wrong with itself."""
        for each in part.objections():
            path, place = (*self.path, *each.path), find(self.node, each.path)
            if each.is_warning:
                warning = ProblemSeverity.WARNING
                self.reading.note(path, place, each.kind, each.message, each.hint, warning)
            else:
                self.reading.error(path, place, each.kind, each.message, each.hint)


Check = Callable[[Any, At], None]
