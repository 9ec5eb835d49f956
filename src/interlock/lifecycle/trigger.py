"""Trigger: launch the job of a run whose rules hold, once per attempt."""

from typing import Any

from interlock.domain.event import Event, EventType, clean
from interlock.domain.opening import projection, unarmed
from interlock.domain.pipeline import Job
from interlock.domain.run import Run, Status
from interlock.domain.telling import about_run
from interlock.domain.timestamp import spell
from interlock.errors import LaunchError, TransientError, TransitionError
from interlock.lifecycle.polling import poll_answer
from interlock.lifecycle.step import Step
from interlock.ports import CannotTell, JobContext, JobRecord, Launched, Ports
from interlock.usecases.job_context import job_context
from interlock.usecases.save_run import Write, save_run


def trigger(step: Step, ports: Ports) -> dict[str, Any]:
    """Called again while TRIGGERING, it looks for a job under its token before launching one."""
    now = ports.clock()
    again = False

    def claim(run: Run) -> Write | None:
        nonlocal again
        again = run.status is Status.TRIGGERING
        if not step.is_current(run) or run.status is not Status.PENDING:
            return None
        if run.verdict is None or not run.verdict.ready:
            raise TransitionError(f"{run.key}: no passing verdict, no launch")
        return Write(run.to(Status.TRIGGERING, now))

    run = save_run(step.key, claim, ports)
    if step.is_current(run) and run.status is Status.TRIGGERING:
        context = job_context(run, ports)
        found = ports.jobs.find(step.pipeline, context) if again else None
        launched = found if isinstance(found, Launched) else _launch(step, context, found, ports)
        run = save_run(step.key, lambda stored: _running(stored, launched, step, ports), ports)
    if step.is_current(run) and run.status is Status.RUNNING:
        ports.job_log.append(_record(run))
    return _answer(step, run, ports)


def _launch(step: Step, context: JobContext, found: object, ports: Ports) -> Launched:
    if isinstance(found, CannotTell) and at_most_once(step.pipeline.job):
        raise LaunchError("PERMANENT", "outcome unknown, not repeated", maybe_started=True)
    try:
        return ports.jobs.launch(step.pipeline, context)
    except LaunchError as error:
        message = clean(str(error))
        if error.category == "TRANSIENT":
            _note_trouble(step, message, ports)
            raise TransientError(message) from error
        raise


def _note_trouble(step: Step, message: str, ports: Ports) -> None:
    """Keep for `why` what the launch failed of, while it is tried again."""

    def decide(stored: Run) -> Write | None:
        if not step.is_current(stored) or stored.status is not Status.TRIGGERING:
            return None
        if stored.job_message == message:
            return None
        return Write(stored.changed(ports.clock(), job_message=message))

    save_run(step.key, decide, ports)


def at_most_once(job: Job) -> bool:
    """Whether the owner would rather not have the job than have it twice."""
    return bool(job.config.get("atMostOnce", False))


def _running(run: Run, launched: Launched, step: Step, ports: Ports) -> Write | None:
    if run.attempt != step.attempt or run.status is not Status.TRIGGERING:
        return None
    noted = run.to(
        Status.RUNNING,
        ports.clock(),
        run_id=launched.run_id,
        job_type=step.pipeline.job.type,
        job={**launched.metadata, "finished": launched.finished},
        launched_at=ports.clock(),
        job_message=None,
    )
    return Write(noted, _launched_events(noted, launched, step))


def _launched_events(run: Run, launched: Launched, step: Step) -> tuple[Event, ...]:
    assert run.verdict is not None
    if run.key.dry:
        return _would_trigger(run, launched, step) + _projection(run, step)
    return about_run(
        EventType.JOB_TRIGGERED,
        run,
        step.pipeline,
        f"triggered {step.pipeline.job.type} job",
        jobType=step.pipeline.job.type,
        runId=run.run_id,
        evidence={key: seen.version for key, seen in run.evidence.items()},
    )


def _would_trigger(run: Run, launched: Launched, step: Step) -> tuple[Event, ...]:
    assert run.verdict is not None
    return about_run(
        EventType.DRY_RUN_WOULD_TRIGGER,
        run,
        step.pipeline,
        f"would trigger {step.pipeline.job.type} job",
        results=run.verdict.results,
        wouldLaunch=launched.metadata.get("wouldLaunch"),
    )


def _projection(run: Run, step: Step) -> tuple[Event, ...]:
    found = projection(run, step.pipeline, run.changed_at)
    if found is None:
        return ()
    return about_run(
        EventType.DRY_RUN_SLA_PROJECTION,
        run,
        step.pipeline,
        f"the deadline would be {_PROJECTED[found.status]}",
        estimatedCompletion=None if found.done_at is None else spell(found.done_at),
        breachAt=None if found.breach_at is None else spell(found.breach_at),
        marginSeconds=None if found.margin is None else int(found.margin.total_seconds()),
        status=found.status,
    )


_PROJECTED = {"met": "met", "breach": "missed", "unknown": "uncertain: no expectedDuration"}


def _record(run: Run) -> JobRecord:
    assert run.launched_at is not None
    return JobRecord(
        key=run.key,
        at=run.launched_at,
        event="triggered",
        attempt=run.attempt,
        run_id=run.run_id,
    )


def _answer(step: Step, run: Run, ports: Ports) -> dict[str, Any]:
    answer = poll_answer(step, run, ports.clock())
    arm = answer["launched"] and not run.key.dry and any(True for _ in unarmed(run))
    return answer | {"armSla": arm}
