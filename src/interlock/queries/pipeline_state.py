"""Pipeline state: a pipeline at a glance."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec

from interlock.domain.config import Config, Pause
from interlock.domain.partition import Grain, label_at
from interlock.domain.run import Run
from interlock.domain.schedule import next_occurrence
from interlock.domain.zones import zone
from interlock.queries.why import Why, explain
from interlock.usecases.ports import Ports

#: The most dates counted in a day: a five-minute cron has 288.
_OF_A_DAY = 300
_RECENT = 5
#: How many of the newest runs are searched for failed ones, and how long those count.
_LOOKED_AT = 50
_FAILED_FOR = timedelta(days=7)


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
    #: When the next attempt of a failed run is due.
    retry_at: datetime | None = None
    #: The other recent dates whose runs failed and will not be retried, the newest first.
    failed_dates: tuple[str, ...] = ()
    #: How many runs of today's dates are in which state; RETRYING is a failed one whose retry is due.
    today: dict[str, int] = {}
    #: Who paused it, why, since when and until when.
    pause: Pause | None = None


def pipeline_state(config: Config, ports: Ports) -> PipelineState:
    """As of now."""
    now, pipeline = ports.clock(), config.pipeline
    moments = [
        moment.due_at
        for schedule in pipeline.schedules
        if (moment := next_occurrence(schedule, pipeline.calendars, now)) is not None
    ]
    now_on = explain(pipeline.id, ports)[0]
    today = str(label_at(now, zone(now_on.timezone), Grain.DAY))
    of_today = ports.runs.of_pipeline(pipeline.id, today, today, _OF_A_DAY)
    recent = ports.runs.of_pipeline(pipeline.id, "0000", "9999", _LOOKED_AT)
    return PipelineState(
        id=pipeline.id,
        owner=pipeline.pipeline.owner,
        paused=config.is_paused(now),
        retired=config.is_retired,
        active_since=config.active_since,
        config_hash=config.config_hash,
        next_expected=min(moments, default=None),
        runs=tuple(recent[:_RECENT]),
        headline=now_on.headline,
        blocked_by=now_on.blocked_by,
        timezone=now_on.timezone,
        date=now_on.date,
        status=now_on.status,
        deadlines=now_on.deadlines,
        sla_verdict=now_on.sla_verdict,
        pause=config.pause(now),
        retry_at=now_on.retry_at,
        failed_dates=_failed_dates(recent, now_on, now),
        today=dict(Counter(run.state for run in of_today)),
    )


def _failed_dates(recent: Sequence[Run], shown: Why, now: datetime) -> tuple[str, ...]:
    """Whatever the newest date says, these still need a person."""
    return tuple(
        run.key.date
        for run in recent
        if run.has_given_up and run.key.date != shown.date and now - run.changed_at < _FAILED_FOR
    )
