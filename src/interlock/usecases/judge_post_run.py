"""Judge post-run: what a reading after the launch, or the passing of time, says about a run's result."""

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any

import msgspec

from interlock.domain.event import Event, EventType
from interlock.domain.pipeline import Pipeline, PostRun
from interlock.domain.post_run import (
    Drifted,
    came_since,
    drifts,
    looks_again_at,
    outcome,
    post_run_keys,
    post_run_window,
    watched_keys,
)
from interlock.domain.rule_text import explain
from interlock.domain.rules import Verdict
from interlock.domain.run import Evidence, PostRunState, Run, RunKey, Status
from interlock.domain.run_events import about_run
from interlock.domain.sensor import Reading
from interlock.domain.timer import Timer, TimerKind
from interlock.domain.timestamp import spell
from interlock.usecases.capture_baseline import capture_baseline
from interlock.usecases.evidence import as_evidence, readings_for, rule_records
from interlock.usecases.note_late_data import rerun_request
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run


def judge_post_run(
    key: RunKey, reading: Reading, rule_key: str, pipeline: Pipeline, ports: Ports
) -> Run:
    """Report drift and changed outcomes, once each; drift requests a rerun in the same write.

    The first reading of a key without a baseline becomes its baseline.
    """
    post_run = pipeline.post_run
    assert post_run is not None
    now = ports.clock()

    def decide(run: Run) -> RunWrite | None:
        if run.status is Status.RUNNING:
            return _in_flight(run, {rule_key: reading}, pipeline, post_run, now)
        if run.status is not Status.COMPLETED or run.mark is not None:
            return None
        noted = run.changed(now, post_run=_seen(run.post_run, rule_key, reading))
        baseline = _baseline(run, ports)
        drifted = next(drifts(post_run, {rule_key: reading}, baseline), None)
        if drifted is not None:
            return _drift(run, noted, drifted, pipeline, post_run)
        verdict = _verdict(noted, pipeline, post_run, now, ports, {rule_key: reading})
        if rule_key not in baseline:
            kept = baseline | as_evidence({rule_key: reading})
            return _judged(
                capture_baseline(RunWrite(noted), kept, pipeline), verdict, pipeline, now
            )
        write = _judged(RunWrite(noted), verdict, pipeline, now)
        return None if write.run.post_run == run.post_run else write

    return save_run(key, decide, ports)


def judge_again(key: RunKey, attempt: int, ports: Ports) -> Run | None:
    """Another look is due: judge the rules that depend on age and, when the window is over, publish the
    result. The next look is armed before this one is recorded. None when there is nothing to look at.
    """
    config = ports.pipelines.find(key.pipeline_id)
    now = ports.clock()
    if config is None or key not in ports.runs.find([key]):
        return None
    pipeline, post_run = config.pipeline, config.pipeline.post_run

    def decide(run: Run) -> RunWrite | None:
        due = run.post_run_look_at
        if run.attempt != attempt or run.status is not Status.COMPLETED or not due or now < due:
            return None
        if config.is_retired or post_run is None or not pipeline.has_schedule(key.schedule_id):
            return RunWrite(run.changed(now, post_run_look_at=None))
        look_at = looks_again_at(run.completed_at or due, post_run, now)
        noted = run.changed(now, post_run_look_at=look_at)
        if look_at is not None:
            ports.timers.arm([look_timer(key, attempt, look_at)])
        verdict = _verdict(run, pipeline, post_run, now, ports)
        write = _judged(RunWrite(noted), verdict, pipeline, now)
        if look_at is not None:
            return write
        return RunWrite(
            write.run, (*write.events, *_ended(write.run, verdict, pipeline, now, ports))
        )

    return save_run(key, decide, ports)


def look_timer(key: RunKey, attempt: int, at: datetime) -> Timer:
    """The timer of a run's next look; its name contains its moment, so that a look can arm the next."""
    return Timer(
        f"post-run.{key.pipeline_id}.{key.schedule_id}.{key.date}.{attempt}.{int(at.timestamp())}",
        TimerKind.POST_RUN,
        at,
        {
            "timer": "post-run",
            "pipelineId": key.pipeline_id,
            "scheduleId": key.schedule_id,
            "date": key.date,
            "attempt": attempt,
        },
    )


