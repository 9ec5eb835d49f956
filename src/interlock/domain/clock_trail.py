"""Clock trail: how the clock moved while the controller ran, and whether to trust it.

Expired rows are removed for good, and a clock that is wrong by a year makes everything look expired. So
after a jump nothing is removed until the clock has moved normally for a while, or has returned to where
it was.
"""

from datetime import datetime, timedelta

import msgspec

#: Further than this ahead of the last recorded work, the clock has jumped, or the controller was stopped.
JUMP = timedelta(days=2)
#: How long the controller must run on a clock that has jumped before it is trusted.
STEADY = timedelta(hours=24)
#: One look adds at most this much, however far the clock has moved since the last.
LOOK = timedelta(minutes=1)


class ClockTrail(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """As of the last look. `jumped_from` is set while the clock is not trusted."""

    seen_at: datetime
    jumped_from: datetime | None = None
    steady: timedelta = timedelta(0)

    @property
    def is_believed(self) -> bool:
        return self.jumped_from is None


def follow(trail: ClockTrail | None, now: datetime) -> ClockTrail:
    """The trail after one more check."""
    if trail is None or _is_back(trail, now):
        return ClockTrail(now)
    moved = now - trail.seen_at
    if moved > JUMP:
        return ClockTrail(now, trail.jumped_from or trail.seen_at)
    if trail.jumped_from is None:
        return ClockTrail(now)
    steady = trail.steady + min(max(moved, timedelta(0)), 2 * LOOK)
    return ClockTrail(now) if steady >= STEADY else ClockTrail(now, trail.jumped_from, steady)


def _is_back(trail: ClockTrail, now: datetime) -> bool:
    """It was corrected: it shows what it could have shown without the jump."""
    return trail.jumped_from is not None and now - trail.jumped_from <= JUMP
