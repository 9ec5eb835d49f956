"""Evaluate: judge the rules of an open run once, and keep the evidence."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from interlock.domain import duration
from interlock.domain.admission import passes
from interlock.domain.event import Event, EventType
from interlock.domain.opening import window_end
from interlock.domain.pipeline import Schedule
from interlock.domain.places import LOOK
from interlock.domain.rule_text import obstacle_lines
from interlock.domain.rules import Verdict, judge_date
from interlock.domain.run import Judgement, Run, RunKey, Status
from interlock.domain.run_events import about_run
from interlock.domain.sensor import Reading
from interlock.domain.stability import NOT_STABLE
from interlock.lifecycle.step import Step, config_of, seconds_until
from interlock.usecases.evidence import as_evidence, judged_readings, rule_records
from interlock.usecases.hand_over import has_waited_long, tell_handover
from interlock.usecases.note_first_sensor import note_first_sensor
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run
from interlock.usecases.take_place import leave_place, take_place


class EvaluationLook(msgspec.Struct, frozen=True):
    """What one look at an open run shows: how its rules fare, in time or not, and who is before it."""

    at: datetime
    verdict: Verdict
    ready: bool
    behind: tuple[RunKey, ...]
    readings: dict[str, Reading]


def evaluate(step: Step, ports: Ports) -> dict[str, Any]:
    """A repeat after a passing evaluation answers from its record: the evidence does not change.

    Rules that hold while no place is free are judged again until one is: a launch requires a verdict made
    while holding its place.
    """
    now = ports.clock()
    verdict: Verdict | None = None
    first: Reading | None = None

    def decide(run: Run) -> RunWrite | None:
        nonlocal verdict, first
        if not _is_asked(step, run):
            return None
        schedule = step.pipeline.schedule(run.key.schedule_id)
        readings = judged_readings(run.key, step.pipeline, ports, run)
        verdict = judge_date(step.pipeline, schedule, readings, now, run.verdict)
        if first is None and run.first_sensor_at is None:
            first = _opening_reading(schedule, readings, run, now)
        in_time = now < _until(step, run) or run.verdict is None or bool(run.waits_for)
        ready = verdict.ready and in_time
        if ready:
            behind = take_place(run, step.pipeline, now, ports)
        else:
            behind = leave_place(run, step.pipeline, ports)
        look = EvaluationLook(now, verdict, ready, behind, readings)
        noted = _noted(run, look, step)
        if noted.waits_for and has_waited_long(noted, step.pipeline, now, ports):
            noted = noted.handed_over(now, ports.lease)
        return RunWrite(noted, _passed(noted, step) if ready and run.waits_at is None else ())

    run = save_run(step.key, decide, ports)
    if first is not None and step.pipeline.sla is not None and step.pipeline.sla.max_duration:
        run = note_first_sensor(step.key, first, config_of(step, ports), ports)
    if not step.owns(run):
        tell_handover(run, ports)
    results = () if verdict is None else verdict.results
    failing = [line.text for line in obstacle_lines(results, now)]
    return _answer(step, run, failing, now)


def _is_asked(step: Step, run: Run) -> bool:
    """Whether this execution has a run to judge."""
    waits = run.status is Status.PENDING and not _has_passed(run)
    return step.is_current(run) and step.owns(run) and waits


def _opening_reading(
    schedule: Schedule, readings: dict[str, Reading], run: Run, now: datetime
) -> Reading | None:
    """The trigger reading of a date that its cron moment opened; a reading from before counts from that
    moment.
    """
    reading = None if schedule.gate is None else readings.get(schedule.gate.key)
    if reading is None or not passes(schedule, reading, now):
        return None
    return msgspec.structs.replace(reading, received_at=max(reading.received_at, run.opened_at))


def _has_passed(run: Run) -> bool:
    return run.verdict is not None and run.verdict.ready


def _noted(run: Run, look: EvaluationLook, step: Step) -> Run:
    now, ready, behind, readings = look.at, look.ready, look.behind, look.readings
    passed = ready and not behind
    waits = bool(behind) and (ready or run.waits_at is not None)
    # When the wait ends without a launch, the rules get their full window from now.
    has_waited = waits or (bool(run.waits_for) and not passed)
    before = run.verdict
    judgement = Judgement(
        now,
        passed,
        rule_records(look.verdict.results, now, () if before is None else before.results),
        1 if before is None else before.evaluations + 1,
    )
    return run.changed(
        now,
        started_at=run.started_at or now,
        verdict=judgement,
        trigger_version=_trigger_version(run, readings, step),
        evidence=as_evidence(readings) if passed else {},
        ready_at=run.ready_at or (now if ready else None),
        waits_at=now if has_waited else run.waits_at,
        waits_for=behind if waits else (),
    )


def _trigger_version(run: Run, readings: dict[str, Reading], step: Step) -> str | None:
    trigger = step.pipeline.schedule(run.key.schedule_id).trigger
    seen = None if trigger is None else readings.get(trigger.rule.key)
    return run.trigger_version if seen is None else seen.version


def _passed(run: Run, step: Step) -> tuple[Event, ...]:
    assert run.verdict is not None
    waited = int((run.changed_at - run.opened_at).total_seconds())
    return about_run(
        EventType.VALIDATION_PASSED,
        run,
        step.pipeline,
        "the rules hold",
        results=run.verdict.results,
        waitedSeconds=waited,
        evaluations=run.verdict.evaluations,
    )


def _answer(step: Step, run: Run, failing: list[str], now: datetime) -> dict[str, Any]:
    current = step.is_current(run) and step.owns(run)
    passed = current and (_has_passed(run) or run.status is not Status.PENDING)
    until = _until(step, run)
    exhausted = now >= until and not run.waits_for
    return {
        "current": current,
        "passed": passed,
        "exhausted": exhausted,
        "waitSeconds": 0 if exhausted else _wait(step, run, now, until),
        "elapsedSeconds": int((now - step.moment("openedAt")).total_seconds()),
        "failing": failing,
    }


def _until(step: Step, run: Run) -> datetime:
    """The latest time for the rules to hold; waiting for a place extends it."""
    end = step.moment("windowEnd")
    return end if run.waits_at is None else max(end, window_end(run, step.pipeline))


def _wait(step: Step, run: Run, now: datetime, until: datetime) -> int:
    every = step.pipeline.schedule(step.key.schedule_id).evaluation.every
    if run.waits_for:
        return seconds_until(now + min(every, LOOK), now)
    looks = [now + every, until, *_stable_at(run, now)]
    return min(seconds_until(at, now) for at in looks)


def _stable_at(run: Run, now: datetime) -> Iterator[datetime]:
    """When the rules that hold, but not yet for long enough, will have done so."""
    for record in () if run.verdict is None else run.verdict.results:
        if record.kind == NOT_STABLE and record.since is not None and record.stable_for is not None:
            yield max(record.since + duration.parse(record.stable_for), now)
