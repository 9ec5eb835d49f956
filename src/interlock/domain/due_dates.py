"""Due dates: the dates with a deadline in a range of time, found from the range and not from today."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from interlock.domain import duration, zones
from interlock.domain.deadline import (
    UNKNOWN_LEAD,
    Deadlines,
    closes_at,
    deadlines,
    sla_zone,
    wall_deadline,
)
from interlock.domain.partition import Label, shifted, within_calendar
from interlock.domain.pipeline import Calendar, Schedule, Sla
from interlock.domain.schedule import Watched, watched_dates, watched_on

_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)

#: A longer expected duration does not make the warning any earlier.
_LONGEST_LEAD = timedelta(days=31)


def closing_dates(
    schedule: Schedule, calendars: Mapping[str, Calendar], since: datetime, until: datetime
) -> Iterator[tuple[Watched, datetime]]:
    """The watched dates whose trigger deadline is in `since < closes_at <= until`."""
    since, until = within_calendar(since), within_calendar(until)
    if schedule.trigger is None or schedule.trigger.deadline is None:
        return iter(())
    text, zone = schedule.trigger.deadline, zones.zone(schedule.timezone)
    return (
        (watched, at)
        for watched in _dates_around(text, zone, schedule, calendars, since, until)
        if (at := closes_at(schedule, Label.parse(watched.date))) and since < at <= until
    )


def sla_dates(
    schedule: Schedule,
    sla: Sla,
    calendars: Mapping[str, Calendar],
    since: datetime,
    until: datetime,
) -> Iterator[tuple[Watched, Deadlines]]:
    """The watched dates with an absolute instant in `since < instant <= until`: a warning, a breach, or
    the one by which the rules must hold.
    """
    since, until = within_calendar(since), within_calendar(until)
    zone = sla_zone(schedule, sla)
    found: dict[str, Watched] = {}
    if sla.deadline is not None:
        latest = within_calendar(shifted(until, _longest_lead(schedule, sla)))
        for watched in _dates_around(sla.deadline, zone, schedule, calendars, since, latest):
            found[watched.date] = watched
    if sla.evaluation_deadline is not None:
        ready = _dates_around(sla.evaluation_deadline, zone, schedule, calendars, since, until)
        found = {watched.date: watched for watched in ready} | found
    due = (
        (found[date], deadlines(schedule, sla, Label.parse(date), calendars=calendars))
        for date in sorted(found)
    )
    return ((watched, moments) for watched, moments in due if _has_moment(moments, since, until))


def _has_moment(due: Deadlines, since: datetime, until: datetime) -> bool:
    moments = (due.warning_at, due.breach_at, due.readiness_at)
    return any(at and since < at <= until for at in moments)


def _longest_lead(schedule: Schedule, sla: Sla) -> timedelta:
    """How long before its breach a warning can come."""
    if sla.expected_duration is not None:
        return min(duration.parse(sla.expected_duration), _LONGEST_LEAD)
    if (sla.deadline or "").startswith(":"):
        return _HOUR  # a tenth of the few hours that an hour has, clock changes and all
    return max(UNKNOWN_LEAD, (schedule.offset + 2) * _DAY / 10)


def _dates_around(
    text: str,
    zone: ZoneInfo,
    schedule: Schedule,
    calendars: Mapping[str, Calendar],
    since: datetime,
    until: datetime,
) -> Iterator[Watched]:
    """The watched dates whose deadline of this form may lie in the range, few more."""
    if text.startswith(":"):
        # a date is over two hours after it began, unless a fold comes between
        reach = 2 * _HOUR + _clock_change(since, zones.zone(schedule.timezone))
        yield from watched_dates(schedule, calendars, since - reach, until, hourly=True)
        return
    day = since.astimezone(zone).date() - (schedule.offset + 1) * _DAY
    while day <= until.astimezone(zone).date() - schedule.offset * _DAY:
        at = wall_deadline(text, Label(day), schedule, zone)
        if at is not None and since < at <= until:
            yield from watched_on(schedule, calendars, day)
        day += _DAY


def _clock_change(instant: datetime, zone: ZoneInfo) -> timedelta:
    """By how much the clocks were changed in the two days before."""
    offsets = [at.astimezone(zone).utcoffset() for at in (instant - 2 * _DAY, instant)]
    return abs((offsets[1] or timedelta(0)) - (offsets[0] or timedelta(0)))
