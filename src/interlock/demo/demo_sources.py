"""Demo sources: what producers report, and when; sometimes late, short or wrong.

What is reported is a function of the date alone, and never about the future: the same hours come out the
same, played as the past or live.
"""

import heapq
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from interlock.errors import InterlockError

MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)

#: For how long before now the number of coins sags, and how many are missing then; the last value goes on.
_SAG = (1, 3, 6, 11, 18, 27, 36, 43, 47, 50, 58)
COINS = 301
_COINLORE_AFTER = 5 * MINUTE


class DemoReading(NamedTuple):
    """A reading at an instant, and a description of it."""

    at: datetime
    pipeline: str
    key: str
    fields: dict[str, Any]
    said: str


Put = Callable[[str, str, dict[str, Any]], object]
Say = Callable[[str], None]


def reports(since: datetime, now: datetime) -> Iterator[DemoReading]:
    """Everything that all sources report from an instant on, in order and without end. `now` is when the demo
    starts: minutes are reported from a quarter of an hour before, and the coins run short then.
    """
    minutes = max(since, now - 15 * MINUTE)
    return heapq.merge(
        *(
            _in_order(_each(since, HOUR, usgs_hour), HOUR * 5),
            _in_order(_each(since, HOUR, lambda hour: coinlore_hour(hour, now)), HOUR * 5),
            _in_order(_each(minutes, MINUTE, payments_minute), MINUTE * 5),
            _each(minutes, MINUTE, clicks_minute),
            _in_order(_each(since, DAY, daily_files), DAY * 2),
        ),
        key=lambda report: report.at,
    )


def opening(now: datetime) -> list[DemoReading]:
    """What is reported when the demo starts: the file of the settlement whose job hangs."""
    key = f"settlement-file#{now.date()}"
    said = "Cards: the settlement file of today (its job will hang)"
    return [DemoReading(now, "card-settlement", key, {"rows": 8_120}, said)]


def failed_day(now: datetime) -> date:
    """The last day whose invoices have failed, and whose reruns are over."""
    return (now - 2 * HOUR).date() - DAY


def regions(at: datetime) -> DemoReading:
    """The table that gold needs, written once."""
    fields = {"updatedAt": at.isoformat().replace("+00:00", "Z"), "count": 5}
    return DemoReading(at, "earthquake-gold", "regions", fields, "seismology: the table of regions")


def play(
    found: Iterable[DemoReading],
    put: Put,
    say: Say,
    wait: Callable[[datetime], bool],
) -> None:
    """Report each when its time has come: `wait` waits for it, and says whether to stop."""
    for report in found:
        if wait(report.at):
            return
        say(report.said)
        try:
            put(report.pipeline, report.key, report.fields)
        except InterlockError as error:
            say(f"refused: {error}")


def _each(
    since: datetime, step: timedelta, of: Callable[[datetime], Iterable[DemoReading]]
) -> Iterator[DemoReading]:
    """The reports about each period from then on; none from before it."""
    midnight = datetime.combine(since.date(), time(), UTC)
    period = midnight + (since - midnight) // step * step
    while True:
        yield from (report for report in of(period) if report.at >= since)
        period += step


def _in_order(found: Iterator[DemoReading], reach: timedelta) -> Iterator[DemoReading]:
    """By time, where a report may come up to `reach` after its period has begun."""
    held: list[tuple[datetime, int, DemoReading]] = []
    for number, report in enumerate(found):
        heapq.heappush(held, (report.at, number, report))
        while held and held[0][0] <= report.at - reach:
            yield heapq.heappop(held)[2]


# --- each hour, shortly after it is over


def usgs_hour(hour: datetime) -> Iterator[DemoReading]:
    """What USGS reports about an hour."""
    yield from _MISHAPS_USGS.get(hour.hour, _usgs_as_usual)(hour)


def _usgs(hour: datetime, said: str, *, after: timedelta = timedelta(), **more: Any) -> DemoReading:
    fields = {"complete": True, "loads": 3, "count": _quakes(hour), **more}
    at = hour + HOUR + 2 * MINUTE + after
    said = f"USGS {hour:%H}:00: {said}"
    return DemoReading(at, "earthquake-silver", f"hourly-status#{hour:%Y-%m-%dT%H}", fields, said)


def _quakes(hour: datetime) -> int:
    return 120 + hour.hour


def _usgs_as_usual(hour: datetime) -> Iterator[DemoReading]:
    yield _usgs(hour, f"complete, {_quakes(hour)} earthquakes")


def _usgs_short(hour: datetime) -> Iterator[DemoReading]:
    yield _usgs(hour, "only 2 loads of 3", loads=2)
    yield _usgs(hour, "the third load arrived", after=25 * MINUTE)


def _usgs_corrected(hour: datetime) -> Iterator[DemoReading]:
    yield from _usgs_as_usual(hour)
    more = _quakes(hour) + 40
    yield _usgs(hour, "corrected: 40 more earthquakes", after=50 * MINUTE, count=more)


