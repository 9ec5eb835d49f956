"""Complete a run: set its outcome from the job log, and do what follows from it."""

from datetime import datetime

import msgspec

from interlock.domain import duration
from interlock.domain.admission import trigger_keys
from interlock.domain.budgets import Budget
from interlock.domain.event import Event, EventType
from interlock.domain.job_record import JobRecord
from interlock.domain.launch import launch_of
from interlock.domain.opening import instants, projection
from interlock.domain.pipeline import Pipeline
from interlock.domain.post_run import came_since, is_measured, looks_again_at, post_run_keys
from interlock.domain.run import Evidence, Failure, Run, RunKey, Status
from interlock.domain.run_events import about_run
from interlock.domain.sensor import Reading, UnreadableReading
from interlock.domain.sla import BREACHES
from interlock.domain.timestamp import spell
from interlock.usecases.capture_baseline import capture_baseline, not_captured
from interlock.usecases.cascade import cascade
from interlock.usecases.evidence import as_evidence, readings_for
from interlock.usecases.job_ending import dated, ending_of, failure_of, retry_of
from interlock.usecases.judge_post_run import judge_post_run
from interlock.usecases.note_late_data import note_late_data
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run
from interlock.usecases.take_place import call_next


def complete_run(
    key: RunKey,
    attempt: int,
    pipeline: Pipeline,
    ports: Ports,
    ending: JobRecord | None = None,
) -> Run:
    """Return the run as it stands. A repeat does again what follows from the outcome: the readings,
    baselines and events are the same. `ending` is the job log's record if the caller has read it.
    """
    now = ports.clock()
    records = ports.job_log.of_run(key) if ending is None else [ending]

    def decide(run: Run) -> RunWrite | None:
        launch = launch_of(run)
        found = None if launch is None else ending_of(launch, records)
        if run.attempt != attempt or found is None:
            return None
        if found.event == "success":
            return _completed(run, dated(found, run), pipeline, now, ports)
        return _failed(run, found, pipeline, now)

    run = save_run(key, decide, ports)
    call_next(run, pipeline, ports)
    if run.attempt == attempt and run.status is Status.COMPLETED:
        _follow_up(run, pipeline, ports)
    return run


def _follow_up(run: Run, pipeline: Pipeline, ports: Ports) -> None:
    """What follows a completion: downstream readings, and changes made while the job ran."""
    if run.cascading:
        cascade(run, pipeline, ports)
        save_run(run.key, lambda stored: _cascaded(stored, run, ports.clock()), ports)
    if run.mark is not None or not pipeline.has_schedule(run.key.schedule_id):
        return  # a person said it, or its file has dropped it since: no reading matters to it
    opening = trigger_keys(pipeline.schedule(run.key.schedule_id))
    keys = post_run_keys(pipeline) | opening
    readings = readings_for(run.key, pipeline, ports, keys, run) if keys else {}
    for key, reading in sorted(readings.items()):
        if not _is_news(run, key, reading):
            continue
        if key in opening and not _drift_decides(run, key, reading, pipeline):
            note_late_data(run.key, reading, pipeline, ports)
        else:
            judge_post_run(run.key, reading, key, pipeline, ports)


def _is_news(run: Run, key: str, reading: Reading) -> bool:
    """Whether it changed while the job ran or, if the job did not use it, whether it arrived since. An
    unreadable reading counts as no change.
    """
    if isinstance(reading, UnreadableReading):
        return False
    seen = run.evidence.get(key)
    if seen is not None:
        return seen.version != reading.version
    return run.launched_at is not None and reading.received_at >= run.launched_at


def _drift_decides(run: Run, key: str, reading: Reading, pipeline: Pipeline) -> bool:
    seen, post_run = run.evidence.get(key), pipeline.post_run
    if seen is None or post_run is None:
        return False
    return is_measured(post_run, key, seen.fields, reading.fields)


def _cascaded(stored: Run, run: Run, now: datetime) -> RunWrite | None:
    if stored.attempt != run.attempt or not stored.cascading:
        return None
    return RunWrite(stored.changed(now, cascading=False))


def _completed(
    run: Run, ending: JobRecord, pipeline: Pipeline, now: datetime, ports: Ports
) -> RunWrite:
    post_run = pipeline.post_run
    waited_for = not run.key.dry and bool(ports.pipelines.downstream_of(run.key.pipeline_id))
    done = run.to(Status.COMPLETED, now, completed_at=ending.at, cascading=waited_for)
    events = _completed_events(done, pipeline)
    if post_run is None:
        return RunWrite(done, events)
    done = msgspec.structs.replace(
        done,
        post_run_due_at=ending.at + duration.parse(post_run.sensor_timeout),
        post_run_look_at=None if run.key.dry else looks_again_at(ending.at, post_run, now),
    )
    try:
        baseline = _baseline(run, pipeline, ports)
    except ValueError as error:
        return not_captured(RunWrite(done, events), str(error), pipeline)
    return capture_baseline(RunWrite(done, events), baseline, pipeline)


def _baseline(run: Run, pipeline: Pipeline, ports: Ports) -> dict[str, Evidence]:
    """The post-run readings as the job saw them; of those it did not use, what arrived since its attempt
    was opened. An older reading belongs to another run.

    Raises ValueError for unreadable readings.
    """
    keys = post_run_keys(pipeline)
    unused = readings_for(run.key, pipeline, ports, keys - run.evidence.keys())
    for key, reading in unused.items():
        if isinstance(reading, UnreadableReading):
            raise ValueError(f"the stored reading of {key} can't be read: {reading.problem}")
    kept = as_evidence(came_since(run, unused))
    kept |= {key: run.evidence[key] for key in keys & run.evidence.keys()}
    return kept


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


def _failed(run: Run, ending: JobRecord, pipeline: Pipeline, now: datetime) -> RunWrite:
    retry = retry_of(ending, run, pipeline.job)
    failure = run.failure or failure_of(ending)
    if retry.due_at is not None:
        return RunWrite(run.to(Status.FAILED, now, failure=failure, retry_at=retry.due_at))
    done = run.to(Status.FAILED_FINAL, now, failure=failure)
    if ending.stopped or ending.final:
        return RunWrite(done)
    follows = None if run.failure is None else EventType.JOB_FAILED
    return RunWrite(done, _exhausted(done, failure, retry.budget, pipeline, follows))


def _exhausted(
    run: Run,
    failure: Failure,
    budget: Budget,
    pipeline: Pipeline,
    follows: EventType | None,
) -> tuple[Event, ...]:
    """`follows`: the event that has told of the same failure, and that it was the last."""
    spent, allowed = budget.spent, budget.max
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
        follows=follows,
    )
