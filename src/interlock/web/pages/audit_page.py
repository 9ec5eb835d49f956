"""Audit page: who asked for what, why, and what came of it."""

import msgspec

from interlock.operations.requests import AuditQuery
from interlock.web.pages.events_page import SINCE, Span
from interlock.web.pages.page_request import Cursor, PageRequest, PageRow, Shown, Text

ROWS = 100


class AuditPageQuery(msgspec.Struct, frozen=True, kw_only=True):
    pipeline: Text = ""
    actor: Text = ""
    action: Text = ""
    since: Span = ""
    cursor: Cursor | None = None


def build(asked: PageRequest) -> Shown:
    query: AuditPageQuery = asked.query
    span = SINCE.get(query.since)
    wanted = AuditQuery(
        pipeline=query.pipeline or None,
        actor=query.actor or None,
        action=query.action or None,
        since=None if span is None else asked.now - span,
        limit=ROWS,
        cursor=query.cursor,
    )
    return {
        "query": query,
        "spans": list(SINCE),
        "page": asked.context.queries.audit(wanted),
        "is_filtered": any((query.pipeline, query.actor, query.action, query.since)),
        "newest": query.cursor is None,
    }


PAGE = PageRow("/audit", "audit.html", build, AuditPageQuery)
