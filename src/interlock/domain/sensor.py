"""Sensor: the readings that producers report, and the periods in their keys.

A key may carry its period: `orders#2026-03-03T10`. For a run of that date such a reading serves the rule
key `orders`, before a plain `orders` does.
"""

import re
from collections.abc import Collection, Mapping
from datetime import datetime
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from interlock.domain import timestamp
from interlock.domain.canonical import content_hash
from interlock.domain.partition import Grain, Label, label_at, occurs

#: The prefix of keys that only the controller writes: completions upstream.
RESERVED = "pipeline:"

#: The fields that a reading's version ignores: a new time alone is not new content.
UNVERSIONED = frozenset({"updatedAt", "ttl", "receivedAt"})

#: A key part that looks like a period. If it is not in the calendar, the reading is refused.
_PERIOD = re.compile(r"[0-9]{4}-?[0-9]{2}-?[0-9]{2}(T[0-9:]*)?")
#: Numbers are compared as they are, however many digits they have.
_EXACT = Context(prec=MAX_PREC, Emax=MAX_EMAX, Emin=MIN_EMIN)
_LARGEST_POWER = 400
_HOUR = re.compile(r"[0-9]{1,2}")
_HOURS = frozenset(range(24))


class Reading(msgspec.Struct, frozen=True, rename="camel"):
    """One report about a sensor. `receivedAt` is our time, the field `updatedAt` is the producer's."""

    pipeline_id: str
    key: str
    fields: dict[str, Any]
    received_at: datetime
    version: str = ""
    #: False when its time of arrival is unknown: `receivedAt` is then when it was read.
    timed: bool = True
    #: Written by the controller itself, such as completions of upstream pipelines.
    own: bool = False

    def __post_init__(self) -> None:
        if not self.version:
            msgspec.structs.force_setattr(self, "version", content_version(self.fields))

    @property
    def updated_at(self) -> datetime | None:
        """The producer's time, if it is readable."""
        return timestamp.instant(self.fields.get("updatedAt"))


class UnreadableReading(Reading, frozen=True):
    """Stands for an unreadable stored reading: no rule passes on it, and it opens nothing. Its one field
    says what is wrong.
    """

    @property
    def problem(self) -> str:
        return str(self.fields["unreadable"])


class Rejection(msgspec.Struct, frozen=True):
    """Why a reading can't be used: a stable word, where, what is there, what is expected."""

    problem: str
    field: str
    value: Any
    allowed: str


def unreadable_reading(
    pipeline_id: str, key: str, received_at: datetime, problem: str
) -> UnreadableReading:
    return UnreadableReading(pipeline_id, key, {"unreadable": problem}, received_at, timed=False)


def content_version(fields: Mapping[str, Any]) -> str:
    """The same for the same content, regardless of writer, time and store: 1.10 is 1.1, and 2.0 is 2."""
    said = {k: _plain(v) for k, v in fields.items() if k not in UNVERSIONED}
    return content_hash(said, 16)


def _plain(value: Any) -> Any:
    """Every number in its shortest spelling."""
    if isinstance(value, Decimal):
        return _shortest(value)
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value


def _shortest(number: Decimal) -> int | Decimal:
    if number == 0:
        return 0
    short = number.normalize(_EXACT)
    exponent = short.as_tuple().exponent
    whole = isinstance(exponent, int) and 0 <= exponent <= _LARGEST_POWER
    return int(short) if whole else short


def split_key(key: str) -> tuple[str, str | None]:
    """The sensor's own key, and the period after it when something looks like one."""
    base, mark, period = key.rpartition("#")
    return (base, period) if mark and base and _PERIOD.fullmatch(period) else (key, None)


def period_keys(key: str, label: Label) -> tuple[str, str, str]:
    """The keys under which a reading of `key` for that date may be stored, the best first."""
    return f"{key}#{label}", f"{key}#{label.compact}", key


def reading_label(
    fields: Mapping[str, Any], zone: ZoneInfo, now: datetime, period: str | None = None
) -> Label | Rejection:
    """The date that a reading names; without one, the day it was received."""
    carried = carried_label(fields, zone, now, period)
    return label_at(now, zone, Grain.DAY) if carried is None else carried


