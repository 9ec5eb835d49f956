"""House: what has expired goes, by a clock that is to be believed."""

import time
from collections.abc import Callable
from datetime import timedelta

from interlock.adapters.sqlite.store import Store
from interlock.ports.engine import Clock
from interlock.runtime.clock_watch import ClockWatch

SWEEP = timedelta(hours=1)
#: A start has other work first.
FIRST_SWEEP = timedelta(seconds=20)


class Housekeeping:
    """Looks at the clock each time, and sweeps now and then."""

    def __init__(
        self, store: Store, clock: Clock, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._store, self._clock, self._monotonic = store, clock, monotonic
        self._clock_watch = ClockWatch(store, clock)
        self._next = monotonic() + FIRST_SWEEP.total_seconds()

    def look(self) -> None:
        """To be called every minute or so."""
        believed = self._clock_watch.look()
        if believed and self._monotonic() >= self._next:
            self._next = self._monotonic() + SWEEP.total_seconds()
            self._store.retention.sweep(self._clock())

    def notice(self) -> str | None:
        """Why nothing is removed, for everybody who looks."""
        return self._clock_watch.notice()
