"""Slow calls: work that waits for the outside while everything else continues, on the virtual clock.

Each piece of work has its own thread, and one thread at a time holds the baton: a call that takes time
gives it back and gets it again when its time has come. So every play is deterministic.
"""

import heapq
import threading
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial

from interlock.ports.engine import Clock
from interlock.runtime.execution_engine import Engine
from interlock.simulation.faults import Crash


class _Work:
    """One piece of work, and its half of the baton."""

    def __init__(self, name: str, act: Callable[[], object], back: threading.Semaphore) -> None:
        self.name = name
        self.error: BaseException | None = None
        self.is_over = False
        self.is_killed = False
        self._act = act
        self._turn = threading.Semaphore(0)
        self._back = back
        self._thread = threading.Thread(target=self._run, daemon=True)

    def begin(self) -> None:
        self._thread.start()
        self._back.acquire()

    def go_on(self) -> None:
        self._turn.release()
        self._back.acquire()

    def kill(self) -> None:
        """Its process has died: it goes no further."""
        self.is_killed = True
        self.go_on()

    def rest(self) -> None:
        """In its own thread: until its turn comes."""
        self._back.release()
        self._turn.acquire()
        if self.is_killed:
            raise Crash

    def _run(self) -> None:
        try:
            self._act()
        except BaseException as error:  # noqa: BLE001 - the next holder of the baton raises it
            self.error = error
        self.is_over = True
        self._back.release()


class Crew:
    """The workers of a controller whose calls take time, and the time they take."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._engine: Engine | None = None
        self._back = threading.Semaphore(0)
        self._at_work: _Work | None = None
        self._held: set[str] = set()
        self._resting: list[tuple[datetime, int, _Work]] = []
        self._count = 0

    def of(self, engine: Engine) -> "Crew":
        """The same crew, for a new controller."""
        self._engine = engine
        return self

    def take(self, names: Sequence[str]) -> bool:
        taken = [self.do(name, partial(self._advance, name)) for name in names]
        return any(taken)

    def do(self, name: str, act: Callable[[], object]) -> bool:
        if name in self._held:
            return False
        self._held.add(name)
        work = _Work(name, act, self._back)
        self._with_baton(work, work.begin)
        return True

    def each(self, works: Sequence[Callable[[], bool]]) -> list[bool]:
        return [work() for work in works]

    def rest(self, span: timedelta) -> None:
        """Called by work that takes time: resume after this long."""
        work = self._at_work
        if work is None or not span:
            return  # what the main thread asks is answered at once
        self._count += 1
        heapq.heappush(self._resting, (self._clock() + span, self._count, work))
        work.rest()

    def next_due(self) -> datetime | None:
        return self._resting[0][0] if self._resting else None

    @property
    def is_busy(self) -> bool:
        return bool(self._resting)

    def go_on(self) -> bool:
        """Whether a call has been answered by now."""
        if not self._resting or self._resting[0][0] > self._clock():
            return False
        work = heapq.heappop(self._resting)[2]
        self._with_baton(work, work.go_on)
        return True

    def die(self) -> None:
        """The controller has died, and with it all work in progress."""
        while self._resting:
            heapq.heappop(self._resting)[2].kill()
        self._held.clear()

    def _advance(self, name: str) -> None:
        assert self._engine is not None
        while self._engine.advance(name):
            pass

    def _with_baton(self, work: _Work, go: Callable[[], None]) -> None:
        self._at_work = work
        go()
        self._at_work = None
        if work.is_over:
            self._held.discard(work.name)
            if work.error is not None:
                raise work.error
