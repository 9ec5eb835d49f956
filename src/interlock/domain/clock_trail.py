"""Clock trail: how the clock moved while the controller was at work, and whether to believe it.

What is removed for its age can't be brought back, and a clock that is wrong by a year makes everything
old. So a clock that has jumped removes nothing until it has moved on for a while as clocks do, or has
come back to where it was.
"""

from datetime import datetime, timedelta

import msgspec

#: Further than this ahead of the last work that was seen, the clock has jumped, or the controller was away.
JUMP = timedelta(days=2)
#: So long must the controller have been at work on a clock that had jumped before it is believed.
STEADY = timedelta(hours=24)
#: One look counts for this much of it at most, however far the clock has moved since the last.
LOOK = timedelta(minutes=1)


class ClockTrail(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """As it was last looked at. `jumped_from` is set for as long as the clock is doubted."""

    seen_at: datetime
    jumped_from: datetime | None = None
    steady: timedelta = timedelta(0)

    @property
    def is_believed(self) -> bool:
        return self.jumped_from is None


def follow(trail: ClockTrail | None, now: datetime) -> ClockTrail:
    """The trail after one more look."""
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
    """It was put right: it shows what it might have shown without the jump."""
    return trail.jumped_from is not None and now - trail.jumped_from <= JUMP
