"""Backfill range: the dates between two labels that a schedule expects, and why a range is not accepted.

A label covers everything that it names: a day covers its hours, an hour its minutes.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

import msgspec

from interlock.domain import zones
from interlock.domain.calendars import expects
from interlock.domain.cron import cron_grain
from interlock.domain.partition import Grain, Label, hours_of, occurs, starts_at
from interlock.domain.pipeline import Calendar, Schedule, Sla
from interlock.domain.schedule import Watched, sensor_driven, watched_on

#: The most dates of one backfill, and the most days that its range may span.
MOST_DATES = 10_000
MOST_DAYS = 10_000

_DAY = timedelta(days=1)
_WORDS = {Grain.DAY: "day", Grain.HOUR: "hour", Grain.MINUTE: "minute"}


class BackfillRange(msgspec.Struct, frozen=True):
    """From one label to another, both included."""

    first: Label
    last: Label

    def covers(self, text: str) -> bool:
        first, last = str(self.first), str(self.last)
        return first <= text[: len(first)] and text[: len(last)] <= last


class DateRules(msgspec.Struct, frozen=True):
    """What says which dates a schedule has. `seen` are the grains of the newest dates that ran."""

    schedule: Schedule
    calendars: Mapping[str, Calendar]
    sla: Sla | None = None
    seen: frozenset[Grain] = frozenset()

    @property
    def grain(self) -> Grain | None:
        """The grain of its dates; None while only readings could tell, and none has."""
        if self.schedule.cron is not None:
            return cron_grain(self.schedule.cron)
        if not sensor_driven(self.schedule):
            return Grain.DAY
        if self.seen:
            return max(self.seen)
        hourly = self.sla is not None and (self.sla.deadline or "").startswith(":")
        return Grain.HOUR if hourly else None


def dates_of(wanted: BackfillRange, rules: DateRules, now: datetime) -> list[str]:
    """The dates of a range in the past, ascending. Raises ValueError, with a sentence for the caller, for a
    range that is not accepted as a whole.
    """
    found = _watched_in(wanted, rules)
    _check_past(found, rules.schedule, now)
    return [each.date for each in found]


def dates_in_range(wanted: BackfillRange, rules: DateRules) -> list[str]:
    """The same for a range that may lie in the future."""
    return [each.date for each in _watched_in(wanted, rules)]


def _watched_in(wanted: BackfillRange, rules: DateRules) -> list[Watched]:
    _check_order(wanted)
    grain = _grain(wanted, rules)
    found: list[Watched] = []
    for day in _days(wanted):
        found += [each for each in _dates_on(rules, day, grain) if wanted.covers(each.date)]
        if len(found) > MOST_DATES:
            raise ValueError(f"a range has at most {MOST_DATES:,} dates: choose a shorter one")
    return found


def is_expected(text: str, rules: DateRules) -> bool:
    """Whether the schedule still has this date."""
    label = Label.parse(text)
    return any(each.date == text for each in _dates_on(rules, label.day, label.grain))


def _dates_on(rules: DateRules, day: date, grain: Grain) -> Iterator[Watched]:
    """The dates of one local day; the grain counts where readings alone open them."""
    schedule, calendars = rules.schedule, rules.calendars
    if not sensor_driven(schedule) or grain is Grain.DAY:
        yield from watched_on(schedule, calendars, day)
        return
    zone = zones.zone(schedule.timezone)
    if expects(schedule, calendars, day) and occurs(Label(day), zone):
        for hour in hours_of(day, zone):
            yield Watched(str(hour), starts_at(hour, zone))


def _check_order(wanted: BackfillRange) -> None:
    first, last = str(wanted.first), str(wanted.last)
    if first[: len(last)] > last[: len(first)]:
        raise ValueError(f"{first} is after {last}: name the earlier date first")
    days = (wanted.last.day - wanted.first.day).days + 1
    if days > MOST_DAYS:
        raise ValueError(f"the range has {days:,} days: it may have at most {MOST_DAYS:,}")


def _grain(wanted: BackfillRange, rules: DateRules) -> Grain:
    """The grain of the dates. Raises ValueError when a label is finer than that."""
    finest = max(wanted.first.grain, wanted.last.grain)
    grain = rules.grain
    if grain is None:
        grain = finest
        if grain is Grain.MINUTE:
            raise ValueError(f"{_finer(wanted, Grain.HOUR)} names a minute: name a day or an hour")
    if finest > grain:
        label = _finer(wanted, grain)
        right = str(label)[: len("2026-03-03T10" if grain is Grain.HOUR else "2026-03-03")]
        each = _WORDS[grain]
        raise ValueError(
            f"{label} names one {_WORDS[label.grain]}, but the dates of this schedule are {each}s:"
            f" write {right}"
        )
    return grain


def _finer(wanted: BackfillRange, grain: Grain) -> Label:
    return wanted.first if wanted.first.grain > grain else wanted.last


def _days(wanted: BackfillRange) -> Iterator[date]:
    day = wanted.first.day
    while day < wanted.last.day:
        yield day
        day += _DAY
    yield day


def _check_past(found: Sequence[Watched], schedule: Schedule, now: datetime) -> None:
    """Raises ValueError if one of them has not begun."""
    begun = [each for each in found if _begins_at(each, schedule) <= now]
    if len(begun) == len(found):
        return
    first = next(each for each in found if _begins_at(each, schedule) > now)
    last = (
        f"the last date of the range that may run now is {begun[-1].date}"
        if begun
        else ("no date of the range has begun")
    )
    raise ValueError(f"{first.date} is in the future: {last}")


def _begins_at(each: Watched, schedule: Schedule) -> datetime:
    """When a date begins to be expected; one that waits for a reading, at its first instant."""
    by_clock = schedule.cron is not None or schedule.trigger is None
    return each.due_at if by_clock and each.due_at is not None else each.starts_at
