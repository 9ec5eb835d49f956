"""Complete a run: give it its end from the job log, and do what follows from it."""

from datetime import datetime

from interlock.domain import canonical, duration
from interlock.domain.drift import drift_field
from interlock.domain.event import Event, EventType, clean
from interlock.domain.launch import launch_of
from interlock.domain.opening import instants, projection
from interlock.domain.pipeline import Pipeline, PostRun
from interlock.domain.rules import field_value
from interlock.domain.run import Evidence, Failure, Run, RunKey, Status
from interlock.domain.sla import BREACHES
from interlock.domain.telling import about_run
from interlock.domain.timestamp import spell
from interlock.ports import Baseline, JobRecord, Ports
from interlock.usecases.cascade import cascade
from interlock.usecases.evidence import as_evidence, readings_for
from interlock.usecases.job_ending import ending_of, failure_of, retry_of
from interlock.usecases.judge_post_run import judge_post_run
from interlock.usecases.note_late_data import note_late_data
from interlock.usecases.save_run import Write, save_run

#: What a row can hold beside its own attributes, on every store.
LARGEST_BASELINE = 350 * 1024


def complete_run(
    key: RunKey,
    attempt: int,
    pipeline: Pipeline,
    ports: Ports,
    ending: JobRecord | None = None,
) -> Run:
    """Return the run as it stands. A repeat does again what follows from the end: the readings,
    baselines and events are the same ones. `ending` is what somebody has read in the job log.
    """
    now = ports.clock()
    records = ports.job_log.of_run(key) if ending is None else [ending]

    def decide(run: Run) -> Write | None:
        launch = launch_of(run)
        found = None if launch is None else ending_of(launch, records)
        if run.attempt != attempt or found is None:
            return None
        if found.event == "success":
            return _completed(run, found, pipeline, now, ports)
        return _failed(run, found, pipeline, now)

    run = save_run(key, decide, ports)
    if run.attempt == attempt and run.status is Status.COMPLETED:
        _follow_up(run, pipeline, ports)
    return run


def _follow_up(run: Run, pipeline: Pipeline, ports: Ports) -> None:
    """What a completion gives rise to: downstream readings, and changes made while the job ran."""
    cascade(run, pipeline, ports)
    watched = {rule.key for rule in pipeline.post_run.rules} if pipeline.post_run else set()
    trigger = pipeline.schedule(run.key.schedule_id).trigger
    opening = set() if trigger is None else {trigger.rule.key} - watched
    keys = frozenset(watched & run.evidence.keys() | opening)
    readings = readings_for(run.key, pipeline, ports, keys) if keys else {}
    for key in sorted(readings.keys() - opening):
        if run.evidence[key].version != readings[key].version:
            judge_post_run(run.key, readings[key], key, pipeline, ports)
    for key in readings.keys() & opening:
        note_late_data(run.key, readings[key], pipeline, ports)


def _completed(
    run: Run, ending: JobRecord, pipeline: Pipeline, now: datetime, ports: Ports
) -> Write:
    post_run = pipeline.post_run
    timeout = None if post_run is None else duration.parse(post_run.sensor_timeout)
    done = run.to(
        Status.COMPLETED,
        now,
        completed_at=ending.at,
        post_run_due_at=None if timeout is None else ending.at + timeout,
    )
    events = _completed_events(done, pipeline)
    if post_run is None:
        return Write(done, events)
    try:
        baseline = Baseline(run.attempt, _baseline(run, pipeline, ports))
    except ValueError as error:
        return Write(done, events + _not_captured(done, str(error), pipeline))
    captured = _captured(done, baseline, pipeline, post_run)
    return Write(done, events + captured, {"baseline": baseline})


def _baseline(run: Run, pipeline: Pipeline, ports: Ports) -> dict[str, Evidence]:
    """The post-run readings as the job saw them; those it did not use, as they are now.

    Raises ValueError for readings that can't be read, or are too large to be kept.
    """
    assert pipeline.post_run is not None
    keys = frozenset(rule.key for rule in pipeline.post_run.rules)
    now = as_evidence(readings_for(run.key, pipeline, ports, keys - run.evidence.keys()))
    kept = now | {key: run.evidence[key] for key in keys & run.evidence.keys()}
    sizes = {key: len(canonical.encode(seen)) for key, seen in kept.items()}
    if sum(sizes.values()) > LARGEST_BASELINE:
        largest = max(sizes, key=lambda key: sizes[key])
        raise ValueError(f"the readings are too large to keep, {largest} most of all")
    return kept


def _captured(
    run: Run, baseline: Baseline, pipeline: Pipeline, post_run: PostRun
) -> tuple[Event, ...]:
    watched = dict.fromkeys((rule.key, drift_field(post_run, rule)) for rule in post_run.rules)
    return about_run(
        EventType.POST_RUN_BASELINE_CAPTURED,
        run,
        pipeline,
        f"baseline stored, readings in it: {len(baseline.readings)}",
        baseline=[
            {"key": key, "field": field, "value": field_value(seen.fields, field or "")}
            for key, field in watched
            if (seen := baseline.readings.get(key)) is not None
        ],
    )


def _not_captured(run: Run, error: str, pipeline: Pipeline) -> tuple[Event, ...]:
    return about_run(
        EventType.BASELINE_CAPTURE_FAILED,
        run,
        pipeline,
        f"no baseline was stored: {error}",
        error=clean(error),
    )


def _completed_events(run: Run, pipeline: Pipeline) -> tuple[Event, ...]:
    assert run.completed_at is not None
    took = run.completed_at - (run.launched_at or run.completed_at)
    breaches = [at for kind, at in instants(run).items() if kind in BREACHES]
    late = run.completed_at - min(breaches) if breaches else None
    if run.key.dry:
        launched_at = run.launched_at or run.completed_at
        projected = projection(run, pipeline, launched_at)
        return about_run(
            EventType.DRY_RUN_COMPLETED,
            run,
            pipeline,
            "the date is closed",
            triggeredAt=spell(launched_at),
            slaStatus=None if projected is None else projected.status,
        )
    return about_run(
        EventType.JOB_COMPLETED,
        run,
        pipeline,
        f"the job succeeded after {duration.for_people(took)}",
        runId=run.run_id,
        durationSeconds=int(took.total_seconds()),
        attempts=run.attempt + 1,
        lateBy=None if late is None or late.total_seconds() < 0 else duration.for_people(late),
    )


def _failed(run: Run, ending: JobRecord, pipeline: Pipeline, now: datetime) -> Write:
    retry = retry_of(ending, run, pipeline.job)
    failure = run.failure or failure_of(ending)
    if retry.due_at is not None:
        return Write(run.to(Status.FAILED, now, failure=failure, retry_at=retry.due_at))
    done = run.to(Status.FAILED_FINAL, now, failure=failure)
    if ending.stopped or ending.final:
        return Write(done)
    return Write(done, _exhausted(done, failure, retry.budget.spent, retry.budget.max, pipeline))


def _exhausted(
    run: Run, failure: Failure, spent: int, allowed: int, pipeline: Pipeline
) -> tuple[Event, ...]:
    return about_run(
        EventType.RETRY_EXHAUSTED,
        run,
        pipeline,
        f"no retries left ({spent} of {allowed} spent): {failure.message}",
        parts=(run.attempt, "job"),
        kind="job",
        category=failure.category,
        spent=spent,
        max=allowed,
        lastError=failure.message,
        runId=run.run_id,
    )
