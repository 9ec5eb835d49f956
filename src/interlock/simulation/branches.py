"""Branches: play every fault of a scenario by forking the world where it would strike.

The trunk plays the scenario as it is written. At each crash point, and at each call to the outside, a
child process takes over the world as it stands, suffers the fault, and goes on until the state is the
trunk's again but for timestamps, or until the end. So a fault costs what it changes, not a whole run.
"""

import os
import sys

import msgspec

from interlock.errors import TransientError
from interlock.simulation.faults import Crash, Faults
from interlock.simulation.scenario import Call

_AT_ONCE = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)


class Fork(BaseException):
    """Raised in a child: from here on it is another world."""


class Branching(Faults):
    """Faults of a trunk: forks a child for each, and gathers what they report."""

    def __init__(self, every: int = 1) -> None:
        super().__init__()
        self._every = every
        self._points = 0
        self.is_child = False
        self.name = ""
        self.failed: list[str] = []
        self.branches = 0
        self._children: dict[int, tuple[int, str]] = {}

    def written(self) -> None:
        super().written()
        if self.is_child or self.is_repetition() or not self._is_turn():
            return
        if self._branch(f"crash after write {self.writes}"):
            raise Crash

    def meet(self, call: Call) -> None:
        if not self.is_child and self._is_turn() and self._branch(f"{call} {self.calls + 1} fails"):
            self.calls += 1
            raise TransientError(f"{call} fails, as planned")
        super().meet(call)

    def report(self, problems: list[str]) -> None:
        """A child's last words."""
        os.write(self._pipe, msgspec.json.encode(problems[:20]))
        os._exit(0)

    def gather(self) -> list[str]:
        """Wait for all children; the problems they found, by fault."""
        while self._children:
            self._reap()
        return self.failed

    def _is_turn(self) -> bool:
        """Every fault strikes, or every so many: a sample, for tests that must be quick."""
        self._points += 1
        return self._points % self._every == 0

    def _branch(self, name: str) -> bool:
        """True in the child."""
        while len(self._children) >= _AT_ONCE:
            self._reap()
        self.branches += 1
        reader, writer = os.pipe()
        sys.stdout.flush()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            self.is_child, self.name, self._pipe = True, name, writer
            self._children = {}
            return True
        os.close(writer)
        self._children[pid] = (reader, name)
        return False

    def _reap(self) -> None:
        pid, status = os.waitpid(-1, 0)
        if pid not in self._children:
            return
        reader, name = self._children.pop(pid)
        told = b"".join(iter(lambda: os.read(reader, 65536), b""))
        os.close(reader)
        problems = msgspec.json.decode(told) if told else [f"the branch died (status {status})"]
        self.failed += [f"{name}: {problem}" for problem in problems]
