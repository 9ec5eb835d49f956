"""Clock rollback: a clock that is set back must not delay work that was due within minutes.

Deadlines and cron moments are absolute and come again by themselves. A wait, a poll or a retry was computed
as "in a while": with the clock an hour back, it would take an hour longer.
"""

import logging
from datetime import datetime, timedelta

import msgspec

from interlock.adapters.sqlite.store import Store
from interlock.domain.budgets import LONGEST_DELAY
from interlock.domain.timer import TimerKind
from interlock.usecases.arm_cron import arm_cron
from interlock.usecases.ports import Ports

log = logging.getLogger(__name__)

#: The small corrections of a time service are ignored.
STEP = timedelta(seconds=5)


class ClockRollback:
    """Remembers the latest instant seen, by this process and by the store before it."""

    def __init__(self, store: Store, ports: Ports) -> None:
        self._store, self._ports = store, ports
        self._latest = store.watch.load().last_pass_at or ports.clock()

    def look(self, now: datetime) -> bool:
        """Whether the clock was set back; if so, everything delayed is due at once."""
        latest, self._latest = self._latest, now
        if latest - now < STEP:
            return False
        log.warning(
            "the clock was set back by %d seconds",
            (latest - now).total_seconds(),
            extra={"action": "clock_set_back"},
        )
        self._store.workflows.wake_all(now)
        self._retry_soon(now)
        for config in self._ports.pipelines.in_force():
            arm_cron(msgspec.structs.replace(config, armed={}), now, self._ports)
        return True

    def wake_sleepers(self, now: datetime) -> None:
        """A wait longer than any possible wait was stored under another clock: by a worker that was late, or
        by a process that ended before it recorded the time. Call this at the start and periodically.
        """
        self._store.workflows.wake_beyond(now + self._ports.execution_timeout, now)
        self._retry_soon(now)

    def _retry_soon(self, now: datetime) -> None:
        self._store.timers.bring_forward(TimerKind.RETRY, now + LONGEST_DELAY, now)
