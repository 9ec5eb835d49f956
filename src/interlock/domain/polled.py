"""Polled: how long a job has really been watched, poll by poll.

The poll window counts this time and not the clock: while the controller is down, the machine sleeps or the
clock leaps, the job is not polled, so not having seen it end says nothing about it.
"""

from datetime import datetime, timedelta

import msgspec

#: A poll that is later than this after its planned time ends a gap in which the job was not watched.
GAP = timedelta(minutes=2)
_NONE = timedelta(0)


class Polled(msgspec.Struct, frozen=True):
    """As of the last poll: its time, the total until then, and the wait planned after it."""

    at: datetime
    counted: timedelta = _NONE
    wait: timedelta = _NONE

    def looked(self, now: datetime) -> "Polled":
        """After one more poll. Of a gap only the planned wait counts, so that a job watched with
        interruptions is eventually given up, too.
        """
        passed = now - self.at
        watched = passed if passed <= self.wait + GAP else self.wait
        return Polled(now, self.counted + max(watched, _NONE))

    def planned(self, wait: timedelta) -> "Polled":
        return Polled(self.at, self.counted, wait)
