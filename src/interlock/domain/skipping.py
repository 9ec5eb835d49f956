"""Skipping: whether an operator may say that a date need not run, and whether that can be undone."""

from datetime import datetime
from typing import Any

from interlock.domain.run import Run, Skip, Status


def objection_to_skip(run: Run) -> str | None:
    """Why the run of a date can't be skipped now. What waits or has failed can be."""
    return _NOT_SKIPPED.get(run.status)


def skipped(run: Run, by: str, reason: str, now: datetime) -> Run:
    """Its next version: nothing opens, retries or judges the date until the skip is undone."""
    skip = Skip(by=by, at=now, reason=reason)
    waits: dict[str, Any] = {"retry_at": None, "waits_at": None, "waits_for": (), "sla_armed": {}}
    return run.to(Status.SKIPPED, now, skip=skip, **waits)


def objection_to_unskip(run: Run | None) -> str | None:
    """Why there is nothing to undo."""
    if run is None:
        return "it has no run, and is not skipped"
    if run.status is Status.UNREADABLE:
        return _NOT_SKIPPED[run.status]
    return None if run.status is Status.SKIPPED else "it is not skipped"


_JOB = "its job is running: cancel it first"
_NOT_SKIPPED = {
    Status.TRIGGERING: _JOB,
    Status.RUNNING: _JOB,
    Status.COMPLETED: "it is done: there is nothing to skip",
    Status.UNREADABLE: "its stored row can't be read: `interlock doctor` names the remedy",
}
