"""Marking: the outcome of a run that a person states. Nothing is launched for it."""

from typing import Any

from interlock.domain.run import Failure, MarkedAs, OutcomeMark, Run, Status

#: The reason word of an attempt that a person marked failed.
MARKED = "marked"


def is_marked(run: Run, outcome: MarkedAs) -> bool:
    """Whether a person has stated this outcome of its present attempt."""
    stated = run.mark is not None and run.mark.outcome is outcome
    return stated and run.status is _LEADS_TO[outcome]


def objection_to_mark(run: Run | None, outcome: MarkedAs) -> str | None:
    """Why a person can't state this outcome now."""
    if run is None:
        return None if outcome is MarkedAs.DONE else "it has no run: there is nothing that failed"
    if outcome is MarkedAs.DONE:
        return _NOT_DONE.get(run.status)
    return None if run.awaits_retry else _NOT_FAILED.get(run.status)


def marked(run: Run, mark: OutcomeMark, **changes: Any) -> Run:
    """Its next version, with the outcome that the person stated. Done counts from now; failed is for good."""
    if mark.outcome is MarkedAs.DONE:
        return run.to(Status.COMPLETED, mark.at, **done_by_hand(mark), **changes)
    failure = Failure(MARKED, str(mark))
    over = {"failure": failure, "retry_at": None, "completed_at": None, "cascading": False}
    return run.to(Status.FAILED_FINAL, mark.at, mark=mark, **over | changes)


def done_by_hand(mark: OutcomeMark) -> dict[str, Any]:
    """What a run has that a person marked done. How its attempt failed before stays in its history."""
    return {
        "mark": mark,
        "completed_at": mark.at,
        "failure": None,
        "retry_at": None,
        "skip": None,
        "waits_at": None,
        "waits_for": (),
    }


_LEADS_TO = {MarkedAs.DONE: Status.COMPLETED, MarkedAs.FAILED: Status.FAILED_FINAL}
_JOB = "its job is running: cancel it first"
_LOST = "its stored row can't be read: `interlock doctor` names the remedy"
_NOT_DONE = {
    Status.TRIGGERING: _JOB,
    Status.RUNNING: _JOB,
    Status.COMPLETED: "it is done already",
    Status.UNREADABLE: _LOST,
}
_NOT_FAILED = {
    Status.TRIGGERING: _JOB,
    Status.RUNNING: _JOB,
    Status.FAILED: "it has failed already, and no retry is due",
    Status.FAILED_FINAL: "it has failed for good already",
    Status.SKIPPED: "it is skipped: undo that first, with `interlock unskip`",
    Status.UNREADABLE: _LOST,
}
