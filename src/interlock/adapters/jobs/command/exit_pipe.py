"""Ends: which jobs have just ended. Supervisors write one token per line into a pipe; a reader is optional.

A pipe and not a socket, because the path of a socket may have only 100 characters.
"""

import os
import select
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

NAME = "ends"
READ_AT_ONCE = 64 * 1024


def ends_path(state: Path) -> Path:
    """The pipe into which the supervisors of a state folder write."""
    return state / "jobs" / NAME


class Ends:
    """The listener of one state folder. Polling finds the jobs that end while it does not listen."""

    def __init__(self, state: Path) -> None:
        path = ends_path(state)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError):
            os.mkfifo(path, 0o600)
        # open at both ends, so that it is never at its end
        self._pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._rest = b""

    def wait(self, timeout: float) -> list[str]:
        """The tokens of jobs that ended; empty after the timeout or `interrupt`."""
        until = time.monotonic() + timeout
        while True:
            left = until - time.monotonic()
            select.select([self._pipe], [], [], max(0.0, left))
            lines = self._read()
            if lines or left <= 0:
                return [line.decode(errors="replace") for line in lines if line]

    def interrupt(self) -> None:
        """Make `wait` return at once. Any thread may call it."""
        with suppress(BlockingIOError):  # full: there is enough to return for
            os.write(self._pipe, b"\n")

    def close(self) -> None:
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1

    def __enter__(self) -> "Ends":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _read(self) -> list[bytes]:
        try:
            self._rest += os.read(self._pipe, READ_AT_ONCE)
        except BlockingIOError:
            return []
        *lines, self._rest = self._rest.split(b"\n")
        return lines
