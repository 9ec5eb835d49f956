"""Act on a finding: do what the watchdog found wanting, through the ordinary use cases."""

from datetime import datetime, timedelta
from typing import Any, assert_never

import msgspec

from interlock.domain import duration
from interlock.domain.config import Config
from interlock.domain.event import Event, EventType, subject
from interlock.domain.guards import (
    LEASE_EXTENSION,
    Admit,
    ArmDeadline,
    Close,
    EngineState,
    ExtendLease,
    Finding,
    Finish,
    FireLate,
    GiveUp,
    JudgeDeadline,
    LookAgain,
    Missed,
    NoteStarted,
    PostRunMissing,
    Restart,
    Resume,
    RetryNow,
    Suspect,
    TimeOut,
)
from interlock.domain.job_record import JobRecord
from interlock.domain.launch import launch_of
from interlock.domain.opening import Opening, first_attempt, inherited
from interlock.domain.rules import judge_one
from interlock.domain.run import DeadlineKind, Failure, OpenedBy, Run, RunKey, Status
from interlock.domain.run_events import about_date, about_run
from interlock.domain.sla import asks_first
from interlock.domain.timestamp import spell
from interlock.usecases.admit_reading import act_on
from interlock.usecases.arm_deadlines import arm_deadlines
from interlock.usecases.claim_event import claim_event
from interlock.usecases.complete_run import complete_run
from interlock.usecases.evidence import readings_for, rule_records
from interlock.usecases.find_runs import find_watch, former_keys
from interlock.usecases.fire_deadline import fire_deadline, is_covered
from interlock.usecases.job_ending import ask_job
from interlock.usecases.judge_post_run import judge_again
from interlock.usecases.note_failure import note_failure
from interlock.usecases.note_infra_failure import Breakdown, note_infra_failure
from interlock.usecases.open_run import deadline_timer, open_run
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.retry_job import retry_job
from interlock.usecases.save_run import RunWrite, save_run
from interlock.usecases.settle_deadline import settle_deadline
from interlock.usecases.start_run import start_again, start_run
from interlock.usecases.take_place import call_next


def act_on_finding(  # noqa: C901 - one flat table of what to do
    finding: Finding, config: Config, now: datetime, ports: Ports
) -> None:
    """Every branch is conditional and may be taken twice, or by two passes at once."""
    match finding:
        case Restart(run):
            _restart(run, config, ports)
        case NoteStarted(run):
            save_run(run.key, lambda stored: _noted_started(stored, run, now), ports)
        case Finish(run):
            _finish(run, config, ports)
        case Resume(run, engine):
            _resume(run, engine, config, ports)
        case GiveUp(run):
            note_infra_failure(run.key, run.attempt, _BROKE_OFF, config.pipeline, ports)
        case TimeOut():
            _time_out(finding, config, now, ports)
        case ExtendLease(run, unwatched):
            until = now + (ports.lease if unwatched else LEASE_EXTENSION)
            save_run(run.key, lambda stored: _extended(stored, run, now, until), ports)
        case RetryNow(run):
            retry_job(run.key, run.attempt, ports, recovered=True)
        case Admit():
            _admit(finding, config, now, ports)
        case FireLate(key, due_at):
            _fire_late(key, due_at, config, now, ports)
        case Missed():
            _tell_missed(finding, config, now, ports)
        case Close():
            _close(finding, config, now, ports)
        case ArmDeadline(key):
            arm_deadlines(key, config, ports)
        case JudgeDeadline(key, kind):
            _judge(key, kind, now, ports)
        case PostRunMissing():
            _tell_post_run_missing(finding, config, now, ports)
        case LookAgain(run):
            judge_again(run.key, run.attempt, ports)
        case Suspect():
            pass  # the pass remembers it
        case _:
            assert_never(finding)


def _restart(run: Run, config: Config, ports: Ports) -> None:
    """Told when the start has worked: until then nothing was recovered."""
    start_run(run, config.pipeline, ports)
    now = ports.clock()

    def decide(stored: Run) -> RunWrite | None:
        if stored.attempt != run.attempt or stored.started_at is not None:
            return None
        noted = stored.changed(now, started_at=now, recovered=True)
        if stored.recovered:
            return RunWrite(noted)  # it is told already that the watchdog saw to this attempt
        return RunWrite(noted, _recovered(noted, "restart", config, late=now - run.opened_at))

    save_run(run.key, decide, ports)


