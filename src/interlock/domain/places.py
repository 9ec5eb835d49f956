"""Places: how many jobs of a pipeline may run at once, which attempts have a place, and which wait for one.

A place belongs to an attempt while its run is in progress. A finished attempt has none, whether or not
its end was recorded here: so a crash never loses a place for good.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

import msgspec

from interlock.domain.run import Run, RunKey, Status

#: How often, at least, a run that waits for a place looks for one.
LOOK = timedelta(minutes=5)
#: No more than this are kept by name: the oldest go first.
MOST_WAITING = 100


class Holder(msgspec.Struct, frozen=True, order=True, rename="camel"):
    """One attempt of one date; in the order of dates."""

    date: str
    schedule_id: str
    attempt: int


class Places(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The places of a pipeline. Version 0 is not stored yet."""

    pipeline_id: str
    version: int = 0
    holders: tuple[Holder, ...] = ()
    waiting: tuple[Holder, ...] = ()

    def key(self, holder: Holder) -> RunKey:
        return RunKey(self.pipeline_id, holder.schedule_id, holder.date)

    def keys(self, holders: Iterable[Holder]) -> tuple[RunKey, ...]:
        return tuple(map(self.key, holders))


class Seating(msgspec.Struct, frozen=True):
    """The places afterwards, and the attempts that this one waits for; none when it has a place."""

    places: Places
    behind: tuple[RunKey, ...] = ()


def holder_of(run: Run) -> Holder:
    return Holder(run.key.date, run.key.schedule_id, run.attempt)


def counted(places: Places, runs: Iterable[Run]) -> Places:
    """With the attempts among these that have a job and took no place: their file had no limit."""
    found = {holder_of(run) for run in runs if _has_job(run) and not run.key.dry}
    return _with(places, tuple(found.union(places.holders)), places.waiting)


def before(places: Places, run: Run) -> tuple[Holder, ...]:
    """The waiting attempts of older dates."""
    me = holder_of(run)
    return tuple(each for each in places.waiting if each < me)


def is_full(places: Places, run: Run, runs: Mapping[RunKey, Run], most: int) -> bool:
    me = holder_of(run)
    return me not in places.holders and len(_held(places, me, runs)) >= most


def seat(places: Places, run: Run, runs: Mapping[RunKey, Run], most: int, now: datetime) -> Seating:
    """Give the attempt a place if one is free and no older date that still looks for one wants it."""
    me = holder_of(run)
    held, others = _held(places, me, runs), tuple(each for each in places.waiting if each != me)
    if me in places.holders:
        return Seating(_with(places, (*held, me), others))
    ahead = [each for each in before(places, run) if _looks(places, each, runs, now)]
    if len(held) + len(ahead) < most:
        return Seating(_with(places, (*held, me), others))
    waiting = tuple(sorted((*others, me))[:MOST_WAITING])
    return Seating(_with(places, held, waiting), places.keys((*held, *ahead)))


def leave(places: Places, run: Run, runs: Mapping[RunKey, Run], most: int) -> Seating:
    """An attempt whose rules do not hold needs no place. Returns those it would wait for."""
    me = holder_of(run)
    held = _held(places, me, runs)
    waiting = tuple(each for each in places.waiting if each != me)
    behind = places.keys(held) if len(held) >= most else ()
    return Seating(_with(places, held, waiting), behind)


def _held(places: Places, me: Holder, runs: Mapping[RunKey, Run]) -> tuple[Holder, ...]:
    """The other holders that are in progress."""
    return tuple(
        each
        for each in places.holders
        if each != me and _is_under_way(each, runs.get(places.key(each)))
    )


def _is_under_way(holder: Holder, run: Run | None) -> bool:
    """A run that has its place and is not launched yet is about to be."""
    return run is not None and run.attempt == holder.attempt and run.is_open


def _looks(places: Places, holder: Holder, runs: Mapping[RunKey, Run], now: datetime) -> bool:
    """Whether it still waits, and has looked for a place lately: a dead one must not hold up others."""
    run = runs.get(places.key(holder))
    if run is None or run.attempt != holder.attempt or run.status is not Status.PENDING:
        return False
    return run.waits_at is not None and now - run.waits_at <= 2 * LOOK + timedelta(minutes=1)


def _has_job(run: Run) -> bool:
    return run.status in (Status.TRIGGERING, Status.RUNNING)


def _with(places: Places, holders: tuple[Holder, ...], waiting: tuple[Holder, ...]) -> Places:
    return msgspec.structs.replace(places, holders=tuple(sorted(holders)), waiting=waiting)
