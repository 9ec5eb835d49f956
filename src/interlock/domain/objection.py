"""Objection: what a declared part of a file says is wrong with itself, between its own fields."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

import msgspec


class ProblemKind(StrEnum):
    """The kind of a problem. The list is closed: programs rely on it."""

    UNKNOWN_KEY = "unknown_key"
    MISSING = "missing"
    WRONG_TYPE = "wrong_type"
    OUT_OF_RANGE = "out_of_range"
    BAD_VALUE = "bad_value"
    CONFLICT = "conflict"
    DUPLICATE = "duplicate"


class Objection(msgspec.Struct, frozen=True):
    """`path` leads from the part to the value, by the names of the file."""

    path: tuple[str, ...]
    kind: ProblemKind
    message: str
    hint: str = ""
    is_warning: bool = False


@runtime_checkable
class Objector(Protocol):
    """A part of a file with rules between its fields."""

    def objections(self) -> Iterator[Objection]:
        """What is wrong. A field that has an error already may be BROKEN: ask `known` before you use it."""
        ...


class _Broken:
    """Replaces, in a struct, a value that already has an error. So do all of its parts."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self

    def __repr__(self) -> str:
        return "BROKEN"


BROKEN: Any = _Broken()


def known(*values: object) -> bool:
    """Whether all of these are valid: checks that depend on a broken value are skipped."""
    return all(value is not BROKEN for value in values)
