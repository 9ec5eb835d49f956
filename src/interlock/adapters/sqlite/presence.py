"""Presence: whether the paths still lead to the files that were opened.

A file that is deleted, moved or replaced while it is open accepts writes as before, but those writes are
lost. So the paths are checked around each commit.
"""

import os
from pathlib import Path

#: The log and its index belong to the file: without them its newest commits are lost.
_COMPANIONS = ("", "-wal", "-shm")

_Identity = tuple[int, int]


class Presence:
    """Remembers which files were opened. Create it once they all exist."""

    def __init__(self, path: Path) -> None:
        self._known: dict[str, _Identity] = {}
        for name in _COMPANIONS:
            self.add(path.with_name(path.name + name))

    def add(self, path: Path) -> None:
        """A file that does not exist now need not exist later."""
        identity = _identity(str(path))
        if identity is not None:
            self._known = {**self._known, str(path): identity}

    def problem(self) -> str | None:
        """Which file was deleted, moved or replaced, and what to do; None when all are in place."""
        for path, known in self._known.items():
            found = _identity(path)
            if found != known:
                became = "deleted or moved" if found is None else "replaced by another file"
                return f"{path} was {became} while the server is using it; {_REMEDY}"
        return None


def _identity(path: str) -> _Identity | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


_REMEDY = (
    "nothing more is stored or launched: restore it as it was, or stop the server,"
    " replace it with the last backup and start again"
)
