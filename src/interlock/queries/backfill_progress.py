"""Backfill progress: how far a backfill has come, and what each of its dates is doing."""

from datetime import datetime
from itertools import islice

import msgspec

from interlock.domain.backfill import (
    NO_FACTS,
    Backfill,
    BackfillState,
    DateEnding,
    DateFacts,
    DateState,
    state_of,
)
from interlock.domain.config import Config
from interlock.errors import UnreadableError
from interlock.usecases.advance_backfill import facts_of
from interlock.usecases.ports import Ports

#: How many of the failed dates at a time get the message of their run.
_AT_ONCE = 100


class BackfillDate(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One date of a backfill. `why` says why it was refused, or what its failed run says."""

    date: str
    state: DateState
    why: str = ""


class BackfillProgress(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A backfill, and how many of its dates are where."""

    id: str
    pipeline_id: str
    schedule_id: str
    first: str
    last: str
    state: BackfillState
    max_concurrent: int
    requested_at: datetime
    requested_by: str
    reason: str
    changed_at: datetime
    changed_by: str
    changed_for: str
    dates: int
    waiting: int
    completed: int
    failed: int
    refused: int
    #: The dates that have begun and not ended.
    active: tuple[str, ...]
    #: Why a running backfill starts no date now; empty if nothing keeps it.
    waits_for: str = ""

    @property
    def ended(self) -> int:
        return self.completed + self.failed + self.refused

    @property
    def is_over(self) -> bool:
        """Whether it changes no more."""
        finished = self.state in (BackfillState.DONE, BackfillState.CANCELLED)
        return finished and not self.active


def backfill_progress(backfill: Backfill, ports: Ports) -> BackfillProgress:
    counts = {state: backfill.count(state) for state in _ENDED}
    return BackfillProgress(
        id=backfill.id,
        pipeline_id=backfill.pipeline_id,
        schedule_id=backfill.schedule_id,
        first=backfill.first,
        last=backfill.last,
        state=backfill.state,
        max_concurrent=backfill.max_concurrent,
        requested_at=backfill.requested_at,
        requested_by=backfill.requested_by,
        reason=backfill.reason,
        changed_at=backfill.changed_at,
        changed_by=backfill.changed_by,
        changed_for=backfill.changed_for,
        dates=len(backfill.dates),
        waiting=len(backfill.waiting),
        completed=counts[DateState.COMPLETED],
        failed=counts[DateState.FAILED],
        refused=counts[DateState.REFUSED],
        active=tuple(sorted(backfill.begun)),
        waits_for=_waits_for(backfill, ports),
    )


def backfill_dates(
    backfill: Backfill, state: str | None, after: str | None, limit: int, ports: Ports
) -> list[BackfillDate]:
    """The dates after one, oldest first, of one state or all."""
    config = _config(backfill, ports)
    doing = facts_of(backfill, backfill.begun, config, ports)
    dates = (date for date in backfill.dates if after is None or date > after)
    wanted = (date for date in dates if state in (None, _state(backfill, date, doing)))
    chosen = list(islice(wanted, limit))
    failed = [date for date in chosen if backfill.ended.get(date) is DateEnding.FAILED]
    told: dict[str, DateFacts] = {}
    for n in range(0, len(failed), _AT_ONCE):
        told |= facts_of(backfill, failed[n : n + _AT_ONCE], config, ports)
    return [
        BackfillDate(
            date=date,
            state=_state(backfill, date, doing),
            why=_why(backfill.ended.get(date), told.get(date, NO_FACTS)),
        )
        for date in chosen
    ]


_ENDED = (DateState.COMPLETED, DateState.FAILED, DateState.REFUSED)


def _state(backfill: Backfill, date: str, doing: dict[str, DateFacts]) -> DateState:
    if date in backfill.ended:
        return backfill.ended[date].state
    if date not in backfill.begun:
        return DateState.WAITING
    found = state_of(backfill.begun[date], doing.get(date, NO_FACTS))
    return found.state if isinstance(found, DateEnding) else found


def _why(ending: DateEnding | None, facts: DateFacts) -> str:
    if ending is DateEnding.FAILED and facts.run is not None and facts.run.failure is not None:
        return facts.run.failure.message
    return "" if ending is None else ending.why


def _waits_for(backfill: Backfill, ports: Ports) -> str:
    config = _config(backfill, ports)
    if backfill.state is not BackfillState.RUNNING or config is None:
        return ""
    pause = config.pause(ports.clock())
    return "" if pause is None else f"its pipeline is {pause}"


def _config(backfill: Backfill, ports: Ports) -> Config | None:
    """None if it can't be read: a list must not fail for one pipeline."""
    try:
        return ports.pipelines.find(backfill.pipeline_id)
    except UnreadableError:
        return None
