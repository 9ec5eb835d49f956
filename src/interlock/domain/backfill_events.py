"""Backfill events: what is told of a backfill as a whole."""

import msgspec

from interlock.domain.backfill import Backfill, BackfillState, DateState
from interlock.domain.config import Config
from interlock.domain.event import (
    AS_ROW,
    Event,
    EventType,
    RowOverride,
    Severity,
    Subject,
    clean,
    happened,
    subject,
)

_TYPES = {
    BackfillState.PAUSED: EventType.BACKFILL_PAUSED,
    BackfillState.RUNNING: EventType.BACKFILL_RESUMED,
    BackfillState.CANCELLED: EventType.BACKFILL_CANCELLED,
    BackfillState.DONE: EventType.BACKFILL_DONE,
}
_MOST_NAMED = 20


def started(backfill: Backfill, config: Config) -> Event:
    return happened(
        EventType.BACKFILL_STARTED,
        _subject(backfill, config),
        backfill.requested_at,
        f"backfill of {_dates(len(backfill.dates))}, {backfill.max_concurrent} at once:"
        f" {backfill.reason}",
        parts=(backfill.id, backfill.turns),
        backfill=backfill.id,
        firstDate=backfill.first,
        lastDate=backfill.last,
        dates=len(backfill.dates),
        maxConcurrent=backfill.max_concurrent,
        reason=clean(backfill.reason),
        requestedBy=backfill.requested_by or None,
    )


def turned(backfill: Backfill, config: Config | None) -> Event:
    """The event of the version that changed its state."""
    kind = _TYPES[backfill.state]
    bad = [date for date in backfill.dates if _is_bad(backfill, date)]
    done = kind is EventType.BACKFILL_DONE
    return happened(
        kind,
        _subject(backfill, config),
        backfill.changed_at,
        _message(backfill),
        parts=(backfill.id, backfill.turns),
        override=RowOverride(Severity.WARNING) if done and bad else AS_ROW,
        backfill=backfill.id,
        dates=len(backfill.dates),
        completed=backfill.count(DateState.COMPLETED),
        failed=backfill.count(DateState.FAILED),
        refused=backfill.count(DateState.REFUSED),
        waiting=None if done else len(backfill.waiting),
        notCompleted=bad[:_MOST_NAMED] if done and bad else None,
        reason=clean(backfill.changed_for) or None,
        requestedBy=backfill.changed_by or None,
    )


def _message(backfill: Backfill) -> str:
    total = len(backfill.dates)
    if backfill.state is BackfillState.DONE:
        counts = {each: backfill.count(each) for each in (DateState.FAILED, DateState.REFUSED)}
        told = [f"{number} {state}" for state, number in counts.items() if number]
        return ", ".join([f"{backfill.count(DateState.COMPLETED)} of {total} completed", *told])
    words = {
        BackfillState.PAUSED: "no further date starts",
        BackfillState.RUNNING: "further dates start",
        BackfillState.CANCELLED: "the waiting dates do not start",
    }
    left = f"{len(backfill.waiting)} of {_dates(total)} waiting"
    why = f": {backfill.changed_for}" if backfill.changed_for else ""
    return f"{words[backfill.state]}, {left}{why}"


def _is_bad(backfill: Backfill, date: str) -> bool:
    ending = backfill.ended.get(date)
    return ending is not None and ending.state is not DateState.COMPLETED


def _dates(number: int) -> str:
    return "1 date" if number == 1 else f"{number} dates"


def _subject(backfill: Backfill, config: Config | None) -> Subject:
    about = subject(None if config is None else config.pipeline)
    place = {"pipeline_id": backfill.pipeline_id, "schedule_id": backfill.schedule_id}
    return msgspec.structs.replace(about, **place)
