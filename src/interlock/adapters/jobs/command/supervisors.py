"""Supervisors: processes that each stay with one command, started here and outliving us.

One that waits beforehand saves the time that an interpreter takes to start. It ends by itself when the
controller does: its order then never comes.
"""

import marshal
import os
import select
import subprocess
import sys
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

import msgspec

from interlock.adapters.jobs.command import supervisor

#: An interpreter that has not started by now is on a machine that has other troubles.
LONGEST_START = 30.0

#: How one is started.
COMMAND = (sys.executable, "-I", "-S", str(Path(supervisor.__file__)))


class StartReport(msgspec.Struct, frozen=True):
    """What a supervisor says about the start: the step that failed, and the system's number for why."""

    word: str
    step: str = "-"
    number: int = 0


class Supervisors:
    """Starts them, hands out those that wait, and buries those that ended."""

    def __init__(self, spares: int = 0, command: Sequence[str] = COMMAND) -> None:
        self._wanted = spares
        self._command = command
        self._spares: deque[subprocess.Popen[bytes]] = deque()
        self._busy: list[subprocess.Popen[bytes]] = []
        self._lock = Lock()
        self.prepare()

    def prepare(self) -> None:
        """Have as many waiting as are wanted, if the system has room for them."""
        with suppress(OSError):
            while len(self._spares) < self._wanted:
                self._spares.append(_start(self._command))

    def take(self) -> "Hired":
        """One that is waiting, or will be soon. Raises OSError when the system has no room."""
        self.bury()
        process = self._waiting() or _start(self._command)
        with self._lock:
            self._busy.append(process)
        return Hired(process)

    def bury(self) -> None:
        """Ask after those that ended, so that the system can forget them."""
        with self._lock:
            self._busy = [each for each in self._busy if each.poll() is None]

    def close(self) -> None:
        """End those that wait. The others have a command, and outlive us."""
        self._wanted = 0
        while self._spares:
            process = self._spares.popleft()
            _let_go(process)
            process.wait()
        self.bury()
        for process in self._busy:
            process.returncode = process.returncode or 0  # we no longer wait for it

    def _waiting(self) -> "subprocess.Popen[bytes] | None":
        with self._lock:
            while self._spares:
                process = self._spares.popleft()
                if process.poll() is None:
                    return process
                _let_go(process)
        return None


class Hired:
    """A supervisor that has not got its order yet."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process

    def order(self, order: dict[str, Any]) -> StartReport | None:
        """What it says about the start; None when it died before it could. Raises TimeoutError."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        with suppress(BrokenPipeError), process.stdin as stdin:
            stdin.write(marshal.dumps(order))
        with process.stdout as stdout:
            return _word(_line(stdout.fileno(), time.monotonic() + LONGEST_START))

    def wait(self, seconds: float) -> None:
        """Until it has ended, or the time is over."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)


def _start(command: Sequence[str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(  # noqa: S603 - our own interpreter on our own file
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
    )


def _let_go(process: "subprocess.Popen[bytes]") -> None:
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _line(pipe: int, until: float) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        left = until - time.monotonic()
        if left <= 0 or not _readable(pipe, left):
            raise TimeoutError("the supervisor does not answer")
        read = os.read(pipe, 256)
        if not read:
            break
        line += read
    return line


def _readable(pipe: int, seconds: float) -> bool:
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _word(line: bytes) -> StartReport | None:
    if not line.endswith(b"\n"):
        return None
    word, step, number = line.decode().split()
    return StartReport(word, step, int(number))
