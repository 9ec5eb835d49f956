"""Timeline page: a row per pipeline, a cell per hour or day."""

from collections import defaultdict
from datetime import date, datetime, timedelta
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from interlock.domain.config import Config
from interlock.domain.history import Tally
from interlock.queries.timeline import timeline
from interlock.web.pages.days import day_rows
from interlock.web.pages.grid import HOUR, GridRow, HourWindow, hour_rows
from interlock.web.pages.page_request import (
    Number,
    PageRequest,
    PageRow,
    Shown,
    Text,
    found_pipelines,
)
from interlock.web.pages.status_badge import LEGEND

ROWS = 25

#: The span shown at once, in hours or days.
SPANS: dict[str, tuple[str, int]] = {
    "24h": ("hours", 24),
    "48h": ("hours", 48),
    "14d": ("days", 14),
    "30d": ("days", 30),
    "90d": ("days", 90),
}


class TimelineQuery(msgspec.Struct, frozen=True, kw_only=True):
    q: Text = ""
    start: Number = 0
    span: Literal["24h", "48h", "14d", "30d", "90d"] = "48h"
    #: The last instant shown; by default, a little after now.
    to: Annotated[datetime, Meta(tz=True)] | None = None


def build(asked: PageRequest) -> Shown:
    query: TimelineQuery = asked.query
    unit, count = SPANS[query.span]
    found = found_pipelines(asked, query.q, query.start, ROWS)
    step = count * HOUR if unit == "hours" else timedelta(days=count)
    until = query.to or _until(asked.now, unit, count)
    shown = {
        "q": query.q,
        "span": query.span,
        "spans": list(SPANS),
        "found": found,
        "legend": LEGEND,
        "live": query.to is None,
        "to": query.to,
        "earlier": until - step / 2,
        "later": until + step / 2,
        "unit": unit,
    }
    if unit == "hours":
        since = until - count * HOUR
        window = HourWindow(since, count, asked.now)
        moments = [since + n * HOUR for n in range(count)]
        return {**shown, "moments": moments, "rows": _by_hour(asked, found.configs, window)}
    last = (until - timedelta(microseconds=1)).date()
    days = [last - timedelta(days=count - 1 - n) for n in range(count)]
    return {**shown, "moments": days, "rows": _by_day(asked, found.configs, days)}


def _until(now: datetime, unit: str, count: int) -> datetime:
    """An eighth of the span lies ahead, where the deadlines are."""
    if unit == "hours":
        return now.replace(minute=0, second=0, microsecond=0) + max(2, count // 8) * HOUR
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + timedelta(days=1 + (1 if count <= 30 else 0))


def _by_hour(asked: PageRequest, configs: list[Config], window: HourWindow) -> list[GridRow]:
    history = asked.context.history
    found = timeline(configs, window.since, window.until, asked.now, history)
    return [
        row
        for config, each in zip(configs, found, strict=True)
        for row in hour_rows(config, each.cells, window)
    ]


def _by_day(asked: PageRequest, configs: list[Config], days: list[date]) -> list[GridRow]:
    tallies = defaultdict[str, list[Tally]](list)
    names = [config.pipeline.id for config in configs]
    history = asked.context.history
    for tally in history.tallies(names, days[0].isoformat(), days[-1].isoformat()):
        tallies[tally.newest.pipeline_id].append(tally)
    return [
        row
        for config in configs
        for row in day_rows(config, tallies[config.pipeline.id], days, asked.now)
    ]


PAGE = PageRow("/timeline", "timeline.html", build, TimelineQuery)
