"""Backfill preview: the dates that a backfill would run, and the form that starts it."""

from typing import Annotated

import msgspec
from msgspec import Meta

from interlock.domain.backfill import MOST_CONCURRENT
from interlock.errors import ConfigError
from interlock.operations.requests import BackfillQuery
from interlock.web.pages.page_request import PageRequest, PageRow, Shown, Text

_SHOWN = 400

Day = Annotated[str, Meta(max_length=20)]


class BackfillPreviewQuery(msgspec.Struct, frozen=True, kw_only=True):
    since: Day = msgspec.field(default="", name="from")
    until: Day = msgspec.field(default="", name="to")
    schedule: Text = ""
    max_concurrent: Annotated[int, Meta(ge=1, le=MOST_CONCURRENT)] = msgspec.field(
        default=2, name="maxConcurrent"
    )


def build(asked: PageRequest) -> Shown:
    query: BackfillPreviewQuery = asked.query
    name = asked.path["pipeline"]
    config = asked.context.queries.config(name)
    dates, problem = _planned(asked, name, query)
    return {
        "config": config,
        "pipeline": config.pipeline,
        "query": query,
        "dates": dates[:_SHOWN],
        "total": len(dates),
        "problem": problem,
        "pause": config.pause(asked.now),
        "may_operate": asked.may_operate(name) and not config.is_retired,
    }


def _planned(
    asked: PageRequest, name: str, query: BackfillPreviewQuery
) -> tuple[list[str], str | None]:
    """The dates, or what is wrong with the range."""
    if not query.since or not query.until:
        return [], None
    wanted = BackfillQuery(
        since=query.since.strip(), until=query.until.strip(), schedule=query.schedule or None
    )
    try:
        return asked.context.queries.backfill(name, wanted).items, None
    except ConfigError as error:
        return [], str(error)


PAGE = PageRow(
    "/pipelines/{pipeline}/backfill", "backfill_preview.html", build, BackfillPreviewQuery
)
