"""Horizon: how far ahead a date may be and still be accepted."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from interlock.domain import duration
from interlock.domain.partition import Grain, Label, label_at, shifted, starts_at
from interlock.domain.pipeline import Calendar, Schedule
from interlock.domain.schedule import next_occurrence, sensor_driven
from interlock.domain.zones import zone

#: For schedules without a cron that gives the next date.
SENSOR_HORIZON = timedelta(days=2)

_SPANS = {
    Grain.DAY: timedelta(days=1),
    Grain.HOUR: timedelta(hours=1),
    Grain.MINUTE: timedelta(minutes=1),
}
_TICK = timedelta(microseconds=1)


def last_believed(
    schedule: Schedule, calendars: Mapping[str, Calendar], label: Label, now: datetime
) -> Label | None:
    """The last accepted date, if this one is beyond it; None if it is not."""
    where = zone(schedule.timezone)
    start = starts_at(label, where)
    if start <= now:
        return None
    farthest = _farthest(schedule, calendars, now)
    return None if start <= farthest else label_at(farthest, where, label.grain)


def _farthest(schedule: Schedule, calendars: Mapping[str, Calendar], now: datetime) -> datetime:
    """The last instant at which an accepted date may begin."""
    wider = duration.parse(schedule.horizon) if schedule.horizon else timedelta(0)
    moment = None if sensor_driven(schedule) else next_occurrence(schedule, calendars, now)
    if moment is None:
        return shifted(now, max(SENSOR_HORIZON, wider))
    upcoming = Label.parse(moment.date)
    end = shifted(starts_at(upcoming, zone(schedule.timezone)), _SPANS[upcoming.grain] - _TICK)
    return max(end, shifted(now, wider))
