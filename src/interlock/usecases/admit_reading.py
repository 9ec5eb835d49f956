"""Admit a reading: decide what it means, and act on it."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import assert_never

from interlock.domain.admission import (
    Admission,
    Exclude,
    Ignore,
    NoteFirst,
    NoteLate,
    NoteRepeat,
    OpenRun,
    PostRunReading,
    Reject,
    Reopen,
    ReopenWhenReady,
    StartAgain,
    admit,
    judged_keys,
    reopens_since,
    run_keys,
    window_closed,
)
from interlock.domain.config import Config
from interlock.domain.event import Event, EventType, happened, subject
from interlock.domain.partition import Grain, label_at
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import OpenedBy, Run, RunKey, Status
from interlock.domain.run_events import about_date
from interlock.domain.sensor import Reading, split_key
from interlock.domain.waiting_for import WaitingFor
from interlock.domain.zones import zone
from interlock.errors import UnreadableError
from interlock.usecases.claim_event import claim_event
from interlock.usecases.evidence import judge_now
from interlock.usecases.find_runs import find_runs, former_keys
from interlock.usecases.judge_post_run import judge_post_run
from interlock.usecases.note_first_sensor import note_first_sensor
from interlock.usecases.note_late_data import note_late_data
from interlock.usecases.open_run import open_run
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.reopen_run import reopen_run
from interlock.usecases.repeat_events import repeat_events
from interlock.usecases.start_run import start_run


def admit_reading(reading: Reading, ports: Ports) -> Sequence[Admission]:
    """What it led to. A reading of an unknown or paused pipeline is kept and waits; so does one of a pipeline
    whose stored config can't be read.
    """
    now = ports.clock()
    try:
        config = ports.pipelines.find(reading.pipeline_id)
    except UnreadableError as error:
        return [Ignore("-", str(error))]
    if config is None or config.is_retired:
        return [Ignore("-", "no such pipeline is in force")]
    if config.is_paused(now):
        return [Ignore("-", "the pipeline is paused")]
    runs = concerned_runs(config.pipeline, reading, ports)
    admissions = admit(config.pipeline, reading, runs, now, config.standings)
    for admission in admissions:
        act_on(admission, config, now, ports)
    _wake_waiting(config, reading, ports)
    return admissions


def concerned_runs(pipeline: Pipeline, reading: Reading, ports: Ports) -> dict[RunKey, Run]:
    """The runs of its date; for a reading without a date, those that may be waiting for it."""
    found = find_runs(run_keys(pipeline, reading), pipeline, ports)
    for schedule in pipeline.schedules:
        since = reopens_since(pipeline, schedule, reading)
        if since is not None:
            key = RunKey(pipeline.id, schedule.id, since, dry=pipeline.dry_run)
            for each in (key, *former_keys(key, pipeline)):
                found |= {run.key: run for run in ports.runs.failed_since(each)}
    return found


def act_on(  # noqa: C901 - one flat table of what to do
    admission: Admission,
    config: Config,
    now: datetime,
    ports: Ports,
    recovered: Callable[[Run], Sequence[Event]] | None = None,
) -> None:
    """Act on an admission; `recovered` is the watchdog's event about a new attempt.

    Every branch is safe to repeat.
    """
    match admission:
        case OpenRun(key, by, reading):
            open_run(
                key, by, reading.key, config, ports, now=now, reading=reading, recovered=recovered
            )
        case Reopen(run):
            _reopen(run, admission, config, ports, recovered)
        case ReopenWhenReady(run):
            _reopen_when_ready(run, admission, config, now, ports)
        case StartAgain(run):
            publish_outbox(run.key, ports)
            start_run(run, config.pipeline, ports)
        case NoteFirst(run, reading):
            note_first_sensor(run.key, reading, config, ports)
        case NoteLate(run, reading):
            note_late_data(run.key, reading, config.pipeline, ports)
        case PostRunReading(run, reading, rule_key):
            judge_post_run(run.key, reading, rule_key, config.pipeline, ports)
        case Exclude() | Reject() | NoteRepeat():
            for event in refusal_events(admission, config):
                claim_event(event, ports)
        case Ignore():
            pass
        case _:
            assert_never(admission)


def _reopen(
    run: Run,
    admission: Reopen,
    config: Config,
    ports: Ports,
    recovered: Callable[[Run], Sequence[Event]] | None,
) -> None:
    version = admission.reading.version

    def may(stored: Run) -> bool:
        failed = stored.status is Status.FAILED and not stored.awaits_retry
        return failed and stored.trigger_version != version

    def first(stored: Run) -> dict[str, object]:
        started = stored.first_sensor_at or admission.reading.received_at
        changes: dict[str, object] = {"trigger_version": version, "first_sensor_at": started}
        return changes if recovered is None else changes | {"recovered": True}

    reopen_run(
        run.key,
        admission.by,
        admission.reading.key,
        config,
        ports,
        may=may,
        changes=first,
        events=recovered or (lambda run: ()),
    )


def _reopen_when_ready(
    run: Run, admission: ReopenWhenReady, config: Config, now: datetime, ports: Ports
) -> None:
    """Open the date again if everything it needs arrived in time; otherwise its window stays closed."""
    if not judge_now(run, config.pipeline, now, ports, admission.until).ready:
        return

    def may(stored: Run) -> bool:
        return window_closed(stored) and stored.attempt == run.attempt

    reopen_run(run.key, OpenedBy.SENSOR, admission.reading.key, config, ports, may=may)


def refusal_events(admission: Exclude | Reject | NoteRepeat, config: Config) -> tuple[Event, ...]:
    """The events of a reading that opens nothing; a dry run has none."""
    if isinstance(admission, Exclude):
        return _excluded(admission, config)
    if isinstance(admission, NoteRepeat):
        reading = admission.reading
        return repeat_events(admission.run, config, reading.received_at, key=reading.key)
    return () if config.pipeline.dry_run else (_rejected(admission, config),)


def _excluded(admission: Exclude, config: Config) -> tuple[Event, ...]:
    out, reading = admission.excluded, admission.reading
    return about_date(
        EventType.PIPELINE_EXCLUDED,
        admission.key,
        config.pipeline,
        f"{admission.key.date} is excluded by {out.by}" + (f" {out.name}" if out.name else ""),
        at=reading.received_at,
        key=reading.key,
        excludedBy=out.by,
        name=out.name,
    )


def _rejected(admission: Reject, config: Config) -> Event:
    reading, rejection = admission.reading, admission.rejection
    schedule = config.pipeline.schedule(admission.schedule_id)
    day = label_at(reading.received_at, zone(schedule.timezone), Grain.DAY)
    return happened(
        EventType.SENSOR_REJECTED,
        subject(config.pipeline),
        reading.received_at,
        f"{reading.key}: {rejection.field} is {rejection.value!r}, needs {rejection.allowed}",
        parts=(reading.key, rejection.problem, day),
        key=reading.key,
        problem=rejection.problem,
        field=rejection.field,
        value=rejection.value,
        allowed=rejection.allowed,
    )


def _wake_waiting(config: Config, reading: Reading, ports: Ports) -> None:
    """A run that waits for its rules is judged at once when one of their readings arrives."""
    base, _ = split_key(reading.key)
    if any(base in judged_keys(config.pipeline, each) for each in config.pipeline.schedules):
        ports.workflows.wake(config.pipeline.id, WaitingFor.RULES)
