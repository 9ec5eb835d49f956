"""Cancellation: what ends when an operator cancels the run of a date, and when there is nothing to cancel."""

from datetime import datetime

import msgspec

from interlock.domain.run import Failure, Run, Status

#: The reason word of an attempt that an operator ended.
CANCELLED = "cancelled"


class Cancellation(msgspec.Struct, frozen=True, rename="camel"):
    """The run as it stands, and whether its job was asked to stop; None if it has no job that runs."""

    run: Run
    job_asked: bool | None


def is_cancelled(run: Run) -> bool:
    """Whether an operator has ended its present attempt."""
    failure = run.failure
    return run.status is Status.FAILED_FINAL and failure is not None and failure.reason == CANCELLED


def objection_to_cancel(run: Run) -> str | None:
    """Why a run can't be cancelled now. Waiting for its rules, a running job and a due retry can be."""
    if run.status is Status.TRIGGERING:
        return "its job is being launched: try again in a moment"
    if run.status in (Status.PENDING, Status.RUNNING) or run.awaits_retry:
        return None
    return _NOTHING[run.status]


def cancelled(run: Run, by: str, reason: str, now: datetime) -> Run:
    """Its last version: no retry follows, and only a rerun opens the date again."""
    who = f" by {by}" if by else ""
    failure = Failure(CANCELLED, f"cancelled{who}: {reason}")
    return run.to(Status.FAILED_FINAL, now, failure=failure, retry_at=None)


_NOTHING = {
    Status.COMPLETED: "it is done: there is nothing to cancel",
    Status.FAILED: "it has failed and no retry is due: there is nothing to cancel",
    Status.FAILED_FINAL: "it has failed for good: there is nothing to cancel",
    Status.SKIPPED: "it is skipped: there is nothing to cancel",
    Status.UNREADABLE: "its stored row can't be read: `interlock doctor` names the remedy",
}
