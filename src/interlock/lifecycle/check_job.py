"""Check the job: whether it has ended, and how. What the job wrote itself wins over what we ask."""

from datetime import datetime, timedelta
from typing import Any, assert_never

from interlock.domain.budgets import Retry
from interlock.domain.event import Event, EventType, Severity, clean
from interlock.domain.run import Run, Status
from interlock.domain.telling import about_run
from interlock.domain.timestamp import spell
from interlock.lifecycle.polling import poll_answer
from interlock.lifecycle.step import Step
from interlock.ports import Failed, JobRecord, Ports, Running, Succeeded
from interlock.usecases.job_ending import ending_of, failure_of, retry_of
from interlock.usecases.load_run import load_run
from interlock.usecases.save_run import Write, save_run


def check_job(step: Step, ports: Ports) -> dict[str, Any]:
    """A terminal answer is kept in the job log first; a repeat finds it there."""
    now = ports.clock()
    run = load_run(step.key, ports)
    if not step.is_current(run) or run.status is not Status.RUNNING:
        return poll_answer(step, run, now)
    ending = ending_of(run, ports.job_log.of_run(run.key))
    if ending is None:
        ending = _ask(run, step, now, ports)
    if ending is None:
        return poll_answer(step, run, now)
    if ending.event != "success":
        run = save_run(step.key, lambda stored: _failed(stored, ending, step, now), ports)
    ports.job_log.append(ending)
    return poll_answer(step, run, now, ending.event)


def _ask(run: Run, step: Step, now: datetime, ports: Ports) -> JobRecord | None:
    answer = ports.jobs.poll(run.job)
    match answer:
        case Running(message, unseen):
            _note_running(run, message, unseen, step, ports)
            return None
        case Succeeded(_, ended_at):
            return _record(run, "success", ended_at, now)
        case Failed(category, message, ended_at, stopped):
            event = "timeout" if category == "TIMEOUT" else "fail"
            base = _record(run, event, ended_at, now)
            return JobRecord(
                key=base.key,
                at=base.at,
                event=event,
                attempt=base.attempt,
                run_id=base.run_id,
                duration=base.duration,
                error=clean(message),
                category=category,
                stopped=stopped,
            )
        case _:
            assert_never(answer)


def _record(run: Run, event: str, ended_at: datetime | None, now: datetime) -> JobRecord:
    """The job's own end where its platform reports one, but never before its launch or after now."""
    launched = run.launched_at or now
    at = max(launched, min(ended_at or now, now))
    return JobRecord(
        key=run.key,
        at=at,
        event=event,
        attempt=run.attempt,
        run_id=run.run_id,
        duration=(at - launched) / timedelta(seconds=1),
    )


def _note_running(run: Run, message: str, unseen: bool, step: Step, ports: Ports) -> None:
    """Keep what the platform says for `why`; that it will not tell us is an event, once."""
    shown = clean(message, 500) or None
    if shown == run.job_message and unseen == run.job_unseen:
        return

    def decide(stored: Run) -> Write | None:
        if not step.is_current(stored) or stored.status is not Status.RUNNING:
            return None
        noted = stored.changed(
            ports.clock(), job_message=shown, job_unseen=stored.job_unseen or unseen
        )
        first = unseen and not stored.job_unseen
        return Write(noted, _unseen(noted, message, step) if first else ())

    save_run(run.key, decide, ports)


def _unseen(run: Run, message: str, step: Step) -> tuple[Event, ...]:
    return about_run(
        EventType.INFRA_FAILURE,
        run,
        step.pipeline,
        f"the job can't be seen: {message}",
        parts=(run.attempt, "CheckJob"),
        source="check-job",
        state="CheckJob",
        error=clean(message),
        executionName=run.execution_name,
    )


def _failed(run: Run, ending: JobRecord, step: Step, now: datetime) -> Write | None:
    if not step.is_current(run) or run.status is not Status.RUNNING or run.failure is not None:
        return None
    retry = retry_of(ending, run, step.pipeline.job)
    noted = run.changed(now, failure=failure_of(ending))
    return Write(noted, _failed_events(noted, ending, retry, step))


def _failed_events(run: Run, ending: JobRecord, retry: Retry, step: Step) -> tuple[Event, ...]:
    assert run.failure is not None
    return about_run(
        EventType.JOB_FAILED,
        run,
        step.pipeline,
        f"the job failed: {run.failure.message}",
        severity=Severity.WARNING if retry.due_at else None,
        runId=run.run_id,
        category=ending.category,
        error=run.failure.message,
        willRetry=retry.due_at is not None,
        retryAt=None if retry.due_at is None else spell(retry.due_at),
        spent=retry.budget.spent,
        max=retry.budget.max,
    )
