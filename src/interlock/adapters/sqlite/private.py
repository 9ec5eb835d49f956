"""Private files: what the store holds is for the eyes of its owner."""

import os
from contextlib import suppress
from pathlib import Path

_OTHERS = 0o077
#: SQLite makes these beside a file, with the rights of that file.
_COMPANIONS = ("", "-wal", "-shm", "-journal")


def make_private(path: Path) -> None:
    """Nobody else may read it, from its first moment on; one that was made with more rights loses them.

    What can't be done is left to whoever opens the file, and says better what is wrong.
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
