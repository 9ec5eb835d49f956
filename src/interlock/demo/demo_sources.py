"""Demo sources: two bronze layers that report each hour when it is complete; sometimes late, short or
wrong.
"""

import heapq
import itertools
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from interlock.errors import InterlockError

HOURS = 24


class DemoReading(NamedTuple):
    """A reading at a time, in hours of data from the start, and a description of it."""

    at: float
    pipeline: str
    key: str
    fields: dict[str, Any]
    said: str


Put = Callable[[str, str, dict[str, Any]], object]
Say = Callable[[str], None]


def day_of_reports(day: date, start: float = 0.0) -> list[DemoReading]:
    """Everything that both sources report about a day, in order."""
    found = [report for hour in range(HOURS) for report in _hour(day, hour)]
    found = [report._replace(at=report.at + start) for report in found]
    return sorted(found, key=lambda report: report.at)


def play(
    first: date, hour_seconds: float, put: Put, say: Say, wait: Callable[[float], bool]
) -> None:
    """Report one day after another, calling `wait` with the seconds to wait, until it says to stop."""
    passed = 0.0
    for report in _days(first):
        if wait(max(0.0, report.at - passed) * hour_seconds):
            return
        passed = report.at
        say(report.said)
        try:
            put(report.pipeline, report.key, report.fields)
        except InterlockError as error:
            say(f"refused: {error}")


def _days(first: date) -> Iterator[DemoReading]:
    days = (day_of_reports(first + timedelta(days=n), float(n * HOURS)) for n in itertools.count())
    # corrections of a day's last hours come when the next day has begun
    current = next(days)
    for following in days:
        merged = list(heapq.merge(current, following, key=lambda report: report.at))
        split = following[0].at
        yield from (report for report in merged if report.at < split)
        current = [report for report in merged if report.at >= split]


def regions(now: datetime) -> DemoReading:
    """The table that gold needs, written once."""
    fields = {"updatedAt": now.isoformat().replace("+00:00", "Z"), "count": 5}
    return DemoReading(
        0.0, "earthquake-gold", "regions", fields, "seismology: the table of regions"
    )


def _hour(day: date, hour: int) -> Iterator[DemoReading]:
    yield from _MISHAPS_USGS.get(hour, _usgs_as_usual)(day, hour)
    yield from _MISHAPS_COINLORE.get(hour, _coinlore_as_usual)(day, hour)


def _usgs(day: date, hour: int, said: str, *, after: float = 0.0, **fields: Any) -> DemoReading:
    whole = {"complete": True, "loads": 3, "count": 120 + hour, **fields}
    key = f"hourly-status#{day}T{hour:02}"
    return DemoReading(hour + after, "earthquake-silver", key, whole, f"USGS {hour:02}:00: {said}")


def _coinlore(day: date, hour: int, said: str, *, after: float = 0.0, **fields: Any) -> DemoReading:
    whole = {"complete": True, "count": 301, "nullPrices": 0, **fields}
    key = f"hourly-status#{day}T{hour:02}"
    at = hour + 0.3 + after
    return DemoReading(at, "crypto-silver", key, whole, f"CoinLore {hour:02}:00: {said}")


def _usgs_as_usual(day: date, hour: int) -> Iterator[DemoReading]:
    yield _usgs(day, hour, f"complete, {120 + hour} earthquakes")


def _usgs_short(day: date, hour: int) -> Iterator[DemoReading]:
    yield _usgs(day, hour, "only 2 loads of 3", loads=2)
    yield _usgs(day, hour, "the third load arrived", after=0.8)


def _usgs_corrected(day: date, hour: int) -> Iterator[DemoReading]:
    yield _usgs(day, hour, f"complete, {120 + hour} earthquakes")
    yield _usgs(day, hour, "corrected: 40 more earthquakes", after=1.5, count=160 + hour)


def _usgs_malformed(day: date, hour: int) -> Iterator[DemoReading]:
    wrong = _usgs(day, hour, "reported for an hour that no day has")
    yield wrong._replace(key=f"hourly-status#{day}T25")
    yield _usgs(day, hour, "reported again, for the right hour", after=0.4)


def _usgs_late(day: date, hour: int) -> Iterator[DemoReading]:
    yield _usgs(day, hour, "only 1 load of 3, and nothing for hours", loads=1)
    yield _usgs(day, hour, "complete at last, hours late", after=3.4)


def _coinlore_as_usual(day: date, hour: int) -> Iterator[DemoReading]:
    yield _coinlore(day, hour, "complete, 301 coins")


def _coinlore_short(day: date, hour: int) -> Iterator[DemoReading]:
    yield _coinlore(day, hour, "only 120 coins of 250", count=120)
    yield _coinlore(day, hour, "the rest of the coins arrived", after=0.8)


def _coinlore_wrong(day: date, hour: int) -> Iterator[DemoReading]:
    yield _coinlore(day, hour, "7 coins have no price", nullPrices=7)
    yield _coinlore(day, hour, "fixed: every coin has a price", after=4.6)


def _coinlore_stuck(day: date, hour: int) -> Iterator[DemoReading]:
    yield _coinlore(day, hour, "3 coins have no price, for hours", nullPrices=3)
    yield _coinlore(day, hour, "fixed at last", after=12.0)


def _coinlore_fails(day: date, hour: int) -> Iterator[DemoReading]:
    yield _coinlore(day, hour, "complete, 301 coins (its job will run out of memory once)")


def _coinlore_corrected(day: date, hour: int) -> Iterator[DemoReading]:
    yield _coinlore(day, hour, "complete, 301 coins")
    yield _coinlore(day, hour, "corrected: 4 more coins, after completion", after=1.5, count=305)


Mishap = Callable[[date, int], Iterator[DemoReading]]

#: The hours at which something goes wrong.
_MISHAPS_USGS: dict[int, Mishap] = {
    1: _usgs_short,
    6: _usgs_corrected,
    9: _usgs_malformed,
    12: _usgs_late,
    18: _usgs_short,
}
_MISHAPS_COINLORE: dict[int, Mishap] = {
    2: _coinlore_short,
    4: _coinlore_wrong,
    8: _coinlore_fails,
    10: _coinlore_stuck,
    11: _coinlore_corrected,
    20: _coinlore_short,
}
