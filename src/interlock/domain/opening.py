"""Opening: the first version of a run, its deadlines and the timers that guard them."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from interlock.domain import duration
from interlock.domain.config import Config
from interlock.domain.deadline import SlaVerdict, deadlines
from interlock.domain.partition import Label
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import DeadlineKind, OpenedBy, Run, RunKey, execution_name
from interlock.domain.sensor import Reading
from interlock.domain.sla import SlaWatch
from interlock.domain.standing import Standing, standing_since


class SlaState(msgspec.Struct, frozen=True):
    """What is known of a date's deadline before its run opens."""

    armed: dict[DeadlineKind, datetime] = {}
    told: tuple[DeadlineKind, ...] = ()
    verdict: SlaVerdict | None = None
    #: Those of a run of this date that was pruned.
    attempts: int = 0


def inherited(watch: SlaWatch | None) -> SlaState:
    """What a run takes over from the row that stood for its date before."""
    if watch is None:
        return SlaState()
    return SlaState(watch.armed, watch.told, watch.verdict, watch.attempts)


class Opening(msgspec.Struct, frozen=True):
    """What opens a date, and when: a reading, a cron moment, a request, the watchdog."""

    key: RunKey
    by: OpenedBy
    opened_for: str
    at: datetime
    reading: Reading | None = None
    #: When a cron moment was due, and the request that asked for the date.
    due_at: datetime | None = None
    request: str | None = None
    backfill: str | None = None


def first_attempt(
    opening: Opening,
    config: Config,
    lease: timedelta,
    sla: SlaState = SlaState(),  # noqa: B008 - frozen
) -> Run:
    """A run as it is opened: PENDING, with its deadlines."""
    key, now, reading = opening.key, opening.at, opening.reading
    first_sensor_at = None if reading is None else reading.received_at
    run = Run(
        key=key,
        attempt=sla.attempts,
        execution_name=execution_name(key, sla.attempts),
        opened_at=now,
        opened_by=opening.by,
        opened_for=opening.opened_for,
        changed_at=now,
        lease_until=now + lease,
        config_hash=config.config_hash,
        trigger_version=None if reading is None else reading.version,
        first_sensor_at=first_sensor_at,
        sla_told=sla.told,
        sla_verdict=sla.verdict,
        first_request=opening.request,
        backfill=opening.backfill,
    )
    run = with_deadlines(run, config.pipeline, config.standing(key.schedule_id))
    return msgspec.structs.replace(run, sla_armed={**sla.armed, **dict(unarmed(run))})


def with_deadlines(run: Run, pipeline: Pipeline, standing: Standing) -> Run:
    """The run with its instants. A deadline before its file was adopted is none; a dry run has none."""
    instants: dict[str, Any] = dict.fromkeys(_ATTRIBUTES.values())
    if pipeline.sla is not None and not run.key.dry:
        schedule = pipeline.schedule(run.key.schedule_id)
        due = deadlines(
            schedule,
            pipeline.sla,
            Label.parse(run.key.date),
            first_sensor_at=run.first_sensor_at,
            calendars=pipeline.calendars,
        )
        instants["warning_at"] = standing.promised(due.warning_at)
        instants["breach_at"] = standing.promised(due.breach_at)
        if due.relative_breach_at is not None:
            instants["relative_warning_at"] = due.relative_warning_at
            instants["relative_breach_at"] = due.relative_breach_at
        instants["readiness_at"] = standing.promised(due.readiness_at)
    return msgspec.structs.replace(run, **instants)


class Projection(msgspec.Struct, frozen=True):
    """When a job that starts now would be done, if it takes as long as its owner expects."""

    done_at: datetime | None
    breach_at: datetime | None

    @property
    def margin(self) -> timedelta | None:
        if self.done_at is None or self.breach_at is None:
            return None
        return self.breach_at - self.done_at

    @property
    def status(self) -> str:
        if self.margin is None:
            return "unknown"
        return "met" if self.margin > timedelta(0) else "breach"


def projection(run: Run, pipeline: Pipeline, started_at: datetime) -> Projection | None:
    """How a dry run would fare against the deadline it does not have; None without an SLA."""
    if pipeline.sla is None:
        return None
    real = msgspec.structs.replace(run, key=msgspec.structs.replace(run.key, dry=False))
    due = instants(with_deadlines(real, pipeline, standing_since(_ALWAYS)))
    breach_at = min((at for kind, at in due.items() if kind in _BREACHES), default=None)
    expected = pipeline.sla.expected_duration
    return Projection(
        None if expected is None else started_at + duration.parse(expected), breach_at
    )


def instants(run: Run) -> dict[DeadlineKind, datetime]:
    """The moments of the run's deadlines."""
    found = {kind: getattr(run, name) for kind, name in _ATTRIBUTES.items()}
    return {kind: at for kind, at in found.items() if at is not None}


def without_deadlines(run: Run, now: datetime) -> Run:
    """The next version of a run whose file has dropped its deadlines."""
    return run.changed(now, **dict.fromkeys(_ATTRIBUTES.values()))


def unarmed(run: Run) -> Iterable[tuple[DeadlineKind, datetime]]:
    """The moments that still need a timer, or need it at another time."""
    for kind, at in open_moments(run).items():
        if run.sla_armed.get(kind) != at:
            yield kind, at


def open_moments(run: Run) -> dict[DeadlineKind, datetime]:
    """The moments that may still have to be told of, when they come."""
    return {kind: at for kind, at in instants(run).items() if _is_open(kind, run)}


def _is_open(kind: DeadlineKind, run: Run) -> bool:
    if kind in run.sla_told:
        return False
    return run.ready_at is None if kind is DeadlineKind.READINESS else run.sla_verdict is None


def window_end(run: Run, pipeline: Pipeline) -> datetime:
    """When the rules of this attempt must hold at the latest. While they hold and no place is free, the
    window does not run: should they fail when one is, they have all of it again.
    """
    window = duration.parse(pipeline.schedule(run.key.schedule_id).evaluation.window)
    return (run.waits_at or run.opened_at) + window


_ALWAYS = datetime.min.replace(tzinfo=UTC)
_BREACHES = (DeadlineKind.BREACH, DeadlineKind.RELATIVE_BREACH)
_ATTRIBUTES: dict[DeadlineKind, str] = {
    DeadlineKind.WARNING: "warning_at",
    DeadlineKind.BREACH: "breach_at",
    DeadlineKind.RELATIVE_WARNING: "relative_warning_at",
    DeadlineKind.RELATIVE_BREACH: "relative_breach_at",
    DeadlineKind.READINESS: "readiness_at",
}
