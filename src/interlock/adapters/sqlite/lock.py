"""Lock: one process serves a state file."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from interlock.errors import UnavailableError


@contextmanager
def serving(database: Path) -> Iterator[None]:
    """Hold the file's lock. Raises UnavailableError while another process holds it.

    The operating system releases the lock when the process ends, however it ends; the lock file stays.
    """
    descriptor = os.open(lock_file(database), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _take(descriptor, database)
        yield
    finally:
        os.close(descriptor)


def is_served(database: Path) -> bool:
    """Whether a process holds the lock now."""
    try:
        with serving(database):
            return False
    except UnavailableError:
        return True


def lock_file(database: Path) -> Path:
    return database.with_name(f"{database.name}.lock")


def _take(descriptor: int, database: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        holder = os.pread(descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
        raise UnavailableError(
            f"{database} is in use by another server ({holder}): stop it, or use its API"
        ) from error
    os.truncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
