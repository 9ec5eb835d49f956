"""Timestamp: an instant as producers write it, RFC 3339 or an epoch number."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Any

_RFC3339 = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]+))?"
    r"([Zz]|[+-][0-9]{2}:[0-5][0-9])"
)
_DIGITS = re.compile(r"[0-9]{1,32}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

#: Numbers from here on are milliseconds; as seconds they would be 31,000 years ahead.
_MILLISECONDS_FROM = 10**12


def instant(value: Any) -> datetime | None:
    """The instant that a field means, or None: an invalid one is never guessed."""
    try:
        if isinstance(value, str):
            return _from_digits(value) if _DIGITS.fullmatch(value) else _from_rfc3339(value)
        if isinstance(value, int | Decimal) and not isinstance(value, bool):
            return _from_epoch(Decimal(value))
    except (ValueError, ArithmeticError):
        return None
    return None


def spell(moment: datetime) -> str:
    """RFC 3339 in UTC, with milliseconds only when they are not zero."""
    utc = moment.astimezone(UTC)
    spec = "milliseconds" if utc.microsecond >= 1000 else "seconds"
    return utc.isoformat(timespec=spec).replace("+00:00", "Z")


def _from_digits(text: str) -> datetime | None:
    return _from_epoch(Decimal(text))


def _from_epoch(number: Decimal) -> datetime | None:
    if not number.is_finite() or abs(number) >= 10**18:
        return None
    seconds = number / 1000 if number >= _MILLISECONDS_FROM else number
    return _EPOCH + timedelta(microseconds=int(seconds * 10**6))


@lru_cache(maxsize=4096)
def _from_rfc3339(text: str) -> datetime | None:
    """Cached: a waiting run is judged on the same few texts repeatedly. Raises ValueError."""
    match = _RFC3339.fullmatch(text)
    if match is None:
        return None
    day, clock, fraction, zone = match.groups()
    micros = f".{fraction[:6]:0<6}" if fraction else ""
    offset = "+00:00" if zone in "Zz" else zone
    return datetime.fromisoformat(f"{day}T{clock}{micros}{offset}").astimezone(UTC)
