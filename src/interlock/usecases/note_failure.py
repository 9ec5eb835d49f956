"""Note a failure: store on the run why its job failed, and publish it once per attempt."""

from interlock.domain.budgets import Retry
from interlock.domain.event import Event, EventType, RowOverride, Severity
from interlock.domain.job_output import last_lines
from interlock.domain.job_record import JobRecord
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run, RunKey, Status
from interlock.domain.run_events import about_run
from interlock.domain.timestamp import spell
from interlock.usecases.job_ending import failure_of, retry_of
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run


def note_failure(
    key: RunKey, attempt: int, ending: JobRecord, pipeline: Pipeline, ports: Ports
) -> Run:
    """Return the run as it stands. It stays RUNNING: its completion decides what follows."""
    now = ports.clock()

    def decide(run: Run) -> RunWrite | None:
        if run.attempt != attempt or run.status is not Status.RUNNING or run.failure is not None:
            return None
        noted = run.changed(now, failure=failure_of(ending))
        return RunWrite(
            noted, _events(noted, ending, retry_of(ending, run, pipeline.job), pipeline)
        )

    return save_run(key, decide, ports)


def _events(run: Run, ending: JobRecord, retry: Retry, pipeline: Pipeline) -> tuple[Event, ...]:
    assert run.failure is not None
    return about_run(
        EventType.JOB_FAILED,
        run,
        pipeline,
        f"the job failed{_last(retry, ending)}: {run.failure.message}",
        override=RowOverride(Severity.WARNING if retry.due_at else None),
        runId=run.run_id,
        category=ending.category,
        error=run.failure.message,
        willRetry=retry.due_at is not None,
        retryAt=None if retry.due_at is None else spell(retry.due_at),
        spent=retry.budget.spent,
        max=retry.budget.max,
        output=None if ending.output is None else last_lines(ending.output),
    )


def _last(retry: Retry, ending: JobRecord) -> str:
    """That no retry follows, where the budget for retries is the reason."""
    if retry.due_at is not None or ending.stopped or ending.final or not retry.budget.max:
        return ""
    return f", no retries left ({retry.budget.spent} of {retry.budget.max} spent)"
