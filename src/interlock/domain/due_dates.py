"""Due dates: the dates with a deadline in a range of time, found from the range and not from today, and
those of a schedule that the watchdog must look at.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec

from interlock.domain import duration, zones
from interlock.domain.deadline import (
    UNKNOWN_LEAD,
    Deadlines,
    closes_at,
    deadlines,
    sla_zone,
    wall_deadline,
)
from interlock.domain.partition import Grain, Label, hours_of, instant_of, shifted, within_calendar
from interlock.domain.pipeline import Calendar, Pipeline, Schedule, Sla
from interlock.domain.run import DeadlineKind
from interlock.domain.schedule import Watched, sensor_driven, watched_dates, watched_on
from interlock.domain.standing import Standing
from interlock.domain.zones import zone

ARM_AHEAD = timedelta(minutes=75)
_HOUR, _DAY = timedelta(hours=1), timedelta(days=1)

#: The longest lead time of a warning: a longer expected duration does not warn earlier.
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


class Expected(msgspec.Struct, frozen=True):
    """A date on which a run is expected, and when."""

    date: str
    due_at: datetime


class DateDeadline(msgspec.Struct, frozen=True):
    """The moments of a date's deadline."""

    date: str
    instants: dict[DeadlineKind, datetime]


class Needs(msgspec.Struct, frozen=True):
    """The dates of a schedule that must be looked at, by what may be wrong with them."""

    expected: tuple[Expected, ...]
    closing: dict[str, datetime]
    deadlines: tuple[DateDeadline, ...]

    @property
    def dates(self) -> set[str]:
        found = {each.date for each in self.expected} | set(self.closing)
        return found | {each.date for each in self.deadlines}


def needs(
    pipeline: Pipeline, schedule: Schedule, since: datetime, standing: Standing, now: datetime
) -> Needs:
    """What must be read of a schedule to check it from `since` to now."""
    return Needs(
        tuple(_expected(pipeline, schedule, since, standing, now)),
        dict(_closing(pipeline, schedule, since, standing, now)),
        tuple(_deadlines(pipeline, schedule, since, standing, now)),
    )


def may_have_come(needs: Needs, schedule: Schedule, now: datetime) -> bool:
    """Whether a date is about to be closed or reported, so that a reading of it must be looked for first."""
    return bool(needs.closing) or any(now >= missed_at(schedule, each) for each in needs.expected)


def stand_ins(schedule: Schedule, date: str) -> list[str]:
    """The dates whose runs cover one that has none: the hours of a day that only readings open."""
    label = Label.parse(date)
    if not sensor_driven(schedule) or label.grain is not Grain.DAY:
        return []
    return [str(hour) for hour in hours_of(label.day, zone(schedule.timezone))]


def missed_at(schedule: Schedule, expected: Expected) -> datetime:
    """From when on a date without a run counts as missed."""
    over = expected.due_at + duration.parse(schedule.grace)
    if schedule.time is None:
        return over
    label = Label.parse(expected.date)
    hour, minute = map(int, schedule.time.split(":"))
    wall = Label(label.day, hour, minute).wall + schedule.offset * _DAY
    return max(over, instant_of(wall, zone(schedule.timezone)))


def _expected(
    pipeline: Pipeline, schedule: Schedule, since: datetime, standing: Standing, now: datetime
) -> Iterator[Expected]:
    if schedule.cron is None and schedule.include is None:
        return
    margin = max(duration.parse(schedule.grace), duration.parse(schedule.evaluation.window))
    if schedule.time is not None:
        margin = max(margin, _DAY * (1 + schedule.offset))
    for each in watched_dates(schedule, pipeline.calendars, since - margin, now):
        if each.due_at is not None and standing.since <= each.due_at:
            yield Expected(each.date, each.due_at)


def _closing(
    pipeline: Pipeline, schedule: Schedule, since: datetime, standing: Standing, now: datetime
) -> Iterator[tuple[str, datetime]]:
    for watched, at in closing_dates(schedule, pipeline.calendars, since, now):
        if at >= standing.since and standing.counts(watched.date, _begins_at(watched)):
            yield watched.date, at


def _deadlines(
    pipeline: Pipeline, schedule: Schedule, since: datetime, standing: Standing, now: datetime
) -> Iterator[DateDeadline]:
    if pipeline.sla is None or pipeline.dry_run:
        return
    until = now + ARM_AHEAD
    for watched, due in sla_dates(schedule, pipeline.sla, pipeline.calendars, since, until):
        if standing.counts(watched.date, _begins_at(watched)):
            yield DateDeadline(watched.date, dict(_moments(due, since, standing)))


def _moments(
    due: Deadlines, since: datetime, standing: Standing
) -> Iterator[tuple[DeadlineKind, datetime]]:
    """Those by the clock that the file has promised ahead. Rules that did not hold before the first look
    are no news.
    """
    if warning_at := standing.promised(due.warning_at):
        yield DeadlineKind.WARNING, warning_at
    if breach_at := standing.promised(due.breach_at):
        yield DeadlineKind.BREACH, breach_at
    readiness_at = standing.promised(due.readiness_at)
    if readiness_at is not None and readiness_at > since:
        yield DeadlineKind.READINESS, readiness_at


def _begins_at(watched: Watched) -> datetime:
    return watched.starts_at if watched.due_at is None else watched.due_at
