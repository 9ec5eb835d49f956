"""SLA bar: the moments of one run on one line, from the first to the last."""

from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec

from interlock.domain.run import Run

WIDTH = 1000
_LEAST = timedelta(seconds=1)


class Tick(msgspec.Struct, frozen=True):
    """A moment on the bar."""

    at: int
    word: str
    moment: datetime
    tone: str


class Stretch(msgspec.Struct, frozen=True):
    """A part of the bar: waiting, running, or what is left until the deadline."""

    at: int
    width: int
    word: str


class Bar(msgspec.Struct, frozen=True):
    ticks: list[Tick]
    stretches: list[Stretch]
    now: int | None


def bar(run: Run, now: datetime) -> Bar:
    """What happened, and the deadlines it had to meet."""
    end = run.completed_at or (run.changed_at if not run.is_open else None)
    warning = _first(run.warning_at, run.relative_warning_at)
    breach = _first(run.breach_at, run.relative_breach_at)
    moments = (run.opened_at, run.launched_at, end, run.readiness_at, warning, breach)
    shown = [at for at in moments if at]
    if run.is_open:
        shown.append(now)
    first, last = min(shown), max(shown)
    whole = max(last - first, _LEAST)

    def place(moment: datetime) -> int:
        return round((moment - first) / whole * WIDTH)

    ended = "finished" if run.completed_at else "failed"
    named = (
        ("opened", run.opened_at, "none"),
        ("started", run.launched_at, "busy"),
        ("ready by", run.readiness_at, "warn"),
        ("warning", warning, "warn"),
        ("breach", breach, "bad"),
        (ended, end, "ok" if run.completed_at else "bad"),
    )
    ticks = [Tick(place(at), word, at, tone) for word, at, tone in named if at is not None]
    return Bar(
        sorted(ticks, key=lambda tick: tick.at),
        _stretches(run, end or now, place),
        place(now) if run.is_open else None,
    )


def _stretches(run: Run, end: datetime, place: Callable[[datetime], int]) -> list[Stretch]:
    started = run.launched_at or end
    found = [("waited", run.opened_at, started), ("ran", started, end)]
    return [
        Stretch(place(since), max(2, place(until) - place(since)), word)
        for word, since, until in found
        if until > since
    ]


def _first(*moments: datetime | None) -> datetime | None:
    return min((moment for moment in moments if moment is not None), default=None)
