"""Watchdog: its own row, from one pass to the next."""

from datetime import datetime

import msgspec

from interlock.domain.run import Number


class WatchdogState(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The watchdog's own row."""

    version: Number = 0
    pass_until: datetime | None = None
    last_pass_at: datetime | None = None
    last_ok_at: datetime | None = None
    down_from: datetime | None = None
    down_until: datetime | None = None
    since: datetime | None = None
    lagging: dict[str, datetime] = {}
    #: If too many lag: the pipeline with which the next pass begins.
    left_at: str | None = None
    failing_since: datetime | None = None
    failures: tuple[str, ...] = ()
    suspects: dict[str, datetime] = {}
