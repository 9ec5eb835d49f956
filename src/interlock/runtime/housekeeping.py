"""Housekeeping: removes expired data, if the clock can be trusted."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from interlock.adapters.sqlite.store import Store
from interlock.ports.engine import Clock
from interlock.runtime.clock_watch import ClockWatch

SWEEP = timedelta(hours=1)
#: After a start, other work comes first.
FIRST_SWEEP = timedelta(seconds=20)


class Housekeeping:
    """Checks the clock on each call, and removes expired data periodically."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        monotonic: Callable[[], float] = time.monotonic,
        sweep_outputs: Callable[[datetime], object] = lambda now: None,
    ) -> None:
        self._store, self._clock, self._monotonic = store, clock, monotonic
        self._sweep_outputs = sweep_outputs
        self._clock_watch = ClockWatch(store, clock)
        self._next = monotonic() + FIRST_SWEEP.total_seconds()

    def look(self) -> None:
        """Call this about every minute."""
        believed = self._clock_watch.look()
        if believed and self._monotonic() >= self._next:
            self._next = self._monotonic() + SWEEP.total_seconds()
            now = self._clock()
            self._store.retention.sweep(now)
            self._sweep_outputs(now)

    def notice(self) -> str | None:
        """Why nothing is removed, as a notice."""
        return self._clock_watch.notice()
