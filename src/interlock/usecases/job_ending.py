"""Job ending: how the job of an attempt ended, as the job log has it, and what becomes of a failure."""

from interlock.domain.budgets import Retry, decide_retry
from interlock.domain.event import clean
from interlock.domain.pipeline import Job
from interlock.domain.run import Failure, Run
from interlock.ports import JobRecord

ENDINGS = frozenset({"success", "fail", "timeout"})


def ending_of(run: Run, records: list[JobRecord]) -> JobRecord | None:
    """The first terminal record of this attempt. One without an attempt belongs to it if it is not
    older than its launch; one of another attempt never does.
    """
    for record in records:
        if record.event in ENDINGS and _belongs(record, run):
            return record
    return None


def failure_of(record: JobRecord) -> Failure:
    """A failed ending as it is kept on the run."""
    reason = "stopped" if record.stopped else "job"
    return Failure(
        reason, clean(record.error or f"the job ended with {record.event}"), record.category
    )


def retry_of(record: JobRecord, run: Run, job: Job) -> Retry:
    """What becomes of a failed attempt: a pure function of its record and the budgets."""
    stays = record.stopped or record.final
    return decide_retry(record.category, stays, record.at, run.spending, job)


def _belongs(record: JobRecord, run: Run) -> bool:
    if record.attempt is not None:
        return record.attempt == run.attempt
    return run.launched_at is not None and record.at >= run.launched_at
