"""Note a launch: the job of an attempt was started; store and publish that, whichever caller found it."""

from datetime import datetime

from interlock.domain.event import Event, EventType
from interlock.domain.job import Launched
from interlock.domain.job_record import JobRecord
from interlock.domain.opening import projection
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run, Status
from interlock.domain.run_events import about_run
from interlock.domain.timestamp import spell
from interlock.usecases.save_run import RunWrite


def launched_write(
    run: Run, launched: Launched, pipeline: Pipeline, began: datetime, now: datetime
) -> RunWrite:
    """The run as RUNNING since `began`, with its events."""
    noted = run.to(
        Status.RUNNING,
        now,
        run_id=launched.run_id,
        job_type=pipeline.job.type,
        job={**launched.metadata, "finished": launched.finished},
        launched_at=began,
        job_message=None,
    )
    return RunWrite(noted, _events(noted, launched, pipeline))


def launch_record(run: Run) -> JobRecord:
    """The job log line for the launch."""
    assert run.launched_at is not None
    return JobRecord(
        key=run.key,
        at=run.launched_at,
        event="triggered",
        attempt=run.attempt,
        run_id=run.run_id,
    )


def _events(run: Run, launched: Launched, pipeline: Pipeline) -> tuple[Event, ...]:
    if run.key.dry:
        return _would_trigger(run, launched, pipeline) + _projection(run, pipeline)
    return about_run(
        EventType.JOB_TRIGGERED,
        run,
        pipeline,
        f"triggered {pipeline.job.type} job",
        jobType=pipeline.job.type,
        runId=run.run_id,
        evidence={key: seen.version for key, seen in run.evidence.items()},
    )


def _would_trigger(run: Run, launched: Launched, pipeline: Pipeline) -> tuple[Event, ...]:
    assert run.verdict is not None
    return about_run(
        EventType.DRY_RUN_WOULD_TRIGGER,
        run,
        pipeline,
        f"would trigger {pipeline.job.type} job",
        results=run.verdict.results,
        wouldLaunch=launched.metadata.get("wouldLaunch"),
    )


def _projection(run: Run, pipeline: Pipeline) -> tuple[Event, ...]:
    found = projection(run, pipeline, run.changed_at)
    if found is None:
        return ()
    return about_run(
        EventType.DRY_RUN_SLA_PROJECTION,
        run,
        pipeline,
        f"the deadline would be {_PROJECTED[found.status]}",
        estimatedCompletion=None if found.done_at is None else spell(found.done_at),
        breachAt=None if found.breach_at is None else spell(found.breach_at),
        marginSeconds=None if found.margin is None else int(found.margin.total_seconds()),
        status=found.status,
    )


_PROJECTED = {"met": "met", "breach": "missed", "unknown": "uncertain: no expectedDuration"}
