"""Catch up on a date: what the watchdog does about readings, moments and deadlines that had no effect.

Every write is conditional on what was found, and may be made twice, or by two passes at once.
"""

from datetime import datetime
from typing import Any

import msgspec

from interlock.domain.config import Config
from interlock.domain.event import EventType, subject
from interlock.domain.findings import (
    Admit,
    ArmDeadline,
    Close,
    FireLate,
    JudgeDeadline,
    LookAgain,
    Missed,
    PostRunMissing,
)
from interlock.domain.opening import Opening, first_attempt, inherited
from interlock.domain.rules import judge_one
from interlock.domain.run import Failure, OpenedBy, Run, RunKey, Status
from interlock.domain.run_events import about_date, about_run
from interlock.domain.sla import asks_first
from interlock.domain.timestamp import spell
from interlock.usecases.admit_reading import act_on
from interlock.usecases.arm_deadlines import arm_deadlines
from interlock.usecases.claim_event import claim_event
from interlock.usecases.evidence import readings_for, rule_records
from interlock.usecases.find_runs import find_watch, former_keys
from interlock.usecases.fire_deadline import fire_deadline, is_covered
from interlock.usecases.judge_post_run import judge_again
from interlock.usecases.open_run import deadline_timer, open_run
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.recover_run import recovery_events
from interlock.usecases.save_run import RunWrite, save_run


def admit_found(finding: Admit, config: Config, now: datetime, ports: Ports) -> None:
    """What the ordinary path would have done, told as recovered in the write that opens something."""
    key = finding.reading.key
    act_on(
        finding.admission,
        config,
        now,
        ports,
        recovered=lambda run: recovery_events(run, "reading", config, key=key),
    )


def fire_late(finding: FireLate, config: Config, now: datetime, ports: Ports) -> None:
    due_at = finding.due_at
    open_run(
        Opening(finding.key, OpenedBy.CRON, "", now, due_at=due_at),
        config,
        ports,
        recovered=lambda run: recovery_events(
            run, "late-fire", config, due=due_at, late=now - due_at
        ),
    )


def tell_missed(finding: Missed, config: Config, now: datetime, ports: Ports) -> None:
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


def close_date(finding: Close, config: Config, now: datetime, ports: Ports) -> None:
    """A row that is closed from the start: the lock of a date that nothing may open by itself. An hour
    that is not expected is left alone.
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


def arm_found(finding: ArmDeadline, config: Config, now: datetime, ports: Ports) -> None:
    arm_deadlines(finding.key, config, ports)


def judge_deadline(finding: JudgeDeadline, config: Config, now: datetime, ports: Ports) -> None:
    """A moment before which a job must be asked is left to its timer: a pass waits for no platform."""
    key, kind = finding.key, finding.kind
    if asks_first(kind, ports.runs.find([key]).get(key)):
        ports.timers.arm([deadline_timer(key, kind, now)])
    else:
        fire_deadline(key, kind, ports)


def tell_post_run_missing(
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


def look_again(finding: LookAgain, config: Config, now: datetime, ports: Ports) -> None:
    judge_again(finding.run.key, finding.run.attempt, ports)


def _trigger_state(key: RunKey, config: Config, now: datetime, ports: Ports) -> object:
    """How the trigger fares on the newest reading of the date."""
    trigger = config.pipeline.schedule(key.schedule_id).trigger
    if trigger is None:
        return None
    rule = trigger.rule
    readings = readings_for(key, config.pipeline, ports, frozenset({rule.key}))
    return rule_records([judge_one(rule, readings.get(rule.key), now)], now)[0]
