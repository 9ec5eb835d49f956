"""Open a run: claim a date, arm its deadlines, start its first attempt."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from interlock.domain import duration
from interlock.domain.config import Config
from interlock.domain.deadline import unknown
from interlock.domain.event import Event, EventType
from interlock.domain.opening import first_attempt, inherited, open_moments
from interlock.domain.partition import Label
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import DeadlineKind, OpenedBy, Run, RunKey, Status
from interlock.domain.run_events import about_run
from interlock.domain.sensor import Reading
from interlock.domain.timer import Timer
from interlock.usecases.day_labelled import was_told_of_days
from interlock.usecases.find_runs import find_runs, find_watch, former_keys
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.start_run import start_run

#: A date opened before an edit starts at most this long after it.
_REACH = timedelta(days=8)


def open_run(
    key: RunKey,
    by: OpenedBy,
    opened_for: str,
    config: Config,
    ports: Ports,
    *,
    now: datetime,
    reading: Reading | None = None,
    due_at: datetime | None = None,
    request: str | None = None,
    recovered: Callable[[Run], Sequence[Event]] | None = None,
    also: Callable[[Run], Sequence[Event]] = lambda run: (),
) -> Run:
    """Return the run as it stands, UNREADABLE where an unreadable row has the date. Safe to call again after
    dying at any line. `also` holds further events; `recovered` the same, for a date that the watchdog had to
    open.

    Timers are armed before the row is written: a timer without a run finds the date as it is, whereas a run
    without its timers would wait for the watchdog.
    """
    before = _opened_before_an_edit(key, config, ports)
    if before is not None:
        return _go_on(before.key, config, ports)
    run = first_attempt(
        config.pipeline,
        key,
        by,
        opened_for,
        now,
        lease=ports.lease,
        config_hash=config.config_hash,
        standing=config.standing(key.schedule_id),
        reading=reading,
        sla=inherited(find_watch(key, config.pipeline, ports)),
    )
    run = msgspec.structs.replace(run, first_request=request)
    ports.timers.arm(deadline_timers(run))
    if recovered is not None:
        run, also = msgspec.structs.replace(run, recovered=True), recovered
    opening = opening_events(run, config.pipeline, due_at=due_at)
    events = (*opening, *_unknown_deadline(run, config, ports), *also(run))
    if not ports.runs.open(run, events):
        return _go_on(key, config, ports)  # our own repeat, or another writer got there first
    publish_outbox(key, ports)
    start_run(run, config.pipeline, ports)
    return run


def _opened_before_an_edit(key: RunKey, config: Config, ports: Ports) -> Run | None:
    """The run that the date has under a former id, or from when its schedule had other deadlines: it has its
    own timers, and arming those of the current file would replace them.
    """
    standing = config.standing(key.schedule_id)
    near = standing.deadlines_since > config.active_since and Label.parse(key.date).day <= (
        (standing.deadlines_since + _REACH).date()
    )
    if not near and not former_keys(key, config.pipeline):
        return None
    return find_runs([key], config.pipeline, ports).get(key)


def _go_on(key: RunKey, config: Config, ports: Ports) -> Run:
    """Continue with the run that has the date, and do what its opener left undone."""
    run = _in_the_way(key, ports)
    publish_outbox(key, ports)
    if run.status is Status.PENDING:
        start_run(run, config.pipeline, ports)
    return run


def _in_the_way(key: RunKey, ports: Ports) -> Run:
    found = ports.runs.find([key]).get(key)
    return ports.runs.get(key) if found is None else found


def opening_events(
    run: Run, pipeline: Pipeline, *, due_at: datetime | None = None
) -> tuple[Event, ...]:
    """The events of a new attempt."""
    late = None if due_at is None or due_at >= run.opened_at else run.opened_at - due_at
    word = "key" if run.opened_by in (OpenedBy.SENSOR, OpenedBy.CASCADE) else "reason"
    named: dict[str, Any] = {word: run.opened_for or None}
    return about_run(
        EventType.TRIGGER_STARTED,
        run,
        pipeline,
        f"opened by {run.opened_by}" + (f" {run.opened_for}" if run.opened_for else ""),
        openedBy=run.opened_by,
        executionName=run.execution_name,
        lateBy=None if late is None else duration.for_people(late),
        **named,
    )


def deadline_timers(run: Run) -> list[Timer]:
    """The timers of a run's deadlines that are neither published nor settled."""
    return [deadline_timer(run.key, kind, at) for kind, at in open_moments(run).items()]


def deadline_timer(key: RunKey, kind: DeadlineKind, at: datetime) -> Timer:
    name = f"{kind}.{key.pipeline_id}.{key.schedule_id}.{key.date}"
    payload = {
        "mode": "fire-alert",
        "kind": kind,
        "pipelineId": key.pipeline_id,
        "scheduleId": key.schedule_id,
        "date": key.date,
    }
    return Timer(name, kind, at, payload)


def _unknown_deadline(run: Run, config: Config, ports: Ports) -> tuple[Event, ...]:
    """Published with the first daily date that meets an hourly deadline, once per file."""
    pipeline = config.pipeline
    schedule, label = pipeline.schedule(run.key.schedule_id), Label.parse(run.key.date)
    text = None if pipeline.sla is None else unknown(schedule, pipeline.sla, label)
    if text is None:
        return ()
    if was_told_of_days(run.key, pipeline, run.config_hash, ports):
        return ()
    return about_run(
        EventType.DEADLINE_UNKNOWN,
        run,
        pipeline,
        f"deadline {text} needs a date with an hour, but this run is for {run.key.date}",
        parts=(),
        deadline=text,
        problem="the date has no hour",
    )
