"""Presence: whether the files that are open are still those that their names lead to.

A file that is deleted, moved or replaced while it is open can be written to as before, and nobody finds
again what was written. So the names are looked at around each commit.
"""

import os
from pathlib import Path

#: The log and its index belong to the file: without them its newest commits are lost.
_COMPANIONS = ("", "-wal", "-shm")

_Identity = tuple[int, int]


class Presence:
    """Remembers which files were opened. To be made once they are all there."""

    def __init__(self, path: Path) -> None:
        self._known: dict[str, _Identity] = {}
        for name in _COMPANIONS:
            self.add(path.with_name(path.name + name))

    def add(self, path: Path) -> None:
        """One that is not there now need not be there later."""
        identity = _identity(str(path))
        if identity is not None:
            self._known = {**self._known, str(path): identity}

    def problem(self) -> str | None:
        """Which of them is not what it was, and what to do; None when all are."""
        for path, known in self._known.items():
            found = _identity(path)
            if found != known:
                became = "deleted or moved" if found is None else "replaced by another file"
                return f"{path} was {became} while it is served; {_REMEDY}"
        return None


def _identity(path: str) -> _Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


_REMEDY = (
    "nothing more is kept or launched: put it back as it was, or stop the server,"
    " replace it with the last backup and start again"
)
