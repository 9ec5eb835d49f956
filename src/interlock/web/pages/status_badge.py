"""Status badge: the status of a date as a word, a symbol and a tone; never colour alone."""

from typing import NamedTuple

from interlock.domain.deadline import SlaVerdict
from interlock.domain.history import Glance
from interlock.domain.run import RETRYING as AS_RETRYING
from interlock.domain.run import Run, Status
from interlock.queries.timeline import EXPECTED, MISSING


class StatusBadge(NamedTuple):
    """`name` is also the name of the symbol; a lower `rank` is worse."""

    name: str
    word: str
    tone: str
    rank: int


DONE = StatusBadge("done", "done", "ok", 9)
LATE = StatusBadge("late", "done late", "warn", 6)
RUNNING = StatusBadge("running", "running", "busy", 7)
LAUNCHING = StatusBadge("running", "launching", "busy", 7)
WAITING = StatusBadge("waiting", "waiting", "wait", 5)
OVERDUE = StatusBadge("overdue", "overdue", "bad", 0)
RETRYING = StatusBadge("retrying", "retrying", "warn", 4)
FAILED = StatusBadge("failed", "failed", "bad", 2)
GIVEN_UP = StatusBadge("given-up", "given up", "bad", 1)
SKIPPED = StatusBadge("skipped", "skipped", "none", 10)
UNREADABLE = StatusBadge("unreadable", "unreadable", "bad", 2)
IS_MISSING = StatusBadge("missing", "no run", "bad", 3)
IS_EXPECTED = StatusBadge("expected", "expected", "none", 10)
ABSENT = StatusBadge("absent", "no run yet", "none", 11)
PAUSED = StatusBadge("paused", "paused", "wait", 8)

#: The entries of the legend, in order.
LEGEND = (
    DONE,
    LATE,
    RUNNING,
    WAITING,
    RETRYING,
    OVERDUE,
    FAILED,
    GIVEN_UP,
    UNREADABLE,
    IS_MISSING,
    SKIPPED,
    IS_EXPECTED,
)

_BY_STATUS: dict[str, StatusBadge] = {
    Status.PENDING: WAITING,
    Status.TRIGGERING: LAUNCHING,
    Status.RUNNING: RUNNING,
    Status.FAILED: FAILED,
    Status.COMPLETED: DONE,
    Status.FAILED_FINAL: GIVEN_UP,
    Status.SKIPPED: SKIPPED,
    Status.UNREADABLE: UNREADABLE,
    AS_RETRYING: RETRYING,
    EXPECTED: IS_EXPECTED,
    MISSING: IS_MISSING,
    "absent": ABSENT,
}


def standing(status: str, sla_verdict: str | None = None, retrying: bool = False) -> StatusBadge:
    """A breached deadline shows on completed and on open runs."""
    if retrying:
        return RETRYING
    found = _BY_STATUS.get(status, ABSENT)
    if sla_verdict != SlaVerdict.BREACHED:
        return found
    return {DONE: LATE, WAITING: OVERDUE, RUNNING: OVERDUE, LAUNCHING: OVERDUE}.get(found, found)


def standing_of(run: Run) -> StatusBadge:
    return standing(run.status, run.sla_verdict, run.awaits_retry)


def standing_at(glance: Glance) -> StatusBadge:
    return standing(glance.status, glance.sla_verdict, glance.retrying)
