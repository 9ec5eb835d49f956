"""Workers: threads that advance executions, so that a slow network delays nothing else."""

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from interlock.runtime.execution_engine import Engine

log = logging.getLogger(__name__)

COUNT = 8
#: Threads that wait for the disk together share a commit: many deadlines of one minute take few commits.
TOGETHER = 32
_PAUSE = 1.0


class Workers:
    """One worker at a time has an execution. `idle` is called whenever a worker finishes."""

    def __init__(self, engine: Engine, idle: Callable[[], None], count: int = COUNT) -> None:
        self._engine = engine
        self._idle = idle
        self._pool = ThreadPoolExecutor(count, thread_name_prefix="interlock-worker")
        self._together = ThreadPoolExecutor(TOGETHER, thread_name_prefix="interlock-timer")
        self._held: set[str] = set()
        self._stopping = threading.Event()
        self._taking = threading.Lock()

    def take(self, names: Sequence[str]) -> bool:
        """Whether there was anything to take. Takes nothing while stopping."""
        fresh = [name for name in names if name not in self._held]
        with self._taking:
            if self._stopping.is_set():
                return False
            for name in fresh:
                self._hand_over(name, partial(self._work, name))
        return bool(fresh)

    def _hand_over(self, name: str, work: Callable[[], None]) -> None:
        self._held.add(name)
        try:
            self._pool.submit(work)
        except BaseException:  # no memory, or no thread: a later round takes it
            self._held.discard(name)
            raise

    def holds(self, name: str) -> bool:
        return name in self._held

    def do(self, name: str, act: Callable[[], object]) -> bool:
        """Do something else while no worker has that execution. False if one has it."""
        with self._taking:
            if self._stopping.is_set() or name in self._held:
                return False
            self._hand_over(name, partial(self._act, name, act))
        return True

    def each(self, works: Sequence[Callable[[], bool]]) -> list[bool]:
        """Uses separate threads, so that those waiting for a network delay no deadline."""
        if len(works) == 1:
            return [self._unless_stopping(works[0])]
        with self._taking:
            if self._stopping.is_set():
                return []
            done = [self._together.submit(self._unless_stopping, work) for work in works]
        return [each.result() for each in done]

    def _unless_stopping(self, work: Callable[[], bool]) -> bool:
        return not self._stopping.is_set() and work()

    def stop(self, seconds: float) -> None:
        """Start nothing more. Work in progress may finish; the rest is repeated after the next start."""
        with self._taking:
            self._stopping.set()
            # Each thread drops the work it has not started.
            self._pool.shutdown(wait=False)
            self._together.shutdown(wait=False)
        until = threading.Event()
        for _ in range(int(seconds * 20)):
            if not self._held:
                return
            until.wait(0.05)

    def _act(self, name: str, act: Callable[[], object]) -> None:
        try:
            if not self._stopping.is_set():
                act()
        finally:
            self._held.discard(name)
            self._idle()

    def _work(self, name: str) -> None:
        """State after state, as long as the next one is due at once."""
        try:
            while not self._stopping.is_set() and self._engine.advance(name):
                pass
        except Exception:
            log.exception("an execution can't be advanced", extra={"action": "advance_failed"})
            self._stopping.wait(_PAUSE)
        finally:
            self._held.discard(name)
            self._idle()
