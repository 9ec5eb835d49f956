"""Fire a deadline: a moment has come; publish its event if it still holds, with the verdict in one write.

The job of a run may have ended without a record yet, so its platform is asked first.
"""

from datetime import datetime
from typing import Any

import msgspec

from interlock.domain import duration, sla
from interlock.domain.calendars import excluded
from interlock.domain.config import Config
from interlock.domain.deadline import deadlines
from interlock.domain.event import Event, EventType, RowOverride, subject
from interlock.domain.opening import instants
from interlock.domain.partition import Grain, Label, hours_of
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import DeadlineKind, Run, RunKey, Status
from interlock.domain.run_events import about_date, run_subject
from interlock.domain.schedule import begins_at, sensor_driven
from interlock.domain.sla import SlaWatch
from interlock.domain.timestamp import spell
from interlock.domain.zones import zone
from interlock.usecases.day_labelled import is_day_labelled
from interlock.usecases.find_runs import find_runs, find_watch, kept_key
from interlock.usecases.look_at_job import look_at_job
from interlock.usecases.open_run import deadline_timer
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.readable_config import readable_config
from interlock.usecases.save_run import RunWrite, save_run

_TYPES = {
    DeadlineKind.WARNING: EventType.SLA_WARNING,
    DeadlineKind.BREACH: EventType.SLA_BREACH,
    DeadlineKind.RELATIVE_WARNING: EventType.RELATIVE_SLA_WARNING,
    DeadlineKind.RELATIVE_BREACH: EventType.RELATIVE_SLA_BREACH,
    DeadlineKind.READINESS: EventType.READINESS_MISSED,
}


def fire_deadline(key: RunKey, kind: DeadlineKind, ports: Ports) -> bool:
    """Whether an event was published. A retired or dry pipeline has no deadlines, and neither has one whose
    file has dropped them. A date with an unreadable row or config is not known to be late.
    """
    config = readable_config(key.pipeline_id, ports)
    if config is None or config.is_retired or config.pipeline.dry_run:
        return False
    if config.pipeline.sla is None or not config.pipeline.has_schedule(key.schedule_id):
        return False
    key = kept_key(key, config.pipeline, ports)
    run = ports.runs.find([key]).get(key)
    if run is None:
        return _fire_on_watch(key, kind, config, ports)
    return run.status is not Status.UNREADABLE and _fire_on_run(run, kind, config, ports)


def _fire_on_run(run: Run, kind: DeadlineKind, config: Config, ports: Ports) -> bool:
    asks = sla.asks_first(kind, run) and _moment(kind, run, ports.clock()) is not None
    seen = look_at_job(run, instants(run)[kind], config.pipeline, ports) if asks else None
    now = ports.clock()
    weight: sla.Weight | None = None

    def decide(stored: Run) -> RunWrite | None:
        nonlocal weight
        found, due = _moment(kind, stored, now), instants(stored)
        weight = None if found is None else sla.weigh(kind, due[kind], stored, seen, now)
        if weight is sla.Weight.WAIT:
            return _unasked(stored, seen, now)
        if found is None or weight is sla.Weight.IDLE:
            return None
        noted = stored.changed(
            now,
            sla_told=(*stored.sla_told, kind),
            sla_verdict=found.verdict or stored.sla_verdict,
            unasked_since=None,
        )
        passed = PassedMoment(kind, stored.key, due, stored)
        return RunWrite(noted, deadline_events(passed, config, now, seen))

    save_run(run.key, decide, ports)
    if weight is sla.Weight.WAIT:
        ports.timers.arm([deadline_timer(run.key, kind, now + sla.ASK_AGAIN)])
    return weight is sla.Weight.TELL


def _moment(kind: DeadlineKind, run: Run, now: datetime) -> sla.DeadlineNotice | None:
    return sla.judge_moment(kind, instants(run), run.sla_told, run.sla_verdict, run, now)


def _unasked(run: Run, seen: sla.JobSeen | None, now: datetime) -> RunWrite | None:
    """The first failed request to the platform is stored: the wait is counted from it."""
    if seen is None or seen.attempt != run.attempt or run.unasked_since is not None:
        return None
    return RunWrite(run.changed(now, unasked_since=now))


def _fire_on_watch(key: RunKey, kind: DeadlineKind, config: Config, ports: Ports) -> bool:
    """The same for a date without a run: the verdict stays on its own row until a run opens."""
    now = ports.clock()
    fresh = first_watch(key, config)
    if fresh is None:
        return False
    watch = find_watch(key, config.pipeline, ports) or fresh
    due = watched_instants(fresh)  # of the current file; what was published stays published
    found = sla.judge_moment(kind, due, watch.told, watch.verdict, None, now)
    if found is not None and is_covered(key, config, ports):
        found = None
    if found is not None:
        told = msgspec.structs.replace(
            watch,
            version=watch.version + 1,
            told=(*watch.told, kind),
            verdict=found.verdict or watch.verdict,
        )
        events = deadline_events(PassedMoment(kind, key, due), config, now)
        if not ports.claims.save_watch(told, events):
            return False  # another process got there first; the watchdog looks again
    publish_outbox(watch_owner(key), ports)
    return found is not None


def first_watch(key: RunKey, config: Config) -> SlaWatch | None:
    """The watch of a date that has no stored watch yet; None when the date has no deadline."""
    pipeline = config.pipeline
    if pipeline.sla is None or not pipeline.has_schedule(key.schedule_id):
        return None
    schedule, label = pipeline.schedule(key.schedule_id), Label.parse(key.date)
    if excluded(schedule, pipeline.calendars, label.day) is not None:
        return None
    standing = config.standing(key.schedule_id)
    edited = standing.since > config.active_since
    if edited and not standing.counts(key.date, begins_at(schedule, pipeline.calendars, label)):
        return None
    due = deadlines(schedule, pipeline.sla, label, calendars=pipeline.calendars)
    watch = SlaWatch(
        key=key,
        version=0,
        warning_at=standing.promised(due.warning_at),
        breach_at=standing.promised(due.breach_at),
        readiness_at=standing.promised(due.readiness_at),
    )
    return watch if watched_instants(watch) else None


