"""Mutes: until when an alert waits."""

from collections.abc import Sequence
from datetime import datetime, time, timedelta

from interlock.domain import timestamp
from interlock.domain.alerting.alert_rules import Mute, Weekly
from interlock.domain.alerting.handling import Snooze
from interlock.domain.alerting.routes import matches
from interlock.domain.event import Event, Severity
from interlock.domain.pipeline import Weekday
from interlock.domain.zones import zone

#: Adjoining windows count as one, but no alert waits longer than this.
LONGEST = timedelta(days=8)
_WEEKDAYS = tuple(Weekday)
_DAY = timedelta(days=1)


def held_until(
    mutes: Sequence[Mute], event: Event, now: datetime, snooze: Snooze | None = None
) -> datetime | None:
    """When the windows that cover it now end, one after another, the snooze of its date among them; None
    when none does.
    """
    mine = [mute for mute in mutes if _covers(mute, event)]
    end = now
    while end < now + LONGEST and (later := _end_of(mine, end, event, snooze)) is not None:
        end = later
    return min(end, now + LONGEST) if end > now else None


def next_start(mute: Mute, now: datetime) -> datetime | None:
    """When its next window begins, after now; None if it has none."""
    if mute.weekly is None:
        since = timestamp.instant(mute.since) if mute.since else None
        return since if since is not None and since > now else None
    where = zone(mute.weekly.timezone)
    today = now.astimezone(where).date()
    days = (today + timedelta(days=n) for n in range(8))
    begins = (
        datetime.combine(day, _time(mute.weekly.since), where).astimezone(now.tzinfo)
        for day in days
        if _WEEKDAYS[day.weekday()] in mute.weekly.days
    )
    return next((moment for moment in begins if moment > now), None)


def is_endless(weekly: Weekly) -> bool:
    """Whether its windows cover the whole week, so that no alert would ever be sent."""
    somewhere = datetime.fromisoformat("2026-01-05T12:00:00Z")
    end: datetime | None = somewhere
    while end is not None and end < somewhere + LONGEST:
        end = _weekly_end(weekly, end)
    return end is not None


def _covers(mute: Mute, event: Event) -> bool:
    if event.severity is Severity.CRITICAL and not mute.include_critical:
        return False
    return matches(mute.match, event)


def _end_of(
    mutes: Sequence[Mute], moment: datetime, event: Event, snooze: Snooze | None
) -> datetime | None:
    ends = [end for mute in mutes if (end := window_end(mute, moment)) is not None]
    if snooze is not None and snooze.holds(event, moment):
        ends.append(snooze.until)
    return max(ends, default=None)


def window_end(mute: Mute, moment: datetime) -> datetime | None:
    """The end of its window around a moment. A window does not include its own end."""
    if mute.weekly is not None:
        return _weekly_end(mute.weekly, moment)
    since = timestamp.instant(mute.since) if mute.since else None
    until = timestamp.instant(mute.until) if mute.until else None
    if until is None or (since is not None and moment < since) or moment >= until:
        return None
    return until


def _weekly_end(weekly: Weekly, moment: datetime) -> datetime | None:
    """In local time, so that a window keeps its hours on days with a clock change."""
    where = zone(weekly.timezone)
    today = moment.astimezone(where).date()
    for day in (today - _DAY, today):
        if _WEEKDAYS[day.weekday()] not in weekly.days:
            continue
        begins = datetime.combine(day, _time(weekly.since), where)
        next_day = weekly.until == "24:00" or weekly.until <= weekly.since
        ends = datetime.combine(day + _DAY if next_day else day, _time(weekly.until), where)
        if begins <= moment < ends:
            return ends.astimezone(moment.tzinfo)
    return None


def _time(text: str) -> time:
    return time(0) if text == "24:00" else time.fromisoformat(text)
