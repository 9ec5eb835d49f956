"""Admit a reading: find out what it means, and do that."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import assert_never

from interlock.domain.admission import (
    Admission,
    Exclude,
    Ignore,
    NoteFirst,
    NoteLate,
    OpenRun,
    PostRunReading,
    Reject,
    Reopen,
    StartAgain,
    admit,
    rule_keys,
    run_keys,
)
from interlock.domain.event import Event, EventType, happened, subject
from interlock.domain.partition import Grain, label_at
from interlock.domain.run import Run, Status
from interlock.domain.sensor import Reading, split_key
from interlock.domain.telling import about_date
from interlock.domain.zones import zone
from interlock.ports import Config, Ports, Wait
from interlock.usecases.claim_event import claim_event
from interlock.usecases.judge_post_run import judge_post_run
from interlock.usecases.note_first_sensor import note_first_sensor
from interlock.usecases.note_late_data import note_late_data
from interlock.usecases.open_run import open_run
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.reopen_run import reopen_run
from interlock.usecases.start_run import start_run


def admit_reading(reading: Reading, ports: Ports) -> Sequence[Admission]:
    """What it led to. A reading of an unknown or paused pipeline is kept and waits."""
    now = ports.clock()
    config = ports.pipelines.find(reading.pipeline_id)
    if config is None or config.is_retired:
        return [Ignore("-", "no such pipeline is in force")]
    if config.is_paused(now):
        return [Ignore("-", "the pipeline is paused")]
    runs = ports.runs.find(run_keys(config.pipeline, reading))
    admissions = admit(config.pipeline, reading, runs, now)
    for admission in admissions:
        act_on(admission, config, now, ports)
    _wake_waiting(config, reading, ports)
    return admissions


def act_on(
    admission: Admission,
    config: Config,
    now: datetime,
    ports: Ports,
    recovered: Callable[[Run], Sequence[Event]] | None = None,
) -> None:
    """Do what an admission says; `recovered` is what the watchdog has to tell of a new attempt.

    Every branch may be taken again.
    """
    match admission:
        case OpenRun(key, by, reading):
            open_run(
                key, by, reading.key, config, ports, now=now, reading=reading, recovered=recovered
            )
        case Reopen(run):
            _reopen(run, admission, config, ports, recovered)
        case StartAgain(run):
            publish_outbox(run.key, ports)
            start_run(run, config.pipeline, ports)
        case NoteFirst(run, reading):
            note_first_sensor(run.key, reading, config, ports)
        case NoteLate(run, reading):
            note_late_data(run.key, reading, config.pipeline, ports)
        case PostRunReading(run, reading, rule_key):
            judge_post_run(run.key, reading, rule_key, config.pipeline, ports)
        case Exclude() | Reject():
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


def refusal_events(admission: Exclude | Reject, config: Config) -> tuple[Event, ...]:
    """What there is to say about a reading that opens nothing; a dry run says none of it."""
    if isinstance(admission, Exclude):
        return _excluded(admission, config)
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
    """A run that waits for its rules is judged at once when one of their readings comes."""
    if split_key(reading.key)[0] in rule_keys(config.pipeline):
        ports.workflows.wake(config.pipeline.id, Wait.RULES)
