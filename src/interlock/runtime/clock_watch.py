"""Clock watch: follows the clock, so that one that is wrong does not cost the history."""

import logging

from interlock.adapters.sqlite.store import Store
from interlock.domain.clock_trail import STEADY, ClockTrail, follow
from interlock.ports.engine import Clock

log = logging.getLogger(__name__)


class ClockWatch:
    """To be made before anything works: a store without a trail was last seen at work by the watchdog."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._trail = store.clock_trail.load() or _last_pass(store)
        self._believed = True

    def look(self) -> bool:
        """Whether what has expired by the clock may go. To be called every minute or so."""
        self._trail = follow(self._trail, self._clock())
        self._tell(self._trail.is_believed)
        self._store.clock_trail.save(self._trail)
        return self._trail.is_believed

    def notice(self) -> str | None:
        """What everybody should know of it."""
        trail = self._trail
        if trail is None or trail.jumped_from is None:
            return None
        return (
            f"the clock went from {trail.jumped_from:%Y-%m-%dT%H:%MZ} to"
            f" {trail.seen_at:%Y-%m-%dT%H:%MZ}: nothing is removed for its age until the server has"
            f" been at work for {_HOURS} hours, or `interlock prune` is run"
        )

    def _tell(self, believed: bool) -> None:
        """Once for each jump, and once more after a restart."""
        if not believed and self._believed:
            notice = self.notice()
            log.warning("the clock has jumped: %s", notice, extra={"action": "clock_jumped"})
        self._believed = believed


def _last_pass(store: Store) -> ClockTrail | None:
    last = store.watch.load().last_pass_at
    return None if last is None else ClockTrail(last)


_HOURS = int(STEADY.total_seconds() // 3600)
