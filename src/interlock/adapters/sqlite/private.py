"""Private files: only the owner may read the store."""

import os
from contextlib import suppress
from pathlib import Path

_OTHERS = 0o077
#: SQLite creates these next to a file, with its permissions.
_COMPANIONS = ("", "-wal", "-shm", "-journal")


def make_private(path: Path) -> None:
    """Only its owner may read it, from its creation on; a file with wider permissions loses them.

    Errors are ignored here: opening the file reports them better.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    for name in _COMPANIONS:
        _take_from_others(path.with_name(path.name + name))


def _take_from_others(path: Path) -> None:
    with suppress(OSError):
        mode = path.stat().st_mode
        if mode & _OTHERS:
            path.chmod(mode & ~_OTHERS)
