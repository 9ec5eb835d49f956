"""Calendars: which days are run days. Weekdays, dates, named calendars, holidays, inclusion dates."""

from collections.abc import Iterator, Mapping
from datetime import date

import msgspec

from interlock.domain.pipeline import Calendar, Exclusion, Schedule, Weekday, holiday_calendar

_WEEKDAYS = tuple(Weekday)
_WEEKEND = (Weekday.SATURDAY, Weekday.SUNDAY)


class Excluded(msgspec.Struct, frozen=True):
    """What keeps a date free of runs; `name` says which calendar or country, if any."""

    by: str
    name: str | None = None


def expects(schedule: Schedule, calendars: Mapping[str, Calendar], day: date) -> bool:
    """Whether runs are expected on that day at all."""
    return excluded(schedule, calendars, day) is None


def excluded(schedule: Schedule, calendars: Mapping[str, Calendar], day: date) -> Excluded | None:
    """The first reason why a local day has no runs. A missing calendar has no days."""
    if schedule.exclude is None and schedule.calendar is None and schedule.include is None:
        return None
    return next(_reasons(schedule, calendars, day), None)


def _reasons(
    schedule: Schedule, calendars: Mapping[str, Calendar], day: date
) -> Iterator[Excluded]:
    text, weekday = day.isoformat(), _WEEKDAYS[day.weekday()]
    exclude = schedule.exclude or Exclusion()
    if exclude.weekends and weekday in _WEEKEND:
        yield Excluded("weekends")
    if weekday in exclude.days:
        yield Excluded("days")
    if text in exclude.dates:
        yield Excluded("dates")
    for name in (schedule.calendar, exclude.calendar):
        if name is not None and _lists(calendars.get(name), text, weekday):
            yield Excluded("calendar", name)
    if exclude.holidays is not None:
        holidays = calendars.get(holiday_calendar(exclude.holidays))
        if _lists(holidays, text, weekday):
            yield Excluded("holidays", exclude.holidays)
    if schedule.include is not None and text not in schedule.include.dates:
        yield Excluded("include")


def _lists(calendar: Calendar | None, text: str, weekday: Weekday) -> bool:
    return calendar is not None and (text in calendar.dates or weekday in calendar.days)