def _verdict(
    run: Run,
    pipeline: Pipeline,
    post_run: PostRun,
    now: datetime,
    ports: Ports,
    news: Mapping[str, Reading] = MappingProxyType({}),
) -> Verdict | None:
    """The verdict on the readings that belong to this attempt. Where another date's reading has replaced
    one, the result of its rule is unknown.
    """
    stored = readings_for(run.key, pipeline, ports, post_run_keys(pipeline), run)
    found = {**stored, **news}
    readings = came_since(run, found)
    seen = run.post_run.seen.keys() - (found.keys() - readings.keys())
    return outcome(post_run, readings, seen, now)


def _baseline(run: Run, ports: Ports) -> dict[str, Evidence]:
    """The baseline of this attempt; empty when nothing has been captured yet."""
    found = ports.runs.baseline(run.key)
    return {} if found is None or found.attempt != run.attempt else found.readings


def _in_flight(
    run: Run,
    readings: dict[str, Reading],
    pipeline: Pipeline,
    post_run: PostRun,
    now: datetime,
) -> RunWrite | None:
    for drifted in drifts(post_run, readings, run.evidence):
        mark = f"inflight:{drifted.reading.key}:{drifted.reading.version}"
        if mark in run.post_run.told:
            continue
        noted = run.changed(now, post_run=_told(run.post_run, mark))
        return RunWrite(
            noted,
            _drift_event(EventType.POST_RUN_DRIFT_INFLIGHT, noted, drifted, pipeline, post_run),
        )
    return None


def _drift(
    run: Run, noted: Run, drifted: Drifted, pipeline: Pipeline, post_run: PostRun
) -> RunWrite | None:
    mark = f"drift:{drifted.reading.key}:{drifted.reading.version}"
    if mark in run.post_run.told:
        return None
    noted = msgspec.structs.replace(noted, post_run=_told(noted.post_run, mark))
    events = _drift_event(EventType.POST_RUN_DRIFT, noted, drifted, pipeline, post_run)
    return RunWrite(noted, events, {"request": rerun_request(run.key, "data-drift", noted)})


def _judged(
    write: RunWrite, verdict: Verdict | None, pipeline: Pipeline, now: datetime
) -> RunWrite:
    """The write with the outcome, and its event if the outcome has changed."""
    word = None if verdict is None else "passed" if verdict.ready else "failed"
    state = write.run.post_run
    if verdict is None or word == state.outcome:
        return write
    state = msgspec.structs.replace(state, outcome=word, n=state.n + 1)
    noted = msgspec.structs.replace(write.run, post_run=state)
    if verdict.ready:
        kind, message = EventType.POST_RUN_PASSED, "post-run rules hold"
        detail: dict[str, Any] = {"results": rule_records(verdict.results, now)}
    else:
        kind, message = EventType.POST_RUN_FAILED, explain(verdict.failing[0], now)
        detail = {
            "failing": rule_records(verdict.failing, now),
            "passing": rule_records(verdict.passing, now),
        }
    told = about_run(kind, noted, pipeline, message, parts=(noted.attempt, state.n), **detail)
    return RunWrite(noted, (*write.events, *told), write.also)


def _ended(
    run: Run, verdict: Verdict | None, pipeline: Pipeline, now: datetime, ports: Ports
) -> tuple[Event, ...]:
    assert pipeline.post_run is not None and run.completed_at is not None
    seen, baseline = run.post_run.seen, _baseline(run, ports)
    keys = watched_keys(pipeline.post_run)
    unseen = [key for key in keys if key not in seen and key not in baseline]
    return about_run(
        EventType.POST_RUN_ENDED,
        run,
        pipeline,
        f"the post-run window is over, last outcome: {run.post_run.outcome or 'none'}",
        outcome=run.post_run.outcome,
        results=None if verdict is None else rule_records(verdict.results, now),
        seen={key: spell(at) for key, at in seen.items()} or None,
        unseen=unseen or None,
        windowEnd=spell(run.completed_at + post_run_window(pipeline.post_run)),
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
