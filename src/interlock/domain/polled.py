"""Polled: how long a job has actually been watched, look by look.

The poll window counts this and not the clock: while the controller is down, the machine sleeps or the clock
jumps, nothing polls the job, so the lack of an end in that time says nothing about it.
"""

from datetime import datetime, timedelta

import msgspec

#: A look that is later than this after its planned moment ends a gap in which nothing polled the job.
GAP = timedelta(minutes=2)
_NONE = timedelta(0)


class Polled(msgspec.Struct, frozen=True):
    """As of the last look: when it was, the time counted until then, and the wait planned after it."""

    at: datetime
    counted: timedelta = _NONE
    wait: timedelta = _NONE

    def looked(self, now: datetime) -> "Polled":
        """After one more look. Of a gap only the planned wait counts, so that a job watched with
        interruptions is also given up eventually.
        """
        passed = now - self.at
        watched = passed if passed <= self.wait + GAP else self.wait
        return Polled(now, self.counted + max(watched, _NONE))

    def planned(self, wait: timedelta) -> "Polled":
        return Polled(self.at, self.counted, wait)
