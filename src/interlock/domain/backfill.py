"""Backfill: a range of dates that run a few at a time, and what became of each.

The record says which dates were begun and how each ended. What a begun date is doing is not stored: its run
and its rerun request say that.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Self

import msgspec

from interlock.domain import canonical
from interlock.domain.rerun_request import RequestAnswer, RerunRequest
from interlock.domain.reruns import EXPLAINED, Cause
from interlock.domain.run import Number, Run, RunKey, Status

#: The most dates that one backfill may have at work at once.
MOST_CONCURRENT = 100

Concurrent = Annotated[int, msgspec.Meta(ge=1, le=MOST_CONCURRENT)]


class BackfillState(StrEnum):
    """The state of a backfill. Only a running one begins further dates."""

    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    CANCELLED = "CANCELLED"
    DONE = "DONE"


class DateState(StrEnum):
    """What a date of a backfill is doing, or how it ended."""

    WAITING = "waiting"
    REQUESTED = "requested"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    REFUSED = "refused"


class DateEnding(StrEnum):
    """How a date ended: with its run, or why it was never run. The causes of a rejected rerun among them."""

    COMPLETED = "completed"
    FAILED = "failed"
    REMOVED = "removed"
    NOT_EXPECTED = "not-expected"
    DRY_RUN = "dry-run"
    REPLACED = "replaced"
    REFUSED = "refused"
    UNKNOWN_PIPELINE = "unknown-pipeline"
    EXCLUDED = "excluded"
    BEYOND_HORIZON = "beyond-horizon"
    IN_PROGRESS = "in-progress"
    BUDGET = "budget"
    NO_NEW_DATA = "no-new-data"
    UNREADABLE = "unreadable"
    SKIPPED = "skipped"

    @property
    def state(self) -> DateState:
        return _STATES.get(self, DateState.REFUSED)

    @property
    def why(self) -> str:
        """Why it was refused, or failed without a message of its run; empty where there is no more to say."""
        return _WHY[self] if self in _WHY else EXPLAINED.get(self, "")


_STATES = {
    DateEnding.COMPLETED: DateState.COMPLETED,
    DateEnding.FAILED: DateState.FAILED,
    DateEnding.REMOVED: DateState.FAILED,
}
_WHY = {
    DateEnding.REMOVED: "its run was removed before its end was noted",
    DateEnding.NOT_EXPECTED: "the schedule does not expect this date any more",
    DateEnding.DRY_RUN: "the pipeline only runs dry, and a dry run of the date exists",
    DateEnding.REPLACED: "a later rerun request for the date took its place",
    DateEnding.REFUSED: "its rerun request was rejected; the events of the date say why",
}


class BegunDate(msgspec.Struct, frozen=True, rename="camel"):
    """A date that was begun: when its run was requested, and the attempt that its run had then.

    Without a time, its run was in progress already: the backfill waits for its end.
    """

    at: datetime | None = None
    attempt: Number | None = None


class Backfill(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A backfill as it is stored."""

    id: str
    pipeline_id: str
    schedule_id: str
    #: The range as it was requested.
    first: str
    last: str
    #: Ascending; they are begun in this order.
    dates: tuple[str, ...]
    max_concurrent: Concurrent
    requested_at: datetime
    requested_by: str = ""
    reason: str
    state: BackfillState = BackfillState.RUNNING
    version: Number = 1
    #: How often its state has changed, and the last change: when, by whom and why.
    turns: Number = 0
    changed_at: datetime
    changed_by: str = ""
    changed_for: str = ""
    begun: dict[str, BegunDate] = {}
    ended: dict[str, DateEnding] = {}

    @property
    def waiting(self) -> list[str]:
        """The dates that were not begun."""
        return [date for date in self.dates if date not in self.begun and date not in self.ended]

    @property
    def room(self) -> int:
        """How many more dates may begin now."""
        return max(0, self.max_concurrent - len(self.begun))

    @property
    def is_over(self) -> bool:
        """Whether it changes no more."""
        return self.state in FINISHED and not self.begun

    @property
    def needs_attention(self) -> bool:
        """Whether there is something to look after: dates at work, or dates to begin."""
        return bool(self.begun) or self.state is BackfillState.RUNNING

    def changed(self, **changes: Any) -> Self:
        """The next version."""
        return msgspec.structs.replace(self, version=self.version + 1, **changes)

    def turned(self, state: BackfillState, now: datetime, by: str = "", why: str = "") -> Self:
        """The next version, in another state."""
        return self.changed(**self._turn(state, now, by, why))

    def done(self, now: datetime) -> Self:
        """This version, as the one in which its last date ended."""
        return msgspec.structs.replace(self, **self._turn(BackfillState.DONE, now, "", ""))

    def _turn(self, state: BackfillState, now: datetime, by: str, why: str) -> dict[str, Any]:
        return {
            "state": state,
            "turns": self.turns + 1,
            "changed_at": now,
            "changed_by": by,
            "changed_for": why,
        }

    def count(self, state: DateState) -> int:
        """How many dates ended this way."""
        return sum(ending.state is state for ending in self.ended.values())

    def request(self, date: str) -> RerunRequest:
        """The rerun request of a begun date: the same, however often it is made."""
        begun = self.begun[date]
        assert begun.at is not None
        return RerunRequest(
            key=RunKey(self.pipeline_id, self.schedule_id, date),
            reason=f"backfill: {self.reason}",
            requested_at=begun.at,
            requested_by=self.requested_by,
            backfill=self.id,
        )


