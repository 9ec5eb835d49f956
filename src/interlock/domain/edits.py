"""Edits: what another file changes in the schedules of a pipeline, and since when each counts.

One function decides it, both for adopting the file and for a preview. The old form covers what lies before
the edit, the new one what lies after it.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec

from interlock.domain.due_dates import closing_dates, sla_dates
from interlock.domain.partition import within_calendar
from interlock.domain.pipeline import Pipeline, Schedule
from interlock.domain.schedule import Watched, next_occurrence, occurrences
from interlock.domain.standing import (
    Standing,
    changed_fields,
    deadlines_of,
    moments_of,
    standing_since,
)

_DAY = timedelta(days=1)

#: No two zones are farther apart than this, so labels repeat or are skipped within it.
_REACH = timedelta(hours=26)


class EditKind(StrEnum):
    """What an edit means for one schedule."""

    NEW = "new"
    UNCHANGED = "unchanged"
    RENAMED = "renamed"
    CHANGED = "changed"
    REMOVED = "removed"


class FileEdit(msgspec.Struct, frozen=True, rename="camel"):
    """What a file would change: `new`, `unchanged`, `changed` or `retired`."""

    pipeline_id: str
    change: str
    #: One for each schedule, in words and as data.
    lines: tuple[str, ...] = ()
    schedules: tuple[dict[str, Any], ...] = ()


class ScheduleEdit(msgspec.Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """What an edit means for one schedule."""

    schedule: str
    kind: EditKind
    #: Since when its moments count; for a removed schedule, until when they did.
    since: datetime
    #: Its former id; dates that ran under it count as run.
    formerly: str | None = None
    #: The fields that have changed.
    changed: tuple[str, ...] = ()
    #: The next date that it expects, and when.
    next_date: str | None = None
    next_due: datetime | None = None
    #: Dates that were ahead in the old file and are past in this one: they do not run.
    skipped: tuple[str, ...] = ()
    #: Dates that are due again but already have a run: they do not run again.
    repeated: tuple[str, ...] = ()
    #: Dates whose deadline was ahead, and in this file lies before its adoption: it is not judged.
    overtaken: tuple[str, ...] = ()


class Edit(msgspec.Struct, frozen=True):
    """What a file changes: for people, and for what is stored with it."""

    schedules: tuple[ScheduleEdit, ...]
    standings: dict[str, Standing]
    formerly: dict[str, str]


class _Pair(msgspec.Struct, frozen=True):
    """A schedule before and after the edit."""

    before: Pipeline
    after: Pipeline
    old: Schedule
    new: Schedule
    standing: Standing
    now: datetime

    @property
    def moved(self) -> tuple[str, ...]:
        """The fields of its occurrences that differ."""
        return changed_fields(
            moments_of(self.old, self.before.calendars), moments_of(self.new, self.after.calendars)
        )

    @property
    def promised(self) -> tuple[str, ...]:
        """The fields of its deadlines that differ, besides those of its occurrences."""
        return changed_fields(deadlines_of(self.before), deadlines_of(self.after))


def edit_of(
    before: Pipeline | None,
    standings: Mapping[str, Standing],
    after: Pipeline,
    now: datetime,
    ran: Mapping[str, Collection[str]] | None = None,
) -> Edit:
    """`standings` are those of the schedules before; `ran` which of `doubtful_dates` have a run."""
    ran = ran or {}
    ids = {} if before is None else paired(before, after)
    kept: dict[str, Standing] = {}
    edits = []
    for schedule in after.schedules:
        if before is None or schedule.id not in ids:
            fresh = standing_since(now)
            if before is not None:
                fresh = msgspec.structs.replace(fresh, readings_since=now)
            kept[schedule.id] = fresh
            edits.append(_described(schedule, after, EditKind.NEW, now, now))
            continue
        old = before.schedule(ids[schedule.id])
        pair = _Pair(before, after, old, schedule, standings[old.id], now)
        kept[schedule.id] = _standing(pair)
        edits.append(_compared(pair, kept[schedule.id], set(ran.get(schedule.id, ()))))
    gone = [] if before is None else [s.id for s in before.schedules if s.id not in ids.values()]
    edits += [ScheduleEdit(schedule=name, kind=EditKind.REMOVED, since=now) for name in gone]
    formerly = {} if before is None else _formerly(before, after, ids)
    kept |= {old: kept[new] for old, new in formerly.items()}
    return Edit(tuple(edits), kept, formerly)


def doubtful_dates(
    before: Pipeline | None, standings: Mapping[str, Standing], after: Pipeline, now: datetime
) -> dict[str, set[str]]:
    """By schedule, the dates of which `edit_of` must know whether they have a run."""
    found: dict[str, set[str]] = {}
    for new, old in ({} if before is None else paired(before, after)).items():
        assert before is not None
        pair = _Pair(before, after, before.schedule(old), after.schedule(new), standings[old], now)
        dates = {*_overtaken(pair)}
        if pair.moved:
            dates |= {*_ahead(pair.new, after, now), *_passed_over(pair)}
        if dates:
            found[new] = dates
    return found


def dates_ahead(before: Pipeline, after: Pipeline, now: datetime) -> dict[str, list[str]]:
    """By their former ids, the dates that edited schedules have ahead in the new file."""
    return {
        old: _ahead(after.schedule(new), after, now)
        for new, old in paired(before, after).items()
        if _differs(before, before.schedule(old), after, after.schedule(new))
    }


def _differs(before: Pipeline, old: Schedule, after: Pipeline, new: Schedule) -> bool:
    moments = moments_of(old, before.calendars) != moments_of(new, after.calendars)
    return moments or deadlines_of(before) != deadlines_of(after)


def paired(before: Pipeline, after: Pipeline) -> dict[str, str]:
    """Which schedule of a file is which of the file before, by their ids.

    The id decides; then equal moments; and the only schedule of a pipeline stays its only schedule.
    """
    old = {schedule.id: schedule for schedule in before.schedules}
    found = {each.id: each.id for each in after.schedules if each.id in old}
    free = [schedule for name, schedule in old.items() if name not in found]
    for schedule in after.schedules:
        if schedule.id in found:
            continue
        moments = moments_of(schedule, after.calendars)
        same = [each for each in free if moments_of(each, before.calendars) == moments]
        if not same and len(old) == len(after.schedules) == 1:
            same = free
        if same:
            found[schedule.id] = same[0].id
            free.remove(same[0])
    return found


def _formerly(before: Pipeline, after: Pipeline, ids: Mapping[str, str]) -> dict[str, str]:
    """An id belongs to the schedule that has it now, even if another had it before."""
    taken = {schedule.id for schedule in after.schedules}
    return {
        name: new
        for new, old in ids.items()
        for name in (*before.former_ids(old), old)
        if name not in taken
    }


def _standing(pair: _Pair) -> Standing:
    if pair.moved:
        return Standing(
            since=pair.now,
            deadlines_since=pair.now,
            readings_since=pair.now,
            carried=tuple(sorted(_open_dates(pair))),
        )
    if pair.promised:
        return msgspec.structs.replace(pair.standing, deadlines_since=pair.now)
    return pair.standing


def _open_dates(pair: _Pair) -> set[str]:
    """Dates that have begun and whose trigger deadline or SLA is still ahead, by the form before."""
    closing = closing_dates(pair.old, pair.before.calendars, pair.now, _far(pair))
    begun = {watched.date for watched, _ in closing if _has_begun(watched, pair)}
    return begun | {watched.date for watched, _ in _with_breach(pair) if _has_begun(watched, pair)}


def _with_breach(pair: _Pair) -> Iterator[tuple[Watched, datetime]]:
    """The dates with a breach ahead, by the form before."""
    sla = pair.before.sla
    if sla is None or pair.before.dry_run:
        return
    due = sla_dates(pair.old, sla, pair.before.calendars, pair.now, _far(pair))
    for watched, moments in due:
        at = moments.breach_at or moments.readiness_at
        if at is not None and at > pair.now and pair.standing.counts(*_beginning(watched)):
            yield watched, at


def _overtaken(pair: _Pair) -> Iterator[str]:
    """Dates whose breach was ahead, and by the new file is not."""
    sla = pair.after.sla
    if sla is None or sla.deadline is None or not (pair.moved or pair.promised):
        return
    ahead = {watched.date for watched, _ in _with_breach(pair)}
    since = within_calendar(pair.now - (pair.new.offset + 2) * _DAY)
    for watched, due in sla_dates(pair.new, sla, pair.after.calendars, since, pair.now):
        if watched.date in ahead and due.breach_at is not None and due.breach_at <= pair.now:
            yield watched.date


def _has_begun(watched: Watched, pair: _Pair) -> bool:
    date, begins_at = _beginning(watched)
    return begins_at < pair.now and pair.standing.counts(date, begins_at)


def _beginning(watched: Watched) -> tuple[str, datetime]:
    return watched.date, watched.due_at or watched.starts_at


def _far(pair: _Pair) -> datetime:
    return within_calendar(pair.now + (pair.old.offset + 2) * _DAY)


def _ahead(schedule: Schedule, pipeline: Pipeline, now: datetime) -> list[str]:
    moments = occurrences(schedule, pipeline.calendars, now, within_calendar(now + _REACH))
    return [moment.date for moment in moments]


def _passed_over(pair: _Pair) -> list[str]:
    """Dates that were ahead, and are past in the new form."""
    since = within_calendar(pair.now - _REACH - (pair.new.offset + 1) * _DAY)
    behind = {
        moment.date for moment in occurrences(pair.new, pair.after.calendars, since, pair.now)
    }
    return [date for date in _ahead(pair.old, pair.before, pair.now) if date in behind]


def _compared(pair: _Pair, standing: Standing, ran: set[str]) -> ScheduleEdit:
    moved, promised = pair.moved, pair.promised
    renamed = pair.old.id != pair.new.id
    kind = EditKind.RENAMED if renamed else EditKind.UNCHANGED
    if moved or promised:
        kind = EditKind.CHANGED
    described = _described(pair.new, pair.after, kind, standing.since, pair.now)
    return msgspec.structs.replace(
        described,
        formerly=pair.old.id if renamed else None,
        changed=(*moved, *(f"sla.{name}" for name in promised)),
        skipped=tuple(d for d in _passed_over(pair) if d not in ran) if moved else (),
        repeated=tuple(d for d in _ahead(pair.new, pair.after, pair.now) if d in ran)
        if moved
        else (),
        overtaken=tuple(d for d in _overtaken(pair) if d not in ran),
    )


def _described(
    schedule: Schedule, pipeline: Pipeline, kind: EditKind, since: datetime, now: datetime
) -> ScheduleEdit:
    moment = next_occurrence(schedule, pipeline.calendars, now)
    return ScheduleEdit(
        schedule=schedule.id,
        kind=kind,
        since=since,
        next_date=None if moment is None else moment.date,
        next_due=None if moment is None else moment.due_at,
    )
