"""Exits: what the exit code of a command says."""

from enum import IntEnum


class Exit(IntEnum):
    """The same for every command."""

    FINE = 0
    FOUND_PROBLEMS = 1
    WRONG_USE = 2
    UNREACHABLE = 3
    INTERRUPTED = 130
