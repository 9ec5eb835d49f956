"""Search page: what matches the words in the bar. The suggestions below the bar are read from it too."""

import msgspec

from interlock.domain.run import RunKey
from interlock.operations.requests import SearchQuery
from interlock.queries.search import Found, FoundKind
from interlock.web.pages.page_request import PageRequest, PageRow, Shown, Text
from interlock.web.pages.templating import pipeline_url, run_url, with_query

ROWS = 60
FEW = 9


class SearchPageQuery(msgspec.Struct, frozen=True, kw_only=True):
    q: Text = ""
    #: Whether suggestions are asked for.
    few: bool = False


def build(asked: PageRequest) -> Shown:
    query: SearchPageQuery = asked.query
    limit = FEW if query.few else ROWS
    found = asked.context.queries.search(SearchQuery(q=query.q, limit=limit)).items
    groups: dict[FoundKind, list[tuple[str, Found]]] = {}
    for each in found:
        groups.setdefault(each.kind, []).append((address(each), each))
    return {"q": query.q, "groups": groups, "is_cut": len(found) == limit}


def address(found: Found) -> str:
    """The page that shows it."""
    if found.kind is FoundKind.EVENT_TYPE:
        return with_query("/events", type=found.title)
    if found.kind is FoundKind.DATE:
        return f"/runs?from={found.date}&to={found.date}"
    assert found.pipeline_id is not None
    if found.kind is FoundKind.RUN:
        return run_url(RunKey(found.pipeline_id, found.schedule_id or "", found.date or ""))
    return pipeline_url(found.pipeline_id)


PAGE = PageRow("/search", "search.html", build, SearchPageQuery)
