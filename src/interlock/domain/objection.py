"""Objection: what a declared part of a file says is wrong with itself, between its own fields."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Protocol, runtime_checkable

import msgspec


class ProblemKind(StrEnum):
    """What sort of wrong it is. The list is closed: programs rely on it."""

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
        """What is wrong. A field that has an error already holds a value of no type at all: look at the
        type before you use it.
        """
        ...
