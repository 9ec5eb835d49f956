"""Backfills page: the backfills of all pipelines or of one, newest first, and how far each has come."""

import msgspec

from interlock.errors import NotFoundError
from interlock.operations.requests import BackfillsQuery
from interlock.queries.backfill_progress import BackfillProgress
from interlock.queries.paging import Page
from interlock.web.pages.page_request import Cursor, PageRequest, PageRow, Shown, Text
from interlock.web.pages.progress_bar import progress_bar

ROWS = 50


class BackfillsPageQuery(msgspec.Struct, frozen=True, kw_only=True):
    pipeline: Text = ""
    cursor: Cursor | None = None


def build(asked: PageRequest) -> Shown:
    query: BackfillsPageQuery = asked.query
    page = _page(asked, query)
    return {
        "query": query,
        "page": page,
        "rows": [(progress_bar(each), each) for each in page.items],
        "newest": query.cursor is None,
    }


def _page(asked: PageRequest, query: BackfillsPageQuery) -> Page[BackfillProgress]:
    """An unknown pipeline has none."""
    wanted = BackfillsQuery(
        pipeline=query.pipeline.strip() or None, limit=ROWS, cursor=query.cursor
    )
    try:
        return asked.context.queries.backfills(wanted)
    except NotFoundError:
        return Page([])


PAGE = PageRow("/backfills", "backfills.html", build, BackfillsPageQuery)
