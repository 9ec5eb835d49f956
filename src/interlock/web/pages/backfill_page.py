"""Backfill page: one backfill, what each of its dates is doing, and the forms that steer it."""

from typing import Literal

import msgspec

from interlock.domain.backfill import BackfillState
from interlock.domain.run import RunKey
from interlock.operations.requests import BackfillDatesQuery
from interlock.queries.backfill_progress import BackfillDate, BackfillProgress
from interlock.web.pages.page_request import Cursor, PageRequest, PageRow, Shown
from interlock.web.pages.progress_bar import progress_bar

ROWS = 200

DateChoice = Literal["waiting", "requested", "running", "completed", "failed", "refused"]


class BackfillPageQuery(msgspec.Struct, frozen=True, kw_only=True):
    state: DateChoice | Literal[""] = ""
    cursor: Cursor | None = None
    #: The action just taken.
    done: Literal["started", "paused", "resumed", "cancelled"] | None = None


def build(asked: PageRequest) -> Shown:
    query: BackfillPageQuery = asked.query
    queries, name = asked.context.queries, asked.path["backfill"]
    progress = queries.backfill_progress(name)
    wanted = BackfillDatesQuery(state=query.state or None, limit=ROWS, cursor=query.cursor)
    page = queries.backfill_dates(name, wanted)
    is_over = progress.state in (BackfillState.DONE, BackfillState.CANCELLED)
    return {
        "query": query,
        "progress": progress,
        "bar": progress_bar(progress),
        "page": page,
        "dates": [(_key(progress, each), each) for each in page.items],
        "counts": _counts(progress),
        "first_page": query.cursor is None,
        "may_operate": asked.may_operate(progress.pipeline_id) and not is_over,
        "was_done": query.done,
    }


def _counts(progress: BackfillProgress) -> list[tuple[str, int]]:
    """How many dates there are of each state; those at work are requested or running."""
    return [
        ("completed", progress.completed),
        ("failed", progress.failed),
        ("refused", progress.refused),
        ("at work", len(progress.active)),
        ("waiting", progress.waiting),
    ]


def _key(progress: BackfillProgress, date: BackfillDate) -> RunKey:
    return RunKey(progress.pipeline_id, progress.schedule_id, date.date)


PAGE = PageRow("/backfills/{backfill}", "backfill.html", build, BackfillPageQuery)
