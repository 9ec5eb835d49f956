"""Clock watch: follows the clock, so that a wrong clock does not delete history."""

import logging

from interlock.adapters.sqlite.store import Store
from interlock.domain.clock_trail import STEADY, ClockTrail, follow
from interlock.ports.engine import Clock

log = logging.getLogger(__name__)


class ClockWatch:
    """Create this before any work starts: for a store without a trail, the watchdog's record is the last
    sign of work.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._trail = store.clock_trail.load() or _last_pass(store)
        self._believed = True

    def look(self) -> bool:
        """Whether expired data may be removed. Call this about every minute."""
        self._trail = follow(self._trail, self._clock())
        self._tell(self._trail.is_believed)
        self._store.clock_trail.save(self._trail)
        return self._trail.is_believed

    def notice(self) -> str | None:
        """The notice about the clock, for everyone who looks."""
        trail = self._trail
        if trail is None or trail.jumped_from is None:
            return None
        return (
            f"the clock went from {trail.jumped_from:%Y-%m-%dT%H:%MZ} to"
            f" {trail.seen_at:%Y-%m-%dT%H:%MZ}: expired data is kept until the server has"
            f" run for {_HOURS} hours, or until you run `interlock prune`"
        )

    def _tell(self, believed: bool) -> None:
        """Log once per jump, and once more after a restart."""
        if not believed and self._believed:
            notice = self.notice()
            log.warning("the clock has jumped: %s", notice, extra={"action": "clock_jumped"})
        self._believed = believed


def _last_pass(store: Store) -> ClockTrail | None:
    last = store.watch.load().last_pass_at
    return None if last is None else ClockTrail(last)


_HOURS = int(STEADY.total_seconds() // 3600)
