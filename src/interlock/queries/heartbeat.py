"""Heartbeat: the state of the watchdog."""

from datetime import datetime, timedelta

import msgspec


class Heartbeat(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The state of the watchdog."""

    now: datetime
    every_seconds: float
    last_pass_at: datetime | None
    last_ok_at: datetime | None
    failures: tuple[str, ...] = ()

    @property
    def every(self) -> timedelta:
        return timedelta(seconds=self.every_seconds)

    @property
    def is_late(self) -> bool:
        """Whether the last good pass is older than three cadences."""
        return self.last_ok_at is None or self.now - self.last_ok_at > 3 * self.every
