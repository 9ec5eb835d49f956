"""Branches: play the faults of a scenario by forking the world where they strike.

The trunk plays the scenario as written. At each crash point, and at each call to the outside, a child
process takes over the world as it stands, suffers the fault, and continues until its state equals the
trunk's again except for timestamps, or until the end. So a fault costs what it changes, not a whole run. A
child may fork its own children: a second fault, during the recovery from the first.

A world whose calls take time has threads, which a fork would lose: there each fault is played from the
beginning, in its own process.
"""

import os
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from typing import NoReturn

import msgspec

from interlock.simulation.faults import Crash, Faults
from interlock.simulation.scenario import Call

_AT_ONCE = max(1, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
_SHOWN, _LONGEST = 20, 1000

#: Where faults strike: the index of the point in the trunk, then in the branch that it created.
Path = tuple[int, ...]


class Plan(msgspec.Struct, frozen=True):
    """Which faults strike, and the point after which a branch has no more faults."""

    takes: Callable[[Path], bool]
    #: Where they strike, given the number of points of the trunk.
    paths: Callable[[int], Iterable[Path]] = lambda points: ()
    #: How many faults a branch suffers before it is judged.
    depth: int = 1
    ends_after: dict[int, int] = {}

    @staticmethod
    def none() -> "Plan":
        """Only counts the points."""
        return Plan(lambda path: False)

    @staticmethod
    def each(every: int = 1) -> "Plan":
        """Every point of the trunk, or every n-th: a sample, for quick tests."""
        return Plan(
            lambda path: len(path) == 1 and path[0] % every == 0,
            lambda points: ((point,) for point in range(every, points + 1, every)),
        )

    @staticmethod
    def pairs(chosen: Collection[Path]) -> "Plan":
        """Just these pairs of points."""
        taken = {*chosen, *((first,) for first, _ in chosen)}
        last = {first: 0 for first, _ in chosen}
        for first, second in chosen:
            last[first] = max(last[first], second)
        return Plan(taken.__contains__, lambda points: chosen, 2, last)


class BranchVerdict(msgspec.Struct):
    """The report of a branch: what broke in it, and how many points it had before it recovered."""

    path: Path
    problems: list[str]
    points: int = 0
    #: How many of them were in the step in which its fault struck.
    near: int = 0
    branches: int = 0


class Branching(Faults):
    """The faults of one process, the trunk or a branch."""

    def __init__(self, plan: Plan, on_branch: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._plan = plan
        self._on_branch = on_branch
        self._path: Path = ()
        self._near: int | None = None
        #: The faults yet to strike in a play from the beginning.
        self._ahead: Path = ()
        self._children: dict[int, tuple[int, str]] = {}
        self.points = 0
        self.branches = 0
        self.verdicts: list[BranchVerdict] = []

    @property
    def is_child(self) -> bool:
        return bool(self._path)

    @property
    def is_judged(self) -> bool:
        """Whether it has suffered all its faults; one with fewer is judged in its own play."""
        return len(self._path) == self._plan.depth

    def written(self) -> None:
        super().written()
        if not self.is_repetition() and self._strikes(f"crash after write {self.writes}"):
            raise Crash

    def meet(self, call: Call) -> None:
        """Reads of readings are too frequent to try each: every pass reads them all."""
        if call is not Call.READ and self._strikes(f"{call} {self.calls + 1} fails"):
            self.calls += 1
            self.calls_of[call] += 1
            self.fail(f"{call} fails, as planned")
        super().meet(call)

    def stepped(self) -> None:
        """A step of the controller is over."""
        if self._near is None:
            self._near = self.points

    def replays(self, path: Path) -> bool:
        """True in a child that is to play the world from its beginning, with these faults."""
        if self._branch(f"fault {'.'.join(map(str, path))}"):
            self._ahead, self.branches, self.verdicts = path, len(path) - 1, []
            return True
        return False

    def report(self, problems: Iterable[str]) -> NoReturn:
        """The final report of a child, including what its own children found."""
        found = [problem[:_LONGEST] for problem in (*problems, *self.gather())]
        near = self.points if self._near is None else self._near
        verdict = BranchVerdict(self._path, found[:_SHOWN], self.points, near, self.branches)
        with suppress(BrokenPipeError):  # an interrupted parent no longer listens
            os.write(self._pipe, msgspec.json.encode(verdict))
        os._exit(0)

    def gather(self) -> list[str]:
        """Wait for all children; the problems they found, by fault."""
        while self._children:
            self._reap()
        return [problem for verdict in self.verdicts for problem in verdict.problems]

    def _strikes(self, name: str) -> bool:
        """True in the child that suffers the fault."""
        self.points += 1
        if self._ahead:
            return self._struck_ahead()
        place = (*self._path, self.points)
        if self._plan.takes(place) and self._branch(name):
            self._path, self.points, self._near = place, 0, None
            self.branches, self.verdicts = 0, []
            return True
        if len(self._path) == 1 and self.points == self._plan.ends_after.get(self._path[0]):
            self.report(())
        return False

    def _struck_ahead(self) -> bool:
        if self.points < self._ahead[0]:
            return False
        self._path, self._ahead = (*self._path, self.points), self._ahead[1:]
        self.points, self._near = 0, None
        return True

    def _branch(self, name: str) -> bool:
        """True in the child. The children of a child come one after the other."""
        while len(self._children) >= (1 if self._path else _AT_ONCE):
            self._reap()
        self.branches += 1
        self._on_branch()
        reader, writer = os.pipe()
        sys.stdout.flush()
        pid = _forked()
        if pid == 0:
            os.close(reader)
            self._pipe, self._children, self._on_branch = writer, {}, lambda: None
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
        verdict = (
            msgspec.json.decode(told, type=BranchVerdict)
            if told
            else BranchVerdict((), [f"the branch died (status {status})"])
        )
        verdict.problems = [f"{name}: {problem}" for problem in verdict.problems]
        self.verdicts.append(verdict)


def _forked() -> int:
    """As `os.fork`. Ctrl-C ends a child in silence, and waits for the fork in the parent: an exception within
    the hooks of a fork would be lost.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        return pid
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def pairs_of(verdicts: Iterable[BranchVerdict]) -> Iterator[tuple[Path, bool]]:
    """Every pair of points, and whether both lie in one step."""
    for verdict in sorted(verdicts, key=lambda verdict: verdict.path):
        for second in range(1, verdict.points + 1):
            yield (*verdict.path, second), second <= verdict.near
