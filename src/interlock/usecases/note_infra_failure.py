"""Note an infrastructure failure: an execution broke off. A run without a launch is retried, three times per
date; a run with a job stays RUNNING, and the watchdog gives it another execution.
"""

from datetime import datetime

import msgspec

from interlock.domain.budgets import INFRA_DELAY, INFRA_RETRIES
from interlock.domain.event import EventType, clean
from interlock.domain.job import Absent, CannotTell, Launched
from interlock.domain.job_record import JobRecord
from interlock.domain.launch import at_most_once, requested_at
from interlock.domain.pipeline import Job, Pipeline
from interlock.domain.run import Failure, Run, RunKey, Status
from interlock.domain.run_events import about_run
from interlock.usecases.job_context import job_context
from interlock.usecases.note_launch import launched_write
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run


class Breakdown(msgspec.Struct, frozen=True):
    """What broke: the state, its message, and the name of its error if it has one."""

    state: str
    error: str
    cause: str | None = None


def note_infra_failure(
    key: RunKey, attempt: int, broke: Breakdown, pipeline: Pipeline, ports: Ports
) -> Run:
    """Return the run as it stands. A launch of unknown outcome is looked up first, by its token."""
    now = ports.clock()

    def decide(run: Run) -> RunWrite | None:
        if run.attempt != attempt or not run.is_open or _is_noted(run, broke):
            return None
        after = _after(run, broke, now, pipeline, ports)
        if run.status is Status.RUNNING and run.executions > 1:
            return after  # the failure of this attempt is already published
        events = about_run(
            EventType.INFRA_FAILURE,
            after.run,
            pipeline,
            f"{broke.state} failed: {broke.error}",
            parts=(run.attempt, broke.state),
            state=broke.state,
            error=broke.error,
            cause=broke.cause,
            executionName=run.execution_name,
        )
        return RunWrite(after.run, (*after.events, *events))

    run = save_run(key, decide, ports)
    if run.attempt == attempt and run.failure is not None and run.failure.reason == _INFRA:
        ports.job_log.append(_record(run, run.failure))
    return run


def job_in_doubt(run: Run, pipeline: Pipeline, ports: Ports) -> Launched | Absent | CannotTell:
    """What the platform says about an unrecorded launch; before TRIGGERING none was tried."""
    if run.status is not Status.TRIGGERING:
        return Absent()
    return ports.jobs.find(pipeline, job_context(run, ports))


def _after(run: Run, broke: Breakdown, now: datetime, pipeline: Pipeline, ports: Ports) -> RunWrite:
    if run.status is Status.RUNNING:
        return RunWrite(run.changed(now, job_message=_message(broke)))
    found = job_in_doubt(run, pipeline, ports)
    if isinstance(found, Launched):
        write = launched_write(run, found, pipeline, requested_at(run), now)
        noted = msgspec.structs.replace(write.run, job_message=_message(broke))
        return RunWrite(noted, write.events)
    again = run.infra_retries < INFRA_RETRIES and not _may_run(found, pipeline.job)
    failed = run.to(
        Status.FAILED,
        now,
        failure=Failure(_INFRA, broke.error),
        retry_at=now + INFRA_DELAY if again else None,
        infra_retries=run.infra_retries + again,
    )
    return RunWrite(failed)


def _may_run(found: Absent | CannotTell, job: Job) -> bool:
    """Whether another attempt might start a second job against the owner's wish."""
    return isinstance(found, CannotTell) and at_most_once(job)


def _is_noted(run: Run, broke: Breakdown) -> bool:
    return run.status is Status.RUNNING and run.job_message == _message(broke)


def _message(broke: Breakdown) -> str:
    return clean(broke.error, 500)


def _record(run: Run, failure: Failure) -> JobRecord:
    return JobRecord(
        key=run.key,
        at=run.changed_at,
        event="infra-trigger-failure",
        attempt=run.attempt,
        run_id=run.run_id,
        error=failure.message,
    )


_INFRA = "infra"
