"""Victim: a real server process, started again after each end, and all that is done to it from outside."""

import http.client
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attack.ledger import Ledger, Span
from attack.project import Pipeline

TOKEN = "attacker-token-0123456789"
#: How long a clean stop may take, on a busy machine.
STOP_SECONDS = 60.0
#: A start that can't write to a full disk says so and ends.
REFUSED_START = 3
#: SQLite calls a full disk by either name, depending on which of its files finds no room.
_NO_ROOM = ("free some space", "disk I/O error; check its disk")
_NO_MEMORY = "out of memory; free some memory"
_CRASHES = (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT)


class Victim:
    """Its port and token stay the same over all of its lives."""

    def __init__(
        self,
        name: str,
        project: Path,
        pipelines: tuple[Pipeline, ...],
        ledger: Ledger,
        **environment: str,
    ) -> None:
        self.name, self.project, self.pipelines, self.ledger = name, project, pipelines, ledger
        self.port = _free_port()
        self.environment = {
            **os.environ,
            "INTERLOCK_TOKEN": TOKEN,
            "INTERLOCK_WATCHDOG_EVERY": "5s",
            "PYTHONFAULTHANDLER": "1",  # a crash of the interpreter says where
            **environment,
        }
        #: One trouble with the process at a time; also held while it is down on purpose.
        self.turn = threading.RLock()
        self._troubles = 0
        #: When it had trouble, each from its begin to its end.
        self.troubles: list[Span] = []
        self.calm_since = time.monotonic()
        #: When the last trouble began.
        self.troubled_since = float("-inf")
        #: Whether this process has ever had to do without memory.
        self.short_of_memory = False
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def output(self) -> Path:
        return self.project / "output"

    @property
    def state(self) -> Path:
        return self.project / ".interlock" / "interlock.db"

    @property
    def troubled(self) -> bool:
        return self._troubles > 0

    def start(self) -> None:
        arguments = ["--project", str(self.project), "serve", "--port", str(self.port)]
        self.short_of_memory = False
        with self.output.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "interlock", *arguments],
                stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=self.environment,
                cwd=self.project,
            )  # fmt: skip

    def end(self, number: int) -> int:
        """Its exit code."""
        assert self._process is not None
        if self.has_ended_by_itself():
            return self._process.returncode
        self._process.send_signal(number)
        try:
            return self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.ledger.problem(f"{self.name}: still there {STOP_SECONDS:.0f}s after {number}")
            self._process.kill()
            return self._process.wait()

    def wait(self, seconds: float) -> int:
        """Its exit code, once it has ended."""
        assert self._process is not None
        return self._process.wait(seconds)

    def signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def exit_code(self) -> int | None:
        """None while it lives."""
        return None if self._process is None else self._process.poll()

    def has_ended_by_itself(self) -> bool:
        """To be asked only while it ought to live; a problem if so.

        Python itself may crash where a new thread finds no memory. Then the books must be right all the same.
        """
        code = self.exit_code()
        if code in _CRASHES and self.short_of_memory:
            self.ledger.did("memory: the interpreter crashed", f"by signal {-code}")
        elif code == REFUSED_START and self._found_no_room():
            self.ledger.did("disk: a start was refused")
        elif code == REFUSED_START and self.short_of_memory and _NO_MEMORY in self._tail():
            self.ledger.did("memory: a start was refused")
        elif code is not None:
            self.ledger.problem(
                f"{self.name} ended by itself with exit code {code}: {self._tail()}"
            )
        return code is not None

    def _found_no_room(self) -> bool:
        """Whether it says so, and there was a trouble that may have caused it."""
        lately = self.troubled or time.monotonic() < self.calm_since + STOP_SECONDS
        return lately and any(words in self._tail() for words in _NO_ROOM)

    def _tail(self) -> str:
        return self.output.read_text(errors="replace")[-1500:]

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)
            self._process.kill()
            self._process.wait()

    @contextmanager
    def trouble(self) -> Iterator[None]:
        """While it lasts, the server owes no answer; afterwards it has its time to come back."""
        self._troubles += 1
        since = time.time()
        self.troubled_since = time.monotonic()
        try:
            yield
        finally:
            self.calm_since = time.monotonic()
            self.troubles.append(Span(since, time.time()))
            self._troubles -= 1

    def limit(self, kind: int, soft: int) -> None:
        """Only the soft limit: any user may raise it again."""
        _, hard = resource.prlimit(self.pid, kind)
        resource.prlimit(self.pid, kind, (soft, hard))

    def readiness(self) -> tuple[bool, str]:
        """Whether it says that it is ready, and in which words."""
        try:
            status, body = self.ask("GET", "/readyz", seconds=5)
        except (OSError, http.client.HTTPException) as error:
            return False, f"{type(error).__name__}: {error}"
        return status == 200, f"{status} {body[:500].decode(errors='replace')}"

    def ask(
        self, method: str, path: str, document: Any = None, seconds: float = 10.0
    ) -> tuple[int, bytes]:
        """Status and body; raises OSError or HTTPException when no answer comes."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        body = None if document is None else json.dumps(document)
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
