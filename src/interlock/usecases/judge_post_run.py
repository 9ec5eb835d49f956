"""Judge post-run: what a reading after the launch says about a run's result."""

from datetime import datetime
from typing import Any

import msgspec

from interlock.domain.aftermath import Drifted, drifts, outcome
from interlock.domain.event import Event, EventType
from interlock.domain.pipeline import Pipeline, PostRun
from interlock.domain.rules import Verdict, explain
from interlock.domain.run import Evidence, PostRunState, Run, RunKey, Status
from interlock.domain.sensor import Reading
from interlock.domain.telling import about_run
from interlock.ports import Ports
from interlock.usecases.evidence import readings_for, rule_records
from interlock.usecases.note_late_data import rerun_request
from interlock.usecases.save_run import Write, save_run


def judge_post_run(
    key: RunKey, reading: Reading, rule_key: str, pipeline: Pipeline, ports: Ports
) -> Run:
    """Tell of drift and of changed outcomes, once each; drift asks for a rerun in the same write."""
    post_run = pipeline.post_run
    assert post_run is not None
    now = ports.clock()

    def decide(run: Run) -> Write | None:
        keys = frozenset(rule.key for rule in post_run.rules)
        readings = readings_for(run.key, pipeline, ports, keys) | {rule_key: reading}
        if run.status is Status.RUNNING:
            return _in_flight(run, {rule_key: reading}, pipeline, post_run, now)
        if run.status is not Status.COMPLETED:
            return None
        baseline = ports.runs.baseline(run.key)
        before = {} if baseline is None or baseline.attempt != run.attempt else baseline.readings
        return _after(run, rule_key, readings, before, pipeline, post_run, now)

    return save_run(key, decide, ports)


def _in_flight(
    run: Run,
    readings: dict[str, Reading],
    pipeline: Pipeline,
    post_run: PostRun,
    now: datetime,
) -> Write | None:
    for drifted in drifts(post_run, readings, run.evidence):
        mark = f"inflight:{drifted.reading.key}:{drifted.reading.version}"
        if mark in run.post_run.told:
            continue
        noted = run.changed(now, post_run=_told(run.post_run, mark))
        return Write(
            noted,
            _drift_event(EventType.POST_RUN_DRIFT_INFLIGHT, noted, drifted, pipeline, post_run),
        )
    return None


def _after(
    run: Run,
    rule_key: str,
    readings: dict[str, Reading],
    before: dict[str, Evidence],
    pipeline: Pipeline,
    post_run: PostRun,
    now: datetime,
) -> Write | None:
    state = _seen(run.post_run, rule_key, readings[rule_key])
    for drifted in drifts(post_run, {rule_key: readings[rule_key]}, before):
        mark = f"drift:{drifted.reading.key}:{drifted.reading.version}"
        if mark in state.told:
            return None
        noted = run.changed(now, post_run=_told(state, mark))
        events = _drift_event(EventType.POST_RUN_DRIFT, noted, drifted, pipeline, post_run)
        return Write(noted, events, {"request": rerun_request(run.key, "data-drift", noted)})
    return _outcome(run, state, outcome(post_run, readings, now), pipeline, now)


def _outcome(
    run: Run, state: PostRunState, verdict: Verdict, pipeline: Pipeline, now: datetime
) -> Write | None:
    word = "passed" if verdict.ready else "failed"
    if word == state.outcome:
        return None if state == run.post_run else Write(run.changed(now, post_run=state))
    state = msgspec.structs.replace(state, outcome=word, n=state.n + 1)
    noted = run.changed(now, post_run=state)
    if verdict.ready:
        kind, message = EventType.POST_RUN_PASSED, "post-run rules hold"
        detail: dict[str, Any] = {"results": rule_records(verdict.results, now)}
    else:
        kind, message = EventType.POST_RUN_FAILED, explain(verdict.failing[0], now)
        detail = {
            "failing": rule_records(verdict.failing, now),
            "passing": rule_records(verdict.passing, now),
        }
    return Write(
        noted, about_run(kind, noted, pipeline, message, parts=(run.attempt, state.n), **detail)
    )


def _seen(state: PostRunState, rule_key: str, reading: Reading) -> PostRunState:
    if state.seen.get(rule_key) == reading.received_at:
        return state
    return msgspec.structs.replace(state, seen={**state.seen, rule_key: reading.received_at})


def _told(state: PostRunState, mark: str) -> PostRunState:
    return msgspec.structs.replace(state, told=(*state.told, mark))


def _drift_event(
    kind: EventType, run: Run, drifted: Drifted, pipeline: Pipeline, post_run: PostRun
) -> tuple[Event, ...]:
    reading, found = drifted.reading, drifted.drift
    return about_run(
        kind,
        run,
        pipeline,
        f"{reading.key}.{found.field} moved from {found.baseline} to {found.current}",
        parts=(run.attempt, reading.key, reading.version[:12]),
        sensorKey=reading.key,
        driftField=found.field,
        baseline=found.baseline,
        current=found.current,
        delta=found.delta,
        driftThreshold=post_run.drift_threshold,
        rerunRequested=kind is EventType.POST_RUN_DRIFT,
    )