def is_covered(key: RunKey, config: Config, ports: Ports) -> bool:
    """Whether hourly runs stand in for a sensor-driven day, each with its own deadline, or daily runs
    show that no hours are expected.
    """
    label = Label.parse(key.date)
    schedule = config.pipeline.schedule(key.schedule_id)
    if not sensor_driven(schedule):
        return False
    if label.grain is not Grain.DAY:
        return is_day_labelled(config.pipeline, key.schedule_id, ports)
    hours = (str(hour) for hour in hours_of(label.day, zone(schedule.timezone)))
    keys = [RunKey(key.pipeline_id, key.schedule_id, h) for h in hours]
    runs = find_runs(keys, config.pipeline, ports).values()
    return any(not run.is_placeholder for run in runs)


def watched_instants(watch: SlaWatch) -> dict[DeadlineKind, datetime]:
    found = {
        DeadlineKind.WARNING: watch.warning_at,
        DeadlineKind.BREACH: watch.breach_at,
        DeadlineKind.READINESS: watch.readiness_at,
    }
    return {kind: at for kind, at in found.items() if at is not None}


def watch_owner(key: RunKey) -> str:
    """The owner key of the waiting events of a date without a run."""
    return f"{key}/sla"


class PassedMoment(msgspec.Struct, frozen=True):
    """A passed moment of a date, among all of its moments; the run is None when nothing opened it."""

    kind: DeadlineKind
    key: RunKey
    due: dict[DeadlineKind, datetime]
    run: Run | None = None


def deadline_events(
    passed: PassedMoment, config: Config, now: datetime, seen: sla.JobSeen | None = None
) -> tuple[Event, ...]:
    """The event of a moment, with why the run is not done; `seen` is the job's latest state."""
    kind, key, due, run = passed.kind, passed.key, passed.due, passed.run
    pipeline = config.pipeline
    declared = pipeline.sla
    assert declared is not None
    event_type = _TYPES[kind]
    if kind is DeadlineKind.READINESS:
        causes = sla.unready_by(run, pipeline, key.schedule_id, due[kind], now)
    else:
        causes = sla.blocked_by(run, pipeline, key.schedule_id, now)
    word = None if seen is None else sla.word_of_job(seen, due[kind])
    if word is not None:
        causes = [word] if seen and seen.succeeded_at else [*causes, word]
    if config.is_paused(now):
        causes = ["paused", *causes]
    late = now - due[kind]
    severity = event_type.spec.severity
    return about_date(
        event_type,
        subject(pipeline, key) if run is None else run_subject(run, pipeline),
        now,
        _message(passed, causes, pipeline),
        override=RowOverride(severity.raised if declared.critical else None),
        status="absent" if run is None else run.status,
        blockedBy=causes,
        lateBy=duration.for_people(late) if late.total_seconds() >= 1 else None,
        **_facts(passed, pipeline),
    )


def _facts(passed: PassedMoment, pipeline: Pipeline) -> dict[str, Any]:
    kind, key, due, run = passed.kind, passed.key, passed.due, passed.run
    declared = pipeline.sla
    assert declared is not None
    if kind is DeadlineKind.READINESS:
        return {
            "evaluationDeadline": declared.evaluation_deadline,
            "timezone": declared.timezone or pipeline.schedule(key.schedule_id).timezone,
            "readinessAt": spell(due[kind]),
        }
    relative = kind in (DeadlineKind.RELATIVE_WARNING, DeadlineKind.RELATIVE_BREACH)
    pair = (
        (DeadlineKind.RELATIVE_WARNING, DeadlineKind.RELATIVE_BREACH)
        if relative
        else (DeadlineKind.WARNING, DeadlineKind.BREACH)
    )
    facts: dict[str, Any] = {
        "warningAt": spell(due[pair[0]]) if pair[0] in due else None,
        "breachAt": spell(due[pair[1]]) if pair[1] in due else None,
    }
    if relative:
        first = None if run is None else run.first_sensor_at
        facts["maxDuration"] = declared.max_duration
        facts["firstSensorAt"] = None if first is None else spell(first)
    else:
        facts["deadline"] = declared.deadline
        facts["timezone"] = declared.timezone or pipeline.schedule(key.schedule_id).timezone
    if kind in sla.BREACHES and run is not None:
        failed = run.status in (Status.FAILED, Status.FAILED_FINAL)
        facts["failed"] = failed
        facts["failure"] = run.failure.message if failed and run.failure else None
    return facts


def _message(passed: PassedMoment, causes: list[str], pipeline: Pipeline) -> str:
    kind, key, due = passed.kind, passed.key, passed.due
    declared = pipeline.sla
    assert declared is not None
    name = declared.timezone or pipeline.schedule(key.schedule_id).timezone
    breach = due[sla.WARNINGS.get(kind, kind)].astimezone(zone(name))
    day = "" if f"{breach:%Y-%m-%d}" == key.date[:10] else f"{breach:%Y-%m-%d} "
    if kind is DeadlineKind.READINESS:
        return f"was to be ready {day}{breach:%H:%M} {name} and was not: {'; '.join(causes)}"
    what = "is due" if kind in sla.WARNINGS else "was due"
    return f"{what} {day}{breach:%H:%M} {name} and is not done: {'; '.join(causes)}"
