"""SLA page: how many deadlines were met, by pipeline and week; for one pipeline, by day."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

import msgspec

from interlock.domain.config import Config
from interlock.domain.deadline import SlaVerdict
from interlock.domain.history import Glance
from interlock.errors import NotFoundError
from interlock.queries.attainment import Attainment, DayAttainment, attainments, part_met
from interlock.web.pages.page_request import (
    Number,
    PageRequest,
    PageRow,
    Shown,
    Text,
    found_pipelines,
)
from interlock.web.pages.status_badge import StatusBadge, standing

ROWS = 25
WEEKS = 12
_FEW = 6
_WORST = 10
#: The size of the chart of one pipeline's finishes.
WIDTH, HEIGHT = 1000, 240
_POINTS = 2000


class SlaQuery(msgspec.Struct, frozen=True, kw_only=True):
    q: Text = ""
    start: Number = 0
    pipeline: Text = ""


class Week(msgspec.Struct, frozen=True):
    """A cell: the share of deadlines met, and its tone."""

    monday: date
    met: int
    breached: int
    attained: float | None
    tone: str


class SlaRow(msgspec.Struct, frozen=True):
    pipeline_id: str
    attained: float | None
    met: int
    breached: int
    weeks: list[Week]
    slack: float | None
    trend: str


class Point(msgspec.Struct, frozen=True):
    """A finish, in seconds before or after its deadline."""

    x: float
    y: float
    glance: Glance
    standing: StatusBadge


def _has_deadline(config: Config) -> bool:
    sla = config.pipeline.sla
    return sla is not None and sla.has_deadline


def build(asked: PageRequest) -> Shown:
    query: SlaQuery = asked.query
    mondays = _mondays(asked.now.date())
    since = datetime.combine(mondays[0], time(), UTC)
    if query.pipeline:
        return _one(asked, query.pipeline, mondays, since)
    found = found_pipelines(asked, query.q, query.start, ROWS, _has_deadline)
    kept = attainments(found.configs, since, asked.now, asked.context.history)
    broken = asked.context.history.breaches(since, asked.now)
    return {
        "q": query.q,
        "found": found,
        "mondays": mondays,
        "rows": [_row(each, mondays) for each in kept],
        "broken": len(broken),
        "worst_pipelines": Counter(name for name, _ in broken).most_common(_FEW),
        "worst_days": Counter(label[:10] for _, label in broken).most_common(_FEW),
        "one": None,
    }


def _one(asked: PageRequest, name: str, mondays: Sequence[date], since: datetime) -> Shown:
    config = asked.context.backend.ports.pipelines.find(name)
    if config is None:
        raise NotFoundError(f"there is no pipeline {name}")
    history = asked.context.history
    kept = attainments([config], since, asked.now, history)
    first, last = mondays[0].isoformat(), (asked.now.date() + timedelta(days=1)).isoformat()
    glances = history.glances([name], first, last)
    done = [each for each in reversed(glances) if each.slack is not None][-_POINTS:]
    points, scale = _points(done)
    late = [each for each in glances if each.sla_verdict is SlaVerdict.BREACHED]
    worst = sorted(late, key=lambda each: each.slack if each.slack is not None else -(10**9))
    return {
        "one": config,
        "mondays": mondays,
        "row": _row(kept[0], mondays) if kept else None,
        "points": points,
        "scale": scale,
        "chart": (WIDTH, HEIGHT),
        "worst": [(standing(each.status, each.sla_verdict), each) for each in worst[:_WORST]],
    }


def _mondays(today: date) -> list[date]:
    this = today - timedelta(days=today.weekday())
    return [this - timedelta(weeks=WEEKS - 1 - n) for n in range(WEEKS)]


def _row(kept: Attainment, mondays: Sequence[date]) -> SlaRow:
    by_week: dict[date, list[DayAttainment]] = {monday: [] for monday in mondays}
    for each in kept.days:
        day = date.fromisoformat(each.day)
        by_week.setdefault(day - timedelta(days=day.weekday()), []).append(each)
    left = [each.slack_seconds for each in kept.days if each.slack_seconds is not None]
    return SlaRow(
        kept.pipeline_id,
        kept.attained,
        kept.met,
        kept.breached,
        [_week(monday, by_week[monday]) for monday in mondays],
        sum(left) / len(left) if left else None,
        _trend(left),
    )


def _week(monday: date, days: Sequence[DayAttainment]) -> Week:
    met, breached = sum(day.met for day in days), sum(day.breached for day in days)
    part = part_met(met, breached)
    tone = "none" if part is None else "ok" if part >= 0.999 else "warn" if part >= 0.9 else "bad"
    return Week(monday, met, breached, part, tone)


def _trend(left: Sequence[float]) -> str:
    """The points of a line 100 wide and 24 high; the deadline lies at 20."""
    if len(left) < 2:
        return ""
    most = max(*left, 1.0)
    shown = left[-60:]
    step = 100 / (len(shown) - 1)
    heights = [max(0.0, min(24.0, 20 - max(-0.2, value / most) * 20)) for value in shown]
    return " ".join(f"{n * step:.1f},{height:.1f}" for n, height in enumerate(heights))


def _points(done: Sequence[Glance]) -> tuple[list[Point], tuple[float, float, float]]:
    """Each finish by its slack, and the scale: earliest, latest, and the position of zero."""
    early = max([float(each.slack or 0) for each in done] + [60.0])
    late = min([float(each.slack or 0) for each in done] + [-early * 0.15])
    whole = early - late
    zero = early / whole * HEIGHT
    step = WIDTH / max(1, len(done))
    points = [
        Point(
            round((n + 0.5) * step, 1),
            round((early - float(each.slack or 0)) / whole * HEIGHT, 1),
            each,
            standing(each.status, each.sla_verdict),
        )
        for n, each in enumerate(done)
    ]
    return points, (early, late, zero)


PAGE = PageRow("/sla", "sla.html", build, SlaQuery)
