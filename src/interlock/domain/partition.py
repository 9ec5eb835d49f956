"""Partition: the date label of a run, and the conversions between label, zone and instant.

A label is `2026-03-03` (a day), `2026-03-03T10` (an hour) or `2026-03-03T10:15` (a minute), in the
zone of its schedule. A label that a clock change skips never occurs; one that it repeats occurs once.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from enum import IntEnum
from functools import lru_cache
from typing import Self
from zoneinfo import ZoneInfo

import msgspec

_LABEL = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2})(?::([0-9]{2}))?)?"
    r"|([0-9]{4})([0-9]{2})([0-9]{2})(?:T([0-9]{2})([0-9]{2})?)?"
)

#: Within a day of these no zone's offset leads out of the calendar.
_FIRST_WALL = datetime(1, 1, 2)  # noqa: DTZ001 - a wall clock has no zone
_LAST_WALL = datetime(9999, 12, 30)  # noqa: DTZ001

_FIRST_SEARCHED = datetime(1, 2, 1, tzinfo=UTC)
_LAST_SEARCHED = datetime(9999, 12, 1, tzinfo=UTC)


#: How much of an ISO timestamp a label of each grain is.
_LENGTHS = (len("2026-03-03"), len("2026-03-03T10"), len("2026-03-03T10:15"))


class Grain(IntEnum):
    """How fine a label is; a finer grain is the greater one."""

    DAY = 0
    HOUR = 1
    MINUTE = 2


class Label(msgspec.Struct, frozen=True, order=True):
    """A date of a run. Labels of one grain sort as their texts do."""

    day: date
    hour: int | None = None
    minute: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read either spelling, with dashes or without. Raises ValueError for anything else."""
        return cls(*_parts(text))

    @property
    def grain(self) -> Grain:
        if self.hour is None:
            return Grain.DAY
        return Grain.HOUR if self.minute is None else Grain.MINUTE

    @property
    def wall(self) -> datetime:
        """The first wall-clock moment of the label, without a zone."""
        return datetime.combine(self.day, time(self.hour or 0, self.minute or 0))

    @property
    def compact(self) -> str:
        """The spelling without dashes: `20260303T1015`."""
        return str(self).replace("-", "").replace(":", "")

    def __str__(self) -> str:
        return label_text(self.wall, self.grain)


def utc(instant: datetime) -> datetime:
    """The instant in UTC. Raises ValueError for one without a zone: it could be any."""
    if instant.tzinfo is None:
        raise ValueError(f"{instant} has no zone")
    return instant.astimezone(UTC)


def within_calendar(instant: datetime) -> datetime:
    """The nearest instant, in UTC, with a month of calendar on either side to search in."""
    return min(max(utc(instant), _FIRST_SEARCHED), _LAST_SEARCHED)


def label_text(wall: datetime, grain: Grain) -> str:
    """The label of a wall clock as text, without building a Label."""
    return wall.isoformat()[: _LENGTHS[grain]]


@lru_cache(maxsize=8192)
def _parts(text: str) -> tuple[date, int | None, int | None]:
    """The day, hour and minute of a label. Cached: the same few dates are parsed repeatedly."""
    match = _LABEL.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a date such as 2026-03-03 or 2026-03-03T10")
    year, month, day, hour, minute = match.groups()[:5] if match[1] else match.groups()[5:]
    try:
        wall = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0))  # noqa: DTZ001
    except ValueError as error:
        raise ValueError(f"{text!r} is not in the calendar: {error}") from error
    return (
        wall.date(),
        None if hour is None else wall.hour,
        None if minute is None else wall.minute,
    )


def label_at(instant: datetime, zone: ZoneInfo, grain: Grain) -> Label:
    """The label that an instant belongs to."""
    local = utc(instant).astimezone(zone)
    return Label(
        local.date(),
        local.hour if grain >= Grain.HOUR else None,
        local.minute if grain >= Grain.MINUTE else None,
    )


def starts_at(label: Label, zone: ZoneInfo) -> datetime:
    """The first instant of a label (of a skipped one: the first instant after the gap)."""
    return instant_of(label.wall, zone)


@lru_cache(maxsize=8192)
def occurs(label: Label, zone: ZoneInfo) -> bool:
    """Whether the clocks of that zone ever show this label."""
    if not _FIRST_WALL <= label.wall <= _LAST_WALL:
        return True  # outside the calendar, where no clock change is known
    return label_at(starts_at(label, zone), zone, label.grain) == label


@lru_cache(maxsize=16384)
def instant_of(wall: datetime, zone: ZoneInfo) -> datetime:
    """When a wall clock shows this: in a fold the first time, in a gap the first instant after it.

    At the ends of the calendar, the nearest existing instant.
    """
    if not _FIRST_WALL <= wall <= _LAST_WALL:
        return min(max(wall, _FIRST_WALL), _LAST_WALL).replace(tzinfo=UTC)
    first = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if first.astimezone(zone).replace(tzinfo=None) == wall:
        return first
    return _end_of_gap(wall.replace(tzinfo=zone, fold=1).astimezone(UTC), first, zone)


def shifted(moment: datetime, span: timedelta) -> datetime:
    """`moment + span`, on a wall clock or as an instant, never beyond the calendar."""
    try:
        return moment + span
    except OverflowError:
        end = _LAST_WALL if span > timedelta(0) else _FIRST_WALL
        return end.replace(tzinfo=moment.tzinfo)


def labels_between(
    since: datetime, until: datetime, zone: ZoneInfo, grain: Grain
) -> Iterator[Label]:
    """The days or hours that begin in `since <= instant < until`, ascending."""
    since, until = within_calendar(since), within_calendar(until)
    # walls of both offsets: in a fold the later instant can show the earlier wall
    walls = [moment.astimezone(zone).replace(tzinfo=None) for moment in (since, until)]
    shift = walls[1] - walls[0] - (until - since)
    wall = min(walls[0], walls[0] + shift).replace(minute=0, second=0, microsecond=0)
    last = max(walls[1], walls[1] - shift)
    if grain is Grain.DAY:
        wall = wall.replace(hour=0)
    while wall <= last:
        label = Label(wall.date(), None if grain is Grain.DAY else wall.hour)
        if since <= starts_at(label, zone) < until and occurs(label, zone):
            yield label
        wall += timedelta(days=1) if grain is Grain.DAY else timedelta(hours=1)


def hours_of(day: date, zone: ZoneInfo) -> Iterator[Label]:
    """The hour labels that a day really has: 23 or 24."""
    for hour in range(24):
        label = Label(day, hour)
        if occurs(label, zone):
            yield label


def _end_of_gap(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """The instant in (before, after] at which the zone's offset changes."""
    old = before.astimezone(zone).utcoffset()
    low, high = 0, int((after - before).total_seconds())
    while high - low > 1:
        middle = (low + high) // 2
        if (before + timedelta(seconds=middle)).astimezone(zone).utcoffset() == old:
            low = middle
        else:
            high = middle
    return before + timedelta(seconds=high)
