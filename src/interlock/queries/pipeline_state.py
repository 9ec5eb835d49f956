"""Pipeline state: a pipeline at a glance."""

from datetime import datetime

import msgspec

from interlock.domain.run import Run


class PipelineState(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A pipeline at a glance."""

    id: str
    owner: str | None
    paused: bool
    retired: bool
    active_since: datetime
    config_hash: str
    next_expected: datetime | None
    runs: tuple[Run, ...]
    headline: str
    blocked_by: tuple[str, ...] = ()
    timezone: str = "UTC"
    date: str = ""
    status: str = "absent"
    deadlines: dict[str, datetime] = {}
    sla_verdict: str | None = None
    #: How many runs of today's dates are in which state.
    today: dict[str, int] = {}
