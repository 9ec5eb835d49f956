"""Polled: for how long a job has really been watched, look after look.

The poll window counts this and not the clock: while the controller is down, the machine sleeps or the clock
leaps, nobody asks for the job, and that it did not end in front of anybody says nothing about it.
"""

from datetime import datetime, timedelta

import msgspec

#: A look that comes later than this after its planned moment ends a gap in which nobody was watching.
GAP = timedelta(minutes=2)
_NONE = timedelta(0)


class Polled(msgspec.Struct, frozen=True):
    """As of the last look: when it was, what counts until then, and the wait that was planned after it."""

    at: datetime
    counted: timedelta = _NONE
    wait: timedelta = _NONE

    def looked(self, now: datetime) -> "Polled":
        """After one more look. Of a gap only the planned wait counts, so that a job which is watched with
        interruptions is given up one day, too.
        """
        passed = now - self.at
        watched = passed if passed <= self.wait + GAP else self.wait
        return Polled(now, self.counted + max(watched, _NONE))

    def planned(self, wait: timedelta) -> "Polled":
        return Polled(self.at, self.counted, wait)
