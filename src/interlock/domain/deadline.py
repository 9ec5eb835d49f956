"""Deadline: the instants by which a date must be done, when to warn, and the SLA verdict.

All of it follows from the pipeline file and the date; nothing depends on now.
"""

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

import msgspec

from interlock.domain import duration, zones
from interlock.domain.calendars import expects
from interlock.domain.partition import Grain, Label, instant_of, shifted, starts_at, utc
from interlock.domain.pipeline import Calendar, Schedule, Sla
from interlock.domain.schedule import expected_start

#: How long before the breach to warn when nothing says when the run should start.
UNKNOWN_LEAD = timedelta(minutes=10)

_MINUTE = timedelta(minutes=1)
_NO_CALENDARS: Mapping[str, Calendar] = {}


class SlaVerdict(StrEnum):
    """Whether a run met its deadline."""

    MET = "MET"
    BREACHED = "BREACHED"


class Deadline(msgspec.Struct, frozen=True):
    """The two instants of one deadline; both None if there is none."""

    warning_at: datetime | None = None
    breach_at: datetime | None = None


class Deadlines(msgspec.Struct, frozen=True):
    """The moments of a date: absolute, relative to its first reading, and by when its rules must hold."""

    warning_at: datetime | None = None
    breach_at: datetime | None = None
    relative_warning_at: datetime | None = None
    relative_breach_at: datetime | None = None
    readiness_at: datetime | None = None

    @property
    def earliest(self) -> Deadline:
        """The deadline that counts: the one with the earlier breach."""
        clock = Deadline(self.warning_at, self.breach_at)
        relative = Deadline(self.relative_warning_at, self.relative_breach_at)
        if self.relative_breach_at is None:
            return clock
        if self.breach_at is None or self.relative_breach_at < self.breach_at:
            return relative
        return clock


def verdict(breach_at: datetime, completed_at: datetime | None) -> SlaVerdict:
    """MET only when it completed before the breach instant; never completed is not met."""
    met = completed_at is not None and utc(completed_at) < utc(breach_at)
    return SlaVerdict.MET if met else SlaVerdict.BREACHED


def deadlines(
    schedule: Schedule,
    sla: Sla,
    label: Label,
    first_sensor_at: datetime | None = None,
    calendars: Mapping[str, Calendar] = _NO_CALENDARS,
) -> Deadlines:
    """The instants of a date, in whole seconds. An excluded date has none."""
    if not expects(schedule, calendars, label.day):
        return Deadlines()
    clock = _by_the_clock(schedule, sla, label)
    relative = _relative(sla, first_sensor_at)
    return Deadlines(
        clock.warning_at,
        clock.breach_at,
        relative.warning_at,
        relative.breach_at,
        _readiness(schedule, sla, label),
    )


def closes_at(schedule: Schedule, label: Label) -> datetime | None:
    """When the automatic window of a date closes: its trigger deadline."""
    if schedule.trigger is None or schedule.trigger.deadline is None:
        return None
    return wall_deadline(schedule.trigger.deadline, label, schedule, zones.zone(schedule.timezone))


def unknown(schedule: Schedule, sla: Sla, label: Label) -> str | None:
    """The first deadline of the SLA that does not apply to this date: `:MM`, for a day."""
    zone = sla_zone(schedule, sla)
    for text in (sla.deadline, sla.evaluation_deadline):
        if text is not None and wall_deadline(text, label, schedule, zone) is None:
            return text
    return None


def wall_deadline(text: str, label: Label, schedule: Schedule, zone: ZoneInfo) -> datetime | None:
    """The instant that `HH:MM` (in `zone`) or `:MM` (in the schedule's zone) means for a date.

    None for `:MM` and a day: it could be any hour.
    """
    if not text.startswith(":"):
        wall = datetime.combine(label.day, time.fromisoformat(text))
        return instant_of(shifted(wall, timedelta(days=schedule.offset)), zone)
    minute, own = int(text[1:]), zones.zone(schedule.timezone)
    if label.grain is Grain.DAY:
        return None
    if label.grain is Grain.HOUR:
        return instant_of(shifted(label.wall, timedelta(hours=1, minutes=minute)), own)
    return _next_minute(minute, starts_at(label, own), own)


def sla_zone(schedule: Schedule, sla: Sla) -> ZoneInfo:
    """The zone of the SLA's `HH:MM`."""
    return zones.zone(sla.timezone or schedule.timezone)


def _by_the_clock(schedule: Schedule, sla: Sla, label: Label) -> Deadline:
    if sla.deadline is None:
        return Deadline()
    breach_at = wall_deadline(sla.deadline, label, schedule, sla_zone(schedule, sla))
    if breach_at is None:
        return Deadline()
    return _deadline(breach_at, _lead(schedule, sla, label, breach_at))


def _readiness(schedule: Schedule, sla: Sla, label: Label) -> datetime | None:
    if sla.evaluation_deadline is None:
        return None
    return wall_deadline(sla.evaluation_deadline, label, schedule, sla_zone(schedule, sla))


def _lead(schedule: Schedule, sla: Sla, label: Label, breach_at: datetime) -> timedelta:
    """How long before the breach to warn. A breach before the start is warned of when it happens."""
    if sla.expected_duration is not None:
        return duration.parse(sla.expected_duration)
    start = expected_start(schedule, label)
    if start is None:
        return UNKNOWN_LEAD
    return max(breach_at - start, timedelta(0)) / 10


def _relative(sla: Sla, first_sensor_at: datetime | None) -> Deadline:
    if sla.max_duration is None or first_sensor_at is None:
        return Deadline()
    longest = duration.parse(sla.max_duration)
    lead = duration.parse(sla.expected_duration) if sla.expected_duration else longest / 4
    return _deadline(shifted(utc(first_sensor_at), longest), lead)


def _deadline(breach_at: datetime, lead: timedelta) -> Deadline:
    warning_at = shifted(breach_at, -lead)
    return Deadline(warning_at.replace(microsecond=0), breach_at.replace(microsecond=0))


def _next_minute(minute: int, after: datetime, zone: ZoneInfo) -> datetime:
    """The next instant whose local minute is this; clocks may jump by half an hour on the way."""
    moment = after + _MINUTE
    while moment.astimezone(zone).minute != minute:
        moment += _MINUTE
    return moment
