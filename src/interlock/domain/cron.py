"""Cron: five fields, and the instants at which they fire in a zone with clock changes.

The moments are cronsim's, with one addition: each label has one occurrence. When a clock change makes two
fires of one label, the first is the occurrence.
"""

from collections.abc import Callable, Iterator
from copy import copy
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TypeVar
from zoneinfo import ZoneInfo

import msgspec
from cronsim import CronSim, CronSimError

from interlock.domain import zones
from interlock.domain.partition import Grain, label_text, within_calendar

_T = TypeVar("_T")

#: Any start works to find out whether a cron fires at all; a fixed one keeps the function pure.
_SOME_DAY = datetime(2000, 1, 1, tzinfo=UTC)

#: A clock change can give two fires one label: in a fold, as far apart as the fold is long (at
#: most a day); after a gap, within the day or hour that follows it.
_BEFORE, _AFTER = timedelta(days=2), timedelta(days=1)

#: No zone changes its clocks twice within a week: equal offsets at both ends of a stretch that is
#: no longer than this mean that the clocks ran on in between.
_STEADY = timedelta(days=4)
_HOUR = timedelta(hours=1)


class Occurrence(msgspec.Struct, frozen=True):
    """A date on which a run is expected, and when it is due."""

    date: str
    due_at: datetime


_ALLOWED = (
    "allowed are minute 0-59, hour 0-23, day of month 1-31 or L, month 1-12 or JAN-DEC, weekday 0-7 or"
    " SUN-SAT, each with * , - and /"
)


def check_cron(text: str) -> None:
    """Raises ValueError, with a sentence for the author, unless this cron is valid."""
    count = len(text.split())
    if text.lstrip().startswith("@"):
        raise ValueError(f"{text!r} is an alias: write its five fields, such as 0 8 * * *")
    if count != 5:
        raise ValueError(
            f"{text!r} has {count} field{'s' * (count != 1)}: "
            "a cron has five (minute, hour, day of month, month, weekday)"
        )
    if not text.isascii() or len(text) > 1024:
        raise ValueError("a cron is plain text of at most 1024 characters")
    try:
        next(CronSim(text, _SOME_DAY))
    except CronSimError as error:
        raise ValueError(f"{text!r} is not a cron: {str(error).lower()}; {_ALLOWED}") from error
    except StopIteration:
        raise ValueError(f"{text!r} never fires: no day matches it") from None


@lru_cache(maxsize=4096)
def cron_grain(cron: str) -> Grain:
    """How fine the labels of a cron are: as fine as it can fire."""
    fields = _parsed(cron, "UTC")
    if len(fields.minutes) > 1:
        return Grain.MINUTE
    return Grain.HOUR if len(fields.hours) > 1 else Grain.DAY


def cron_moments(
    cron: str, zone_name: str, since: datetime, until: datetime
) -> Iterator[Occurrence]:
    """The occurrences that are due in `since <= due_at < until`, ascending.

    A label that was due before `since` is not due again in the range.
    """
    since, until = within_calendar(since), within_calendar(until)
    zone = zones.zone(zone_name)
    before = _offset(since - _BEFORE, zone)
    change = abs(_offset(min(until, since + _AFTER), zone) - before)
    if change:
        day_label = cron_grain(cron) is Grain.DAY
        reach = _BEFORE if day_label else change + _HOUR
        return _one_per_label(cron, zone_name, since, until, since - reach)
    if until - since > _STEADY or _offset(until, zone) != before:
        return _one_per_label(cron, zone_name, since, until, since)
    return _steady(cron, since, until, before)


def _offset(instant: datetime, zone: ZoneInfo) -> timedelta:
    return instant.astimezone(zone).utcoffset() or timedelta(0)


def _steady(cron: str, since: datetime, until: datetime, offset: timedelta) -> Iterator[Occurrence]:
    """The moments without clock changes: hours and minutes of matching days.

    What CronSim would say, without its search for a next fire that may be years ahead.
    """
    fields, grain = _parsed(cron, "UTC"), cron_grain(cron)
    first, last = since + offset, until + offset
    hour = first.replace(minute=0, second=0, microsecond=0)
    while hour < last:
        if hour.hour in fields.hours and hour.month in fields.months and fields.match_day(hour):
            for minute in sorted(fields.minutes):
                wall = hour.replace(minute=minute)
                if first <= wall < last:
                    yield Occurrence(label_text(wall, grain), wall - offset)
        hour += _HOUR


def _one_per_label(
    cron: str, zone_name: str, since: datetime, until: datetime, start: datetime
) -> Iterator[Occurrence]:
    """Fires from `start` on; those before `since` only use up their labels."""
    zone, grain = zones.zone(zone_name), cron_grain(cron)
    latest = ""
    for due_at in _fires(cron, zone_name, start):
        if due_at >= until:
            return
        label = label_text(due_at.astimezone(zone), grain)
        if label <= latest:
            continue
        latest = label
        if due_at >= since:
            yield Occurrence(label, due_at)


def _fires(cron: str, zone_name: str, since: datetime) -> Iterator[datetime]:
    """What cronsim says, from `since` on, until the calendar ends."""
    fields = copy(_parsed(cron, zone_name))
    before = (since - timedelta(microseconds=1)).astimezone(zones.zone(zone_name))
    # as CronSim itself begins: on the bare wall clock where it corrects clock changes
    fields.dt = before.replace(microsecond=0, tzinfo=fields.dt.tzinfo)
    try:
        for fire in fields:
            yield fire.astimezone(UTC)
    except OverflowError:
        return


@lru_cache(maxsize=16384)
def _parsed(cron: str, zone_name: str) -> CronSim:
    """Never advanced: callers that iterate over it take a copy."""
    if zone_name == "UTC":
        return CronSim(cron, _SOME_DAY)
    return _Onward(cron, _SOME_DAY.astimezone(zones.zone(zone_name)))


class _Onward(CronSim):
    """CronSim, save that it never steps back, and keeps to whole hours.

    A fold that crosses midnight, or begins within an hour, can lead it from the second pass to a
    wall of the first one, and so round and round. Where clocks change by half an hour, its hours
    would begin at half past from then on, and it would pass over the hour it looks for.
    """

    def advance_month(self) -> None:
        while self.dt.month not in self.months:
            self._onward(super().advance_month)

    def advance_day(self) -> bool:
        return self._onward(super().advance_day)

    def advance_hour(self) -> bool:
        return self._onward(self._to_next_hour)

    def _to_next_hour(self) -> bool:
        if self.dt.hour in self.hours:
            return False
        self.dt = self.dt.replace(minute=0, second=0)
        while self.dt.hour not in self.hours:
            before = self.dt
            self.tick(seconds=3600)
            if self.dt.minute:
                self._to_whole_hour(before)
            if self.dt.hour == 0:
                break  # another day: its month and day are checked first
        return True

    def _to_whole_hour(self, before: datetime) -> None:
        """Back to the beginning of the hour, if the clocks show it and we are not there already."""
        whole = self.dt.replace(minute=0)
        instant = whole.astimezone(UTC)
        shown = instant.astimezone(whole.tzinfo).replace(tzinfo=None)
        if shown == whole.replace(tzinfo=None) and instant > before.astimezone(UTC):
            self.dt = whole

    def _onward(self, advance: Callable[[], _T]) -> _T:
        before = self.dt
        moved = advance()
        if self.dt.tzinfo is not None and self.dt.astimezone(UTC) < before.astimezone(UTC):
            self.dt = before.replace(second=0)
            self.tick(60)
        return moved
