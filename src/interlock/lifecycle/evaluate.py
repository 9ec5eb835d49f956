"""Evaluate: judge the rules of an open run once, and keep what was seen."""

from datetime import datetime
from typing import Any

from interlock.domain.event import Event, EventType
from interlock.domain.rules import Verdict, explain, judge
from interlock.domain.run import Judgement, Run, Status
from interlock.domain.sensor import Reading
from interlock.domain.telling import about_run
from interlock.lifecycle.step import Step, seconds_until
from interlock.ports import Ports
from interlock.usecases.evidence import as_evidence, judged_keys, readings_for, rule_records
from interlock.usecases.save_run import Write, save_run


def evaluate(step: Step, ports: Ports) -> dict[str, Any]:
    """A repeat after a passing evaluation answers from its record: the evidence is what it is."""
    now, window_end = ports.clock(), step.moment("windowEnd")
    verdict: Verdict | None = None

    def decide(run: Run) -> Write | None:
        nonlocal verdict
        if not step.is_current(run) or run.status is not Status.PENDING or _has_passed(run):
            return None
        readings = readings_for(
            run.key, step.pipeline, ports, judged_keys(step.pipeline, run.key.schedule_id)
        )
        rules = step.pipeline.validation
        verdict = judge(rules.rules, readings, now, rules.trigger)
        counts = now < window_end or run.verdict is None
        return _record(run, verdict, counts, readings, step, now)

    run = save_run(step.key, decide, ports)
    failing = [] if verdict is None else [explain(result, now) for result in verdict.failing]
    return _answer(step, run, failing, now, window_end)


def _has_passed(run: Run) -> bool:
    return run.verdict is not None and run.verdict.ready


def _record(
    run: Run,
    verdict: Verdict,
    counts: bool,
    readings: dict[str, Reading],
    step: Step,
    now: datetime,
) -> Write:
    passed = verdict.ready and counts
    before = run.verdict
    judgement = Judgement(
        now,
        passed,
        rule_records(verdict.results, now, () if before is None else before.results),
        1 if before is None else before.evaluations + 1,
    )
    noted = run.changed(
        now,
        started_at=run.started_at or now,
        verdict=judgement,
        trigger_version=_trigger_version(run, readings, step),
        evidence=as_evidence(readings) if passed else {},
    )
    return Write(noted, _passed(noted, step) if passed else ())


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


def _answer(
    step: Step, run: Run, failing: list[str], now: datetime, window_end: datetime
) -> dict[str, Any]:
    current = step.is_current(run)
    passed = current and (_has_passed(run) or run.status is not Status.PENDING)
    exhausted = now >= window_end
    every = step.pipeline.schedule(step.key.schedule_id).evaluation.every
    wait = min(seconds_until(now + every, now), seconds_until(window_end, now))
    return {
        "current": current,
        "passed": passed,
        "exhausted": exhausted,
        "waitSeconds": 0 if exhausted else wait,
        "elapsedSeconds": int((now - step.moment("openedAt")).total_seconds()),
        "failing": failing,
    }