def _noted_started(stored: Run, run: Run, now: datetime) -> RunWrite | None:
    if stored.attempt != run.attempt or stored.started_at is not None:
        return None
    return RunWrite(stored.changed(now, started_at=now))


def _extended(stored: Run, run: Run, now: datetime, until: datetime) -> RunWrite | None:
    if stored.attempt != run.attempt or not stored.is_open:
        return None
    return RunWrite(stored.changed(now, lease_until=until))


def _finish(run: Run, config: Config, ports: Ports) -> None:
    """The engine is gone and the job log says success: complete the run as the engine would have, or what
    it has left of that.

    Told first: a pass that dies on the way finds the run as it was, and tells nothing twice.
    """
    told = msgspec.structs.replace(run, changed_at=ports.clock())
    for event in _recovered(told, "completion" if run.is_open else "follow-up", config):
        claim_event(event, ports)
    complete_run(run.key, run.attempt, config.pipeline, ports)
    settle_deadline(run.key, config, ports)


def _resume(run: Run, engine: EngineState, config: Config, ports: Ports) -> None:
    """A name that the engine does not have is free: a start under it has failed, or is forgotten."""
    now = ports.clock()

    def decide(stored: Run) -> RunWrite | None:
        moved_on = stored.attempt != run.attempt or stored.executions != run.executions
        if engine is EngineState.ABSENT or moved_on or not stored.is_open:
            return None
        again = stored.resumed(now, ports.lease)
        told = stored.executions > 1  # once an attempt, like everything that is recovered
        return RunWrite(again, () if told else _recovered(again, "resume", config))

    stored = save_run(run.key, decide, ports)
    if stored.attempt == run.attempt and stored.is_open:
        start_again(stored, config.pipeline, ports)


def _judge(key: RunKey, kind: DeadlineKind, now: datetime, ports: Ports) -> None:
    """A moment before which a job must be asked is left to its timer: a pass waits for no platform."""
    if asks_first(kind, ports.runs.find([key]).get(key)):
        ports.timers.arm([deadline_timer(key, kind, now)])
    else:
        fire_deadline(key, kind, ports)


def _time_out(finding: TimeOut, config: Config, now: datetime, ports: Ports) -> None:
    """Nobody is declared dead whose job has ended: it is asked once more, and its own end counts."""
    run = finding.run
    launch = launch_of(run)
    ending = None if launch is None else ask_job(launch, ports)
    if isinstance(ending, JobRecord):
        if ending.event != "success":
            note_failure(run.key, run.attempt, ending, config.pipeline, ports)
        ports.job_log.append(ending)
        _finish(run, config, ports)
        return

    def decide(stored: Run) -> RunWrite | None:
        if stored.attempt != run.attempt or not stored.is_open:
            return None
        failure = Failure("lease", "the execution ended without finishing the run")
        over = stored.to(Status.FAILED_FINAL, now, failure=failure)
        events = about_run(
            EventType.SFN_TIMEOUT,
            over,
            config.pipeline,
            f"step function timed out for {run.key}",
            executionName=run.execution_name,
            leaseUntil=spell(run.lease_until),
            engineStatus=finding.engine,
            runStatus=stored.status,
            runId=stored.run_id,
        )
        return RunWrite(over, events)

    over = save_run(run.key, decide, ports)
    call_next(over, config.pipeline, ports)
    if over.job:
        ports.jobs.cancel(over.job)


def _admit(finding: Admit, config: Config, now: datetime, ports: Ports) -> None:
    """What the ordinary path would have done, told as recovered in the write that opens something."""
    key = finding.reading.key
    act_on(
        finding.admission,
        config,
        now,
        ports,
        recovered=lambda run: _recovered(run, "reading", config, key=key),
    )


def _fire_late(key: RunKey, due_at: datetime, config: Config, now: datetime, ports: Ports) -> None:
    open_run(
        Opening(key, OpenedBy.CRON, "", now, due_at=due_at),
        config,
        ports,
        recovered=lambda run: _recovered(run, "late-fire", config, due=due_at, late=now - due_at),
    )


def _recovered(
    run: Run,
    how: str,
    config: Config,
    *,
    due: datetime | None = None,
    key: str | None = None,
    late: timedelta | None = None,
) -> tuple[Event, ...]:
    return about_run(
        EventType.TRIGGER_RECOVERED,
        run,
        config.pipeline,
        f"the watchdog {_HOW[how]}",
        parts=(run.attempt, how),
        how=how,
        due=None if due is None else spell(due),
        key=key,
        lateBy=None if late is None else duration.for_people(late),
    )


