"""Overview: what needs attention, then today's progress."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from interlock.files.project_files import ALERTS
from interlock.queries.attention import AttentionKind, Concern, concerns, reasons
from interlock.queries.changes_since import TroubledRun, changes_since
from interlock.queries.deadlines_ahead import deadlines_ahead
from interlock.web.pages.page_request import PageRequest, PageRow, Shown
from interlock.web.pages.status_badge import (
    DONE,
    FAILED,
    GIVEN_UP,
    IS_MISSING,
    OVERDUE,
    PAUSED,
    RETRYING,
    RUNNING,
    UNREADABLE,
    WAITING,
    StatusBadge,
    standing,
    standing_of,
)
from interlock.web.pages.trend import WEEK, trend

_SHOWN = 40
_FEW = 8
_CHANGED = 12
_DAY = timedelta(days=1)

AT_RISK = StatusBadge("at-risk", "at risk", "warn", 4)
REFUSED = StatusBadge("refused", "file refused", "bad", 4)

_STANDINGS = {
    AttentionKind.OVERDUE: OVERDUE,
    AttentionKind.GIVEN_UP: GIVEN_UP,
    AttentionKind.FAILED: FAILED,
    AttentionKind.UNREADABLE: UNREADABLE,
    AttentionKind.MISSED: IS_MISSING,
    AttentionKind.REFUSED: REFUSED,
    AttentionKind.AT_RISK: AT_RISK,
    AttentionKind.PAUSED: PAUSED,
}


def build(asked: PageRequest) -> Shown:
    ports, history, now = asked.context.backend.ports, asked.context.history, asked.now
    configs = {config.pipeline.id: config for config in ports.pipelines.in_force()}
    refused = asked.context.queries.refused().items
    found = concerns(configs, now, ports, history, refused)
    if (
        not asked.context.only_reads
    ):  # a banner reports the alerts file for as long as it is refused
        found = [each for each in found if each.file != ALERTS]
    overdue = {each.key for each in found if each.kind is AttentionKind.OVERDUE}
    waiting = [run for run in history.waiting(_FEW + len(overdue)) if run.key not in overdue]
    figures = _figures(asked, found)
    changes = changes_since(_since(asked), ports, history)
    return {
        "pipelines": len(configs),
        "concerns": [(_STANDINGS[each.kind], each) for each in found[:_SHOWN]],
        "more_concerns": max(0, len(found) - _SHOWN),
        "figures": figures,
        "more_waiting": _number(figures, WAITING) - len(waiting[:_FEW]),
        "waiting": [(run, reasons(run, configs, now)) for run in waiting[:_FEW]],
        "soon": deadlines_ahead(configs, _DAY, _FEW, now, history),
        "trend": trend(now, history),
        "week_before": (now - WEEK).date(),
        "changes": changes,
        "has_looked": asked.looked_at is not None,
        "troubled": [(_state(each), each) for each in changes.runs],
        "few_changes": _CHANGED,
    }


def _since(asked: PageRequest) -> datetime:
    """A day back for a browser that has not looked before, and never more than a week."""
    return max(asked.looked_at or asked.now - _DAY, asked.now - WEEK)


def _state(each: TroubledRun) -> StatusBadge:
    return IS_MISSING if each.run is None else standing_of(each.run)


def _figures(asked: PageRequest, found: list[Concern]) -> list[tuple[StatusBadge, int]] | None:
    """The open runs, and the other dates of yesterday and today: many of the runs that complete today are
    yesterday's. Each run counts once: an overdue one is neither waiting nor running, and what needs
    attention counts as it is listed.
    """
    today = asked.now.date()
    yesterday = today - timedelta(days=1)
    counts = asked.context.history.counts(yesterday.isoformat(), today.isoformat())
    if counts is None:
        return None
    by_word: dict[str, tuple[StatusBadge, int]] = {
        each.word: (each, 0) for each in (DONE, RUNNING, WAITING, RETRYING, FAILED)
    }
    late = [each.run for each in found if each.kind is AttentionKind.OVERDUE and each.run]
    counted = Counter(counts)
    counted.subtract(run.state for run in late)
    for status, count in counted.items():
        shown = standing(status)
        shown = {"launching": RUNNING, "given up": FAILED}.get(shown.word, shown)
        by_word[shown.word] = shown, max(0, by_word.get(shown.word, (shown, 0))[1] + count)
    failed = sum(each.kind in (AttentionKind.FAILED, AttentionKind.GIVEN_UP) for each in found)
    by_word[FAILED.word] = FAILED, max(failed, by_word[FAILED.word][1])
    missed = sum(each.kind is AttentionKind.MISSED for each in found)
    return [*by_word.values(), (OVERDUE, len(late)), (IS_MISSING, missed)]


def _number(figures: Sequence[tuple[StatusBadge, int]] | None, wanted: StatusBadge) -> int:
    return next((number for badge, number in figures or () if badge is wanted), 0)


PAGE = PageRow("/", "overview.html", build, since_looked=True)