def _usgs_malformed(hour: datetime) -> Iterator[DemoReading]:
    wrong = _usgs(hour, "reported for an hour that no day has")
    yield wrong._replace(key=f"hourly-status#{hour:%Y-%m-%d}T25")
    yield _usgs(hour, "reported again, for the right hour", after=10 * MINUTE)


def _usgs_late(hour: datetime) -> Iterator[DemoReading]:
    yield _usgs(hour, "only 1 load of 3, and nothing for hours", loads=1)
    yield _usgs(hour, "complete at last, hours late", after=200 * MINUTE)


def coinlore_hour(hour: datetime, now: datetime) -> Iterator[DemoReading]:
    """What CoinLore reports about an hour. In the hours before `now` its coins run short, and nothing else
    happens: the story should be seen.
    """
    short = sag(hour, now)
    if short:
        count = COINS - short
        yield _coinlore(hour, f"{count} coins", count=count)
        return
    yield from _MISHAPS_COINLORE.get(hour.hour, _coinlore_as_usual)(hour)


def sag(hour: datetime, now: datetime) -> int:
    """How many coins are missing."""
    reported = (now - _COINLORE_AFTER).replace(minute=0, second=0, microsecond=0) - HOUR
    ago = round((reported - hour) / HOUR)
    return 0 if ago >= len(_SAG) else _SAG[-1 - max(ago, 0)]


def _coinlore(
    hour: datetime, said: str, *, after: timedelta = timedelta(), **more: Any
) -> DemoReading:
    fields = {"complete": True, "count": COINS, "nullPrices": 0, **more}
    at = hour + HOUR + _COINLORE_AFTER + after
    said = f"CoinLore {hour:%H}:00: {said}"
    return DemoReading(at, "crypto-silver", f"hourly-status#{hour:%Y-%m-%dT%H}", fields, said)


def _coinlore_as_usual(hour: datetime) -> Iterator[DemoReading]:
    yield _coinlore(hour, f"complete, {COINS} coins")


def _coinlore_short(hour: datetime) -> Iterator[DemoReading]:
    yield _coinlore(hour, "only 120 coins of 250", count=120)
    yield _coinlore(hour, "the rest of the coins arrived", after=30 * MINUTE)


def _coinlore_wrong(hour: datetime) -> Iterator[DemoReading]:
    yield _coinlore(hour, "7 coins have no price", nullPrices=7)
    yield _coinlore(hour, "fixed: every coin has a price", after=150 * MINUTE)


def _coinlore_corrected(hour: datetime) -> Iterator[DemoReading]:
    yield from _coinlore_as_usual(hour)
    yield _coinlore(hour, "corrected: 4 more coins, after completion", after=HOUR, count=COINS + 4)


Mishap = Callable[[datetime], Iterator[DemoReading]]

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
    11: _coinlore_corrected,
    20: _coinlore_short,
}


# --- each minute, shortly after it is over


def payments_minute(minute: datetime) -> Iterator[DemoReading]:
    """A batch of payments; at minutes that end in 3, its rest comes later."""
    at, last = minute + MINUTE + timedelta(seconds=5), minute.minute % 10
    whole = 1000 + 7 * minute.minute
    if last == 3:
        yield _payments(minute, at, 610, "610 payments, the rest is on its way")
        at += timedelta(seconds=25)
    yield _payments(minute, at, whole, f"{whole} payments")


def _payments(minute: datetime, at: datetime, number: int, said: str) -> DemoReading:
    key = f"batch#{minute:%Y-%m-%dT%H:%M}"
    said = f"Payments {minute:%H:%M}: {said}"
    return DemoReading(at, "fraud-scores", key, {"payments": number}, said)


def clicks_minute(minute: datetime) -> Iterator[DemoReading]:
    """The visits of a minute."""
    clicks = 4000 + 31 * minute.minute
    said = f"Clicks {minute:%H:%M}: {clicks} clicks"
    key = f"window#{minute:%Y-%m-%dT%H:%M}"
    at = minute + MINUTE + timedelta(seconds=35)
    fields = {"closed": True, "clicks": clicks}
    yield DemoReading(at, "clickstream-sessions", key, fields, said)


# --- each day, when it is over


def daily_files(midnight: datetime) -> Iterator[DemoReading]:
    """The files about a day, early on the next one."""
    yield from _daily(midnight.date(), midnight + DAY)


def _daily(day: date, at: datetime) -> Iterator[DemoReading]:
    for minutes, pipeline, key, rows, said in (
        (1, "invoices-report", "invoices", 310, "Invoices"),
        (2, "customer-export", "customers", 4_870, "Customers"),
        (3, "card-settlement", "settlement-file", 8_040, "Cards"),
    ):
        fields = {"rows": rows}
        yield DemoReading(
            at + minutes * MINUTE, pipeline, f"{key}#{day}", fields, f"{said}: the file of {day}"
        )