def carried_label(
    fields: Mapping[str, Any], zone: ZoneInfo, now: datetime, period: str | None = None
) -> Label | Rejection | None:
    """The date that a reading names itself, in its key or its fields; None when it names none."""
    named = _named_by_fields(fields, zone, now)
    keyed = _named_by_key(period, zone)
    if isinstance(named, Rejection) or keyed is None:
        return named
    if isinstance(keyed, Rejection) or named is None:
        return keyed
    if named == keyed or (named.grain < keyed.grain and _within(keyed, named)):
        return keyed
    return Rejection("date_disagrees", "date", str(named), f"the key's period {keyed}")


def names_date(reading: Reading) -> bool:
    """Whether a reading names its date."""
    _, period = split_key(reading.key)
    return period is not None or any(reading.fields.get(name) is not None for name in _OF_DATE)


def serving(
    keys: frozenset[str],
    readings: Mapping[str, Reading],
    label: Label,
    zone: ZoneInfo,
    own: Collection[str] = (),
    opened_with: str | None = None,
) -> dict[str, Reading]:
    """Which reading serves each rule key for a date: its period's, otherwise a plain one that may.

    Of the keys in `own`, those of triggers, a plain reading without a date serves only the day of its
    arrival; where that is unknown, only the run that it opened (`opened_with` is its version).
    """
    found = {}
    for key in keys:
        for candidate in period_keys(key, label):
            reading = readings.get(candidate)
            if reading is not None and _serves(reading, label, zone, key in own, opened_with):
                found[key] = reading
                break
    return found


def _serves(
    reading: Reading, label: Label, zone: ZoneInfo, own: bool, opened_with: str | None
) -> bool:
    """An unreadable reading serves every date, unless its key names one: it fails its rules."""
    _, period = split_key(reading.key)
    carried = carried_label(reading.fields, zone, reading.received_at, period)
    if carried is not None:
        return carried == label
    if not own or isinstance(reading, UnreadableReading):
        return True
    if not reading.timed:
        return reading.version == opened_with
    return label_at(reading.received_at, zone, Grain.DAY).day == label.day


#: The fields by which a reading names its date.
_OF_DATE = ("date", "hour")


def _named_by_fields(
    fields: Mapping[str, Any], zone: ZoneInfo, now: datetime
) -> Label | Rejection | None:
    day, hour = fields.get("date"), fields.get("hour")
    if day is None and hour is None:
        return None
    label = label_at(now, zone, Grain.DAY) if day is None else _day(day)
    if isinstance(label, Rejection) or hour is None:
        return label
    number = _hour(hour)
    if number is None:
        return Rejection("hour_malformed", "hour", hour, "a whole number from 0 to 23")
    return _existing(Label(label.day, number), zone, "hour", hour)


def _named_by_key(period: str | None, zone: ZoneInfo) -> Label | Rejection | None:
    if period is None:
        return None
    try:
        label = Label.parse(period)
    except ValueError:
        return Rejection("period_malformed", "key", period, "a date such as 2026-03-03T10")
    return _existing(label, zone, "key", period)


def _day(value: Any) -> Label | Rejection:
    try:
        label = Label.parse(value) if isinstance(value, str) else None
    except ValueError:
        label = None
    if label is None or label.grain is not Grain.DAY:
        return Rejection("date_malformed", "date", value, "YYYY-MM-DD or YYYYMMDD")
    return label


def _hour(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        number = int(value) if _HOUR.fullmatch(value) else -1
    elif isinstance(value, int) or (isinstance(value, Decimal) and value in _HOURS):
        number = int(value)
    else:
        return None
    return number if number in _HOURS else None


def _existing(label: Label, zone: ZoneInfo, field: str, value: Any) -> Label | Rejection:
    if occurs(label, zone):
        return label
    return Rejection("hour_skipped", field, value, f"an hour that the clocks of {zone.key} show")


def _within(fine: Label, coarse: Label) -> bool:
    return fine.day == coarse.day and coarse.hour in (None, fine.hour)
