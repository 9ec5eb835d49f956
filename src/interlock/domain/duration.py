"""Duration: a span of time as people write it ("90s", "2h30m", "1.5d"), and back."""

import re
from datetime import timedelta
from decimal import Decimal
from functools import lru_cache

#: Go's units, and `d` for 24 hours. Both the micro sign and the Greek letter mean micro.
_SECONDS = {
    "ns": Decimal("1e-9"),
    "us": Decimal("1e-6"),
    "µs": Decimal("1e-6"),
    "μs": Decimal("1e-6"),
    "ms": Decimal("1e-3"),
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86400),
}
_TERM = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|[smhd])")

#: Go's own bound, about 292 years: anything longer is a mistake.
_LONGEST = Decimal(2**63 - 1) / 10**9
_LONGEST_TEXT = 64
_MILLISECOND = timedelta(milliseconds=1)


@lru_cache(maxsize=4096)
def seconds(text: str) -> Decimal:
    """The exact number of seconds. Raises ValueError for what is not a duration."""
    if len(text) > _LONGEST_TEXT:
        raise ValueError("too long for a duration")
    terms = text.removeprefix("+")
    total, end = Decimal(0), 0
    while match := _TERM.match(terms, end):
        total += Decimal(match[1]) * _SECONDS[match[2]]
        end = match.end()
    if end == 0 or end != len(terms):
        raise ValueError(f"{text!r} is not a duration such as 90s, 2h30m or 1d")
    if total > _LONGEST:
        raise ValueError(f"{text!r} is longer than 292 years")
    return total


@lru_cache(maxsize=4096)
def parse(text: str) -> timedelta:
    """The duration to the microsecond, cut off below."""
    return timedelta(microseconds=int(seconds(text) * 10**6))


def spell(span: timedelta) -> str:
    """The shortest text that reads back as this span: `1h30m`, never `90m`."""
    rest = span // timedelta(microseconds=1)
    parts = []
    for unit, size in (("d", 86_400_000_000), ("h", 3_600_000_000), ("m", 60_000_000)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    if rest or not parts:
        parts.append(f"{Decimal(rest).scaleb(-6).normalize():f}s")
    return "".join(parts)


def for_people(span: timedelta) -> str:
    """At most two units and no fractions, for messages: `1h 5m`, `42s`, `3d 2h`; `320ms` below a second."""
    millis = round(span / _MILLISECOND)
    if 0 < millis < 1000:
        return f"{millis}ms"
    rest = max(0, round(span.total_seconds()))
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return " ".join(parts[:2]) or "0s"


def for_ages(span: timedelta) -> str:
    """As `for_people`, in whole seconds: an age changes while it is read."""
    return for_people(timedelta(seconds=round(span.total_seconds())))
