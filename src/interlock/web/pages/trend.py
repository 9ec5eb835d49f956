"""Trend: what happened in each of the last hours, beside the same hours a week before."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec

from interlock.domain.event import EventType
from interlock.ports.reads import History

HOURS = 24
WEEK = timedelta(weeks=1)
_HOUR = timedelta(hours=1)

#: What is counted, and the types of the events that count.
_COUNTED: dict[tuple[str, str], tuple[EventType, ...]] = {
    ("done", "ok"): (EventType.JOB_COMPLETED,),
    ("failed attempts", "bad"): (
        EventType.JOB_FAILED,
        EventType.JOB_POLL_EXHAUSTED,
        EventType.VALIDATION_EXHAUSTED,
        EventType.INFRA_FAILURE,
        EventType.SFN_TIMEOUT,
    ),
    ("missed deadlines", "warn"): (EventType.SLA_BREACH, EventType.RELATIVE_SLA_BREACH),
}


class TrendHour(msgspec.Struct, frozen=True):
    """An hour: how many now and a week before, and the heights of both, of 100."""

    at: datetime
    now: int
    before: int
    height: float
    height_before: float


class TrendRow(msgspec.Struct, frozen=True):
    """One thing that is counted."""

    word: str
    tone: str
    hours: list[TrendHour]

    @property
    def total(self) -> int:
        return sum(hour.now for hour in self.hours)

    @property
    def total_before(self) -> int:
        return sum(hour.before for hour in self.hours)

    @property
    def most(self) -> int:
        return max(max(hour.now, hour.before) for hour in self.hours)


def trend(now: datetime, history: History) -> list[TrendRow] | None:
    """The last 24 hours, and a week before them as far as that day was by now."""
    last = now.replace(minute=0, second=0, microsecond=0)
    hours = [last - n * _HOUR for n in reversed(range(HOURS))]
    kinds = [kind for each in _COUNTED.values() for kind in each]
    counts = history.hours(kinds, hours[0], now)
    before = history.hours(kinds, hours[0] - WEEK, now - WEEK)
    if counts is None or before is None:
        return None
    return [_row(word, tone, hours, counts, before) for word, tone in _COUNTED]


Counts = Mapping[tuple[str, datetime], int]


def _row(
    word: str, tone: str, hours: Sequence[datetime], counts: Counts, before: Counts
) -> TrendRow:
    kinds = _COUNTED[word, tone]
    pairs = [
        (
            sum(counts.get((kind, hour), 0) for kind in kinds),
            sum(before.get((kind, hour - WEEK), 0) for kind in kinds),
        )
        for hour in hours
    ]
    most = max(max(pair) for pair in pairs) or 1
    return TrendRow(
        word,
        tone,
        [
            TrendHour(hour, now, then, _height(now, most), _height(then, most))
            for hour, (now, then) in zip(hours, pairs, strict=True)
        ],
    )


def _height(count: int, most: int) -> float:
    """One of very many can still be seen."""
    return round(max(4.0, count / most * 100), 1) if count else 0.0