FINISHED = frozenset({BackfillState.DONE, BackfillState.CANCELLED})


def backfill_id(pipeline_id: str, schedule_id: str, dates: Iterable[str], at: datetime) -> str:
    """Made of facts; ids sort by the time of the request."""
    digest = canonical.content_hash([pipeline_id, schedule_id, *dates, at.isoformat()], 6)
    return f"{at:%Y%m%d-%H%M%S}-{digest}"


class DateFacts(msgspec.Struct, frozen=True):
    """What is stored about a date: its run, and the answer to its last rerun request."""

    run: Run | None = None
    request: RequestAnswer | None = None


NO_FACTS = DateFacts()


def state_of(begun: BegunDate, facts: DateFacts) -> DateState | DateEnding:
    """What a begun date is doing, or how it ended.

    The run decides if it has moved since the date was begun; otherwise the answer to the request does.
    """
    run = facts.run
    if run is not None and _is_in_progress(run):
        return DateState.RUNNING
    if run is not None and run.status is not Status.UNREADABLE and _has_moved(begun, run):
        return _ENDINGS.get(run.status, DateEnding.FAILED)
    if run is not None and run.status is Status.UNREADABLE and not _refused(begun, facts):
        return DateState.REQUESTED  # until its row can be read again
    if begun.at is None:
        return DateEnding.REMOVED
    return _answered(begun.at, facts.request)


def is_unsent(begun: BegunDate, request: RequestAnswer | None) -> bool:
    """Whether the process died before it stored the request of a begun date."""
    if begun.at is None:
        return False
    return request is None or request.requested_at < begun.at


def settled(backfill: Backfill, facts: Mapping[str, DateFacts]) -> Backfill:
    """The same version, with the begun dates that have ended."""
    ended = {
        date: found
        for date, begun in backfill.begun.items()
        if isinstance(found := state_of(begun, facts.get(date, NO_FACTS)), DateEnding)
    }
    left = {date: each for date, each in backfill.begun.items() if date not in ended}
    return msgspec.structs.replace(backfill, begun=left, ended=backfill.ended | ended)


class Beginning(msgspec.Struct, frozen=True):
    """What is needed to begin dates: their runs, whether the schedule expects a date, and the time."""

    runs: Mapping[str, Run]
    expects: Callable[[str], bool]
    now: datetime


def begin(backfill: Backfill, dates: Iterable[str], how: Beginning) -> Backfill:
    """The same version with these dates begun, in order, as far as there is room.

    A date that has completed meanwhile, or that can't run any more, ends at once and takes no room.
    """
    begun, ended = dict(backfill.begun), dict(backfill.ended)
    for date in dates:
        if len(begun) >= backfill.max_concurrent:
            break
        first = _first_step(how.runs.get(date), how.expects(date), how.now)
        if isinstance(first, DateEnding):
            ended[date] = first
        else:
            begun[date] = first
    return msgspec.structs.replace(backfill, begun=begun, ended=ended)


def finished(backfill: Backfill, now: datetime) -> Backfill:
    """The same version; DONE if no date is left. A backfill that waits for nothing is done, paused or not."""
    if backfill.state in FINISHED or len(backfill.ended) < len(backfill.dates):
        return backfill
    return backfill.done(now)


def _first_step(run: Run | None, is_expected: bool, now: datetime) -> BegunDate | DateEnding:
    if not is_expected:
        return DateEnding.NOT_EXPECTED
    if run is None:
        return BegunDate(now)
    if run.status in _ENDINGS:
        return _ENDINGS[run.status]
    if _is_in_progress(run):
        return BegunDate(None, run.attempt)
    if run.key.dry:
        return DateEnding.DRY_RUN  # a rerun of it would only be told of
    return BegunDate(now, run.attempt)


#: How a date ends whose run has this status; with any other final status, it failed.
_ENDINGS = {Status.COMPLETED: DateEnding.COMPLETED, Status.SKIPPED: DateEnding.SKIPPED}


def _is_in_progress(run: Run) -> bool:
    return run.is_open or run.awaits_retry


def _has_moved(begun: BegunDate, run: Run) -> bool:
    return begun.at is None or begun.attempt is None or run.attempt > begun.attempt


def _refused(begun: BegunDate, facts: DateFacts) -> bool:
    request = facts.request
    return request is not None and request.requested_at == begun.at and bool(request.refused)


def _answered(at: datetime, request: RequestAnswer | None) -> DateState | DateEnding:
    """The end of a date whose run has not moved since its request."""
    if request is None or request.requested_at < at or not request.judged:
        return DateState.REQUESTED
    if request.requested_at > at:
        return DateEnding.REPLACED
    if not request.refused:
        return DateEnding.REMOVED  # it was granted, so there was a run
    known = request.refused in tuple(Cause)
    return DateEnding(request.refused) if known else DateEnding.REFUSED