def _tell_missed(finding: Missed, config: Config, now: datetime, ports: Ports) -> None:
    key, schedule = finding.key, config.pipeline.schedule(finding.key.schedule_id)
    if schedule.cron is not None:
        kind = EventType.SCHEDULE_MISSED
        detail: dict[str, Any] = {
            "cron": schedule.cron,
            "timezone": schedule.timezone,
            "due": spell(finding.due_at),
            "grace": schedule.grace,
            "cause": finding.cause,
            "notWatched": None if finding.not_watched is None else spell(finding.not_watched),
        }
    else:
        kind = EventType.IRREGULAR_SCHEDULE_MISSED
        detail = {"due": spell(finding.due_at), "trigger": _trigger_state(key, config, now, ports)}
    told, *former = (
        about_date(
            kind,
            subject(config.pipeline, each),
            now,
            f"missed schedule for {key.pipeline_id} on {key.date}",
            **detail,
        )
        for each in (key, *former_keys(key, config.pipeline))
    )
    before = [event.event_id for events in former for event in events]
    if before and ports.claims.is_claimed(before):
        return  # it was told while the schedule had another id
    for event in told:
        claim_event(event, ports)


def _close(finding: Close, config: Config, now: datetime, ports: Ports) -> None:
    """A row that is closed from the start: the lock of a date that nothing may open by itself. An hour
    that nobody expects is left alone.
    """
    if is_covered(finding.key, config, ports):
        return
    key, schedule = finding.key, config.pipeline.schedule(finding.key.schedule_id)
    assert schedule.trigger is not None
    sla = inherited(find_watch(key, config.pipeline, ports))
    opening = Opening(key, OpenedBy.RECOVERY, "deadline", now)
    opened = first_attempt(opening, config, ports.lease, sla)
    closed = msgspec.structs.replace(
        opened,
        status=Status.FAILED_FINAL,
        sla_armed=sla.armed,
        failure=Failure("deadline", "no reading passed the trigger before its deadline"),
    )
    events = about_date(
        EventType.SENSOR_DEADLINE_EXPIRED,
        subject(config.pipeline, key),
        now,
        f"no {schedule.trigger.rule.key} by the trigger deadline {schedule.trigger.deadline}",
        triggerDeadline=schedule.trigger.deadline,
        deadlineAt=spell(finding.deadline_at),
        trigger=_trigger_state(key, config, now, ports),
    )
    ports.runs.open(closed, events)  # lost: a run came first, fine
    publish_outbox(key, ports)
    arm_deadlines(key, config, ports)


def _trigger_state(key: RunKey, config: Config, now: datetime, ports: Ports) -> object:
    """How the trigger fares on the newest reading of the date."""
    trigger = config.pipeline.schedule(key.schedule_id).trigger
    if trigger is None:
        return None
    rule = trigger.rule
    readings = readings_for(key, config.pipeline, ports, frozenset({rule.key}))
    return rule_records([judge_one(rule, readings.get(rule.key), now)], now)[0]


def _tell_post_run_missing(
    finding: PostRunMissing, config: Config, now: datetime, ports: Ports
) -> None:
    run, post_run = finding.run, config.pipeline.post_run
    assert post_run is not None

    def decide(stored: Run) -> RunWrite | None:
        if stored.attempt != run.attempt or stored.post_run.missing_judged:
            return None
        state = msgspec.structs.replace(stored.post_run, missing_judged=True)
        noted = stored.changed(now, post_run=state)
        if not finding.missing:
            return RunWrite(noted)
        return RunWrite(
            noted,
            about_run(
                EventType.POST_RUN_SENSOR_MISSING,
                noted,
                config.pipeline,
                f"post-run sensor not received within {post_run.sensor_timeout} of completion: "
                + ", ".join(finding.missing),
                missing=list(finding.missing),
                sensorTimeout=post_run.sensor_timeout,
                completedAt=None if run.completed_at is None else spell(run.completed_at),
                lastSeen={key: spell(at) for key, at in stored.post_run.seen.items()} or None,
            ),
        )

    save_run(run.key, decide, ports)


#: What there is to say of an execution that ended and said nothing.
_BROKE_OFF = Breakdown("Execution", "the execution ended without finishing the run")

_HOW = {
    "restart": "started the attempt",
    "completion": "completed the run from the job log",
    "follow-up": "finished what the completion leads to",
    "resume": "started another execution, which continues the attempt",
    "reading": "acted on a reading that had no effect yet",
    "late-fire": "fired a schedule late",
}
