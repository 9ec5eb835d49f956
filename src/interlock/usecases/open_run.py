"""Open a run: claim a date, arm its deadlines, start its first attempt."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from interlock.domain import duration
from interlock.domain.deadline import is_unknown
from interlock.domain.event import Event, EventType
from interlock.domain.opening import SlaState, first_attempt, instants
from interlock.domain.partition import Label
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import DeadlineKind, OpenedBy, Run, RunKey, Status
from interlock.domain.sensor import Reading
from interlock.domain.telling import about_run
from interlock.ports import Config, Ports, Timer
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.start_run import start_run


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
    """Return the run as it stands. Safe to call again after dying at any line. `also` is what else
    there is to tell; `recovered` the same, of a date that the watchdog had to open.

    Timers are armed before the row is written: one without a run finds the date as it is, whereas a
    run without its timers would wait for the watchdog.
    """
    run = first_attempt(
        config.pipeline,
        key,
        by,
        opened_for,
        now,
        lease=ports.lease,
        config_hash=config.config_hash,
        active_since=config.active_since,
        reading=reading,
        sla=_inherited(key, ports),
    )
    run = msgspec.structs.replace(run, first_request=request)
    ports.timers.arm(deadline_timers(run))
    if recovered is not None:
        run, also = msgspec.structs.replace(run, recovered=True), recovered
    events = (*opening_events(run, config.pipeline, due_at=due_at), *also(run))
    if not ports.runs.open(run, events):
        run = ports.runs.get(key)  # our own repeat, or somebody got there first
    publish_outbox(key, ports)
    if run.status is Status.PENDING:
        start_run(run, config.pipeline, ports)
    return run


def opening_events(
    run: Run, pipeline: Pipeline, *, due_at: datetime | None = None
) -> tuple[Event, ...]:
    """What a new attempt has to say."""
    late = None if due_at is None or due_at >= run.opened_at else run.opened_at - due_at
    word = "key" if run.opened_by in (OpenedBy.SENSOR, OpenedBy.CASCADE) else "reason"
    named: dict[str, Any] = {word: run.opened_for or None}
    events = about_run(
        EventType.TRIGGER_STARTED,
        run,
        pipeline,
        f"opened by {run.opened_by}" + (f" {run.opened_for}" if run.opened_for else ""),
        openedBy=run.opened_by,
        executionName=run.execution_name,
        lateBy=None if late is None else duration.for_people(late),
        **named,
    )
    return events + (() if run.attempt else _unknown_deadline(run, pipeline))


def deadline_timers(run: Run) -> list[Timer]:
    """The timers of a run's deadlines that are neither told nor settled."""
    if run.sla_verdict is not None:
        return []
    return [
        deadline_timer(run.key, kind, at)
        for kind, at in instants(run).items()
        if kind not in run.sla_told
    ]


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


def _inherited(key: RunKey, ports: Ports) -> SlaState:
    """What the watchdog has already said about the deadline of a date without a run."""
    watch = ports.marks.watch(key)
    if watch is None:
        return SlaState()
    return SlaState(watch.armed, watch.told, watch.verdict)


def _unknown_deadline(run: Run, pipeline: Pipeline) -> tuple[Event, ...]:
    schedule, label = pipeline.schedule(run.key.schedule_id), Label.parse(run.key.date)
    if pipeline.sla is None or not is_unknown(schedule, pipeline.sla, label):
        return ()
    return about_run(
        EventType.DEADLINE_UNKNOWN,
        run,
        pipeline,
        f"deadline {pipeline.sla.deadline} needs a date with an hour, this run is of {run.key.date}",
        parts=(),
        deadline=pipeline.sla.deadline,
        problem="the date has no hour",
    )
