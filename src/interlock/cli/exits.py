"""Exits: what the exit code of a command says, and how Ctrl-C ends one."""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum


class Exit(IntEnum):
    """The same for every command."""

    FINE = 0
    FOUND_PROBLEMS = 1
    WRONG_USE = 2
    UNREACHABLE = 3
    INTERRUPTED = 130


#: What each code means.
EXITS = {
    Exit.FINE: "success",
    Exit.FOUND_PROBLEMS: "problems found: errors in files, expectations that do not hold",
    Exit.WRONG_USE: "wrong usage: an unknown command or option, a path that does not exist",
    Exit.UNREACHABLE: "the backend is unreachable; nothing was done",
    Exit.INTERRUPTED: "Ctrl-C ended the command",
}


class Interrupted(Exception):  # noqa: N818 - the user's wish, not an error
    """Ctrl-C ended the command. The text says what goes on regardless."""


@contextmanager
def interruptible(goes_on: str = "") -> Iterator[None]:
    """Ctrl-C inside ends the command; an inner block that says more wins."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(goes_on) from None
