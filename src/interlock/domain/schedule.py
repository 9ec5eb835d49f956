"""Schedule: when runs are expected. Cron moments and inclusion dates, minus exclusions."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

import msgspec

from interlock.domain import zones
from interlock.domain.calendars import expects
from interlock.domain.cron import Occurrence, check_cron, cron_grain, cron_moments
from interlock.domain.partition import (
    Grain,
    Label,
    hours_of,
    instant_of,
    labels_between,
    occurs,
    shifted,
    starts_at,
    utc,
    within_calendar,
)
from interlock.domain.pipeline import Calendar, Schedule

__all__ = [
    "Occurrence",
    "Watched",
    "begins_at",
    "check_cron",
    "covers",
    "cron_grain",
    "cron_moments",
    "expected_start",
    "is_expected",
    "next_occurrence",
    "occurrences",
    "opens_at",
    "parts_of",
    "sensor_driven",
    "watched_dates",
    "watched_on",
]

_TICK = timedelta(microseconds=1)
_DAY = timedelta(days=1)

#: How far ahead a next occurrence is looked for: beyond the eight years between two leap days.
_HORIZON = timedelta(days=10 * 366)


class Watched(msgspec.Struct, frozen=True):
    """A date to watch: its first instant, and when it is due (None: only readings determine it)."""

    date: str
    starts_at: datetime
    due_at: datetime | None = None


def sensor_driven(schedule: Schedule) -> bool:
    """Whether readings alone determine when it runs."""
    return schedule.cron is None and schedule.include is None


def occurrences(
    schedule: Schedule, calendars: Mapping[str, Calendar], since: datetime, until: datetime
) -> Iterator[Occurrence]:
    """The occurrences that are due in `since <= due_at < until`, ascending."""
    return (
        moment
        for moment in _moments(schedule, since, until)
        if expects(schedule, calendars, _day(moment))
    )


def next_occurrence(
    schedule: Schedule, calendars: Mapping[str, Calendar], after: datetime
) -> Occurrence | None:
    """The first occurrence due strictly after an instant; None when ten years have none."""
    since = within_calendar(shifted(utc(after), _TICK))
    until = within_calendar(shifted(since, _HORIZON))
    while (moment := _first_moment(schedule, since, until)) is not None:
        if expects(schedule, calendars, _day(moment)):
            return moment
        # days are excluded whole: a cron that fires every minute need not be evaluated for each of them
        since = max(_next_run_day(schedule, calendars, moment, until), moment.due_at + _TICK)
    return None


def opens_at(schedule: Schedule, day: date) -> datetime:
    """When an inclusion date without a trigger opens by itself."""
    return _at(schedule, day, schedule.time or "00:00")


def expected_start(schedule: Schedule, label: Label) -> datetime | None:
    """The cron moment of a label, or `time` of an inclusion date. None: only readings determine it."""
    if schedule.cron is not None:
        return _cron_start(schedule.cron, schedule.timezone, label)
    if schedule.include is None or (schedule.time is None and schedule.trigger is not None):
        return None
    return opens_at(schedule, label.day)


def watched_dates(
    schedule: Schedule,
    calendars: Mapping[str, Calendar],
    since: datetime,
    until: datetime,
    hourly: bool = False,
) -> Iterator[Watched]:
    """The dates that are due in `since <= due_at < until`, ascending.

    A sensor-driven schedule has no due times: its days, or its hours when the deadline in question is `:MM`,
    count by their first instant.
    """
    since, until, zone = utc(since), utc(until), zones.zone(schedule.timezone)
    if not sensor_driven(schedule):
        return (_watched(moment, zone) for moment in occurrences(schedule, calendars, since, until))
    return (
        Watched(str(label), starts_at(label, zone))
        for label in labels_between(since, until, zone, Grain.HOUR if hourly else Grain.DAY)
        if expects(schedule, calendars, label.day)
    )


def watched_on(
    schedule: Schedule, calendars: Mapping[str, Calendar], day: date
) -> Iterator[Watched]:
    """The dates of one local day, whenever they are due."""
    zone = zones.zone(schedule.timezone)
    if not expects(schedule, calendars, day) or not occurs(Label(day), zone):
        return
    start = starts_at(Label(day), zone)
    if schedule.cron is None:
        due_at = None if schedule.include is None else _included_at(schedule, day)
        yield Watched(day.isoformat(), start, due_at)
        return
    for moment in cron_moments(schedule.cron, schedule.timezone, start, shifted(start, 2 * _DAY)):
        if _day(moment) > day:
            return
        yield _watched(moment, zone)


def is_expected(schedule: Schedule, calendars: Mapping[str, Calendar], label: Label) -> bool:
    """Whether the schedule knows the date: its clock or its list has it or, if only readings determine when
    it runs, the calendar does not exclude its day.
    """
    if sensor_driven(schedule):
        return expects(schedule, calendars, label.day)
    text = str(label)
    return any(each.date == text for each in watched_on(schedule, calendars, label.day))


def begins_at(schedule: Schedule, calendars: Mapping[str, Calendar], label: Label) -> datetime:
    """When a date begins to be expected: at its due time, or at its first instant."""
    start = starts_at(label, zones.zone(schedule.timezone))
    if sensor_driven(schedule):
        return start
    text = str(label)
    moments = (each for each in watched_on(schedule, calendars, label.day) if each.date == text)
    found = next(moments, None)
    return start if found is None or found.due_at is None else found.due_at


def parts_of(schedule: Schedule, calendars: Mapping[str, Calendar], day: date) -> list[str]:
    """The dates that make up a whole day of an upstream: those that its cron expects, or every hour of the
    day if only readings open them.
    """
    if schedule.cron is not None:
        return [watched.date for watched in watched_on(schedule, calendars, day)]
    return [str(hour) for hour in hours_of(day, zones.zone(schedule.timezone))]


def covers(dates: Iterable[str], day: str) -> bool:
    """Whether runs of these dates stand in for the day: some are hours of it."""
    return any(other.startswith(f"{day}T") for other in dates)


def _watched(moment: Occurrence, zone: ZoneInfo) -> Watched:
    return Watched(moment.date, starts_at(Label.parse(moment.date), zone), moment.due_at)


def _moments(schedule: Schedule, since: datetime, until: datetime) -> Iterator[Occurrence]:
    """As `occurrences`, including excluded days."""
    if schedule.cron is not None:
        return cron_moments(schedule.cron, schedule.timezone, since, until)
    return _inclusions(schedule, within_calendar(since), within_calendar(until))


def _inclusions(schedule: Schedule, since: datetime, until: datetime) -> Iterator[Occurrence]:
    listed = () if schedule.include is None else schedule.include.dates
    reach = timedelta(days=schedule.offset + 3)
    earliest = (since - reach).date().isoformat()
    latest = (until + _DAY).date().isoformat()
    for text in sorted({text for text in listed if earliest <= text <= latest}):
        day = date.fromisoformat(text)
        due_at = _included_at(schedule, day)
        if since <= due_at < until and occurs(Label(day), zones.zone(schedule.timezone)):
            yield Occurrence(text, due_at)


def _included_at(schedule: Schedule, day: date) -> datetime:
    """When an inclusion date should have its run; with a trigger, by when."""
    if schedule.trigger is None:
        return opens_at(schedule, day)
    if schedule.time is None:
        return _at(schedule, day, "00:00", schedule.offset + 1)
    return _at(schedule, day, schedule.time, schedule.offset)


def _at(schedule: Schedule, day: date, clock: str, days: int = 0) -> datetime:
    wall = datetime.combine(day, time.fromisoformat(clock))
    return instant_of(shifted(wall, timedelta(days=days)), zones.zone(schedule.timezone))


def _first_moment(schedule: Schedule, since: datetime, until: datetime) -> Occurrence | None:
    """Most crons fire within a day, and a day is cheap to check."""
    near = min(until, since + _DAY)
    return next(_moments(schedule, since, near), None) or next(
        _moments(schedule, near, until), None
    )


def _next_run_day(
    schedule: Schedule, calendars: Mapping[str, Calendar], moment: Occurrence, until: datetime
) -> datetime:
    """The start of the first day after an excluded instant that is not excluded."""
    day = _day(moment) + _DAY
    while day <= until.date() and not expects(schedule, calendars, day):
        day += _DAY
    return starts_at(Label(day), zones.zone(schedule.timezone))


@lru_cache(maxsize=16384)
def _cron_start(cron: str, zone_name: str, label: Label) -> datetime | None:
    text, start = str(label), starts_at(label, zones.zone(zone_name))
    for moment in cron_moments(cron, zone_name, start, shifted(start, 2 * _DAY)):
        if moment.date >= text:
            return moment.due_at if moment.date == text else None
    return None


def _day(moment: Occurrence) -> date:
    return date.fromisoformat(moment.date[:10])
