"""Chance: how many of the past runs of a schedule would hold the deadline of a run that is not done.

Each past run is played again from now: its job starts as long after the start of the date as it did then,
but never before now, and takes as long. A count of past runs is all that is claimed, never a probability.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from interlock.domain.partition import Label, starts_at
from interlock.domain.run import OpenedBy, Run, Status
from interlock.domain.zones import zone

#: How many past runs are counted.
MOST_PAST = 20


class Chance(msgspec.Struct, frozen=True, rename="camel"):
    """So many of the past runs would hold it."""

    held: int
    of: int


class _Past(msgspec.Struct, frozen=True):
    """How a past run went: when its job started, after the start of its date, and how long it took."""

    started_after: timedelta
    took: timedelta


def first_breach(run: Run) -> datetime | None:
    """The deadline that counts: the earlier of the two."""
    moments = [at for at in (run.breach_at, run.relative_breach_at) if at is not None]
    return min(moments, default=None)


def chance(run: Run, others: Iterable[Run], zone_name: str, now: datetime) -> Chance | None:
    """None for a run that is over or has no deadline ahead, and without a past run to compare it with.

    `others` are runs of the same pipeline, newest first.
    """
    due = first_breach(run)
    if due is None or due <= now or not (run.is_open or run.awaits_retry):
        return None
    past = [found for other in others if (found := _past(other, run, zone_name))][:MOST_PAST]
    if not past:
        return None
    return Chance(sum(_finish(run, each, zone_name, now) <= due for each in past), len(past))


def _past(other: Run, run: Run, zone_name: str) -> _Past | None:
    """None unless it can be compared. A rerun does not tell when the inputs of a date are ready."""
    alike = other.key.schedule_id == run.key.schedule_id and other.key.dry == run.key.dry
    same_grain = len(other.key.date) == len(run.key.date)
    if not alike or not same_grain or other.key == run.key:
        return None
    if other.status is not Status.COMPLETED or other.opened_by is OpenedBy.RERUN:
        return None
    if other.launched_at is None or other.completed_at is None:
        return None
    started_after = other.launched_at - _start(other, zone_name)
    return _Past(started_after, other.completed_at - other.launched_at)


def _finish(run: Run, past: _Past, zone_name: str, now: datetime) -> datetime:
    if run.status is Status.RUNNING and run.launched_at is not None:
        return max(now, run.launched_at + past.took)
    usual = _start(run, zone_name) + past.started_after
    return max(now, run.retry_at or usual) + past.took


def _start(run: Run, zone_name: str) -> datetime:
    return starts_at(Label.parse(run.key.date), zone(zone_name))
