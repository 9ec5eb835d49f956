"""Events page: the log, filtered and searched, updated live."""

from datetime import datetime, timedelta
from typing import Literal

import msgspec

from interlock.domain.event import ALIASES, EventType
from interlock.domain.history import EventFilter
from interlock.queries.paging import page_of, place_at
from interlock.web.pages.page_request import Cursor, PageRequest, PageRow, Shown, Text

ROWS = 100

#: How far back a list goes.
Span = Literal["", "1h", "24h", "7d"]
SINCE: dict[str, timedelta] = {
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
}


class EventsPageQuery(msgspec.Struct, frozen=True, kw_only=True):
    pipeline: Text = ""
    type: Text = ""
    q: Text = ""
    note: Literal["", "1"] = ""
    since: Span = ""
    cursor: Cursor | None = None


def build(asked: PageRequest) -> Shown:
    query: EventsPageQuery = asked.query
    span = SINCE.get(query.since)
    wanted = EventFilter(
        pipeline_id=query.pipeline or None,
        kind=ALIASES.get(query.type, query.type) or None,
        since=None if span is None else asked.now - span,
        of_note=bool(query.note),
        text=query.q or None,
    )
    before = place_at(query.cursor, tuple[datetime, int])
    found = asked.context.history.events(wanted, before, ROWS + 1)
    page = page_of(found, ROWS, lambda told: (told.event.timestamp, told.seq))
    return {
        "query": query,
        "kinds": [kind.value for kind in EventType],
        "spans": list(SINCE),
        "page": page,
        "deliveries": asked.context.backend.deliveries.of_events([t.event for t in page.items]),
        "is_filtered": any((query.pipeline, query.type, query.q, query.note, query.since)),
        "live": query.cursor is None,
        "searched": asked.context.history.searched,
        "searches": bool(wanted.text) or (asked.context.only_reads and _is_searched(wanted)),
    }


def _is_searched(wanted: EventFilter) -> bool:
    """The filters that this backend has no index for, so it scans for them."""
    return wanted.of_note or (wanted.pipeline_id is not None and wanted.kind is not None)


PAGE = PageRow("/events", "events.html", build, EventsPageQuery)
