"""Runs page: the runs of all pipelines or of one, by state and date, newest first."""

from typing import Literal, get_args

import msgspec

from interlock.domain.config import Config
from interlock.domain.run import RETRYING, Run, Status
from interlock.operations.requests import RunsQuery
from interlock.queries.paging import Page
from interlock.web.pages.page_request import (
    Cursor,
    DayBound,
    PageRequest,
    PageRow,
    Shown,
    Text,
    found_pipelines,
)
from interlock.web.pages.status_badge import StatusBadge, standing, standing_of

ROWS = 50
_SUGGESTED = 8

#: The states in the order of the list of choices.
State = Literal[
    "",
    "PENDING",
    "TRIGGERING",
    "RUNNING",
    "RETRYING",
    "FAILED",
    "FAILED_FINAL",
    "COMPLETED",
    "SKIPPED",
    "UNREADABLE",
]


class RunsPageQuery(msgspec.Struct, frozen=True, kw_only=True):
    pipeline: Text = ""
    status: State = ""
    since: DayBound = msgspec.field(default="", name="from")
    until: DayBound = msgspec.field(default="", name="to")
    cursor: Cursor | None = None


def build(asked: PageRequest) -> Shown:
    query: RunsPageQuery = asked.query
    needs_pipeline = asked.context.only_reads and not query.pipeline
    page = Page[Run]([]) if needs_pipeline else asked.context.queries.runs(_wanted(query))
    return {
        "query": query,
        "given": {
            "pipeline": query.pipeline,
            "status": query.status,
            "from": query.since,
            "to": query.until,
        },
        "states": [(each, _badge(each).word) for each in get_args(State) if each],
        "page": page,
        "runs": [(standing_of(run), run) for run in page.items],
        "zones": _zones(asked, page.items),
        "needs_pipeline": needs_pipeline,
        "suggested": [] if page.items or not query.pipeline else _suggested(asked),
        "is_filtered": any((query.pipeline, query.status, query.since, query.until)),
        "newest": query.cursor is None,
    }


def _wanted(query: RunsPageQuery) -> RunsQuery:
    return RunsQuery(
        pipeline=query.pipeline or None,
        status=query.status or None,
        since=query.since or None,
        until=query.until or None,
        limit=ROWS,
        cursor=query.cursor,
    )


def _badge(state: str) -> StatusBadge:
    return standing(Status.FAILED, retrying=True) if state == RETRYING else standing(state)


def _zones(asked: PageRequest, runs: list[Run]) -> dict[str, str]:
    """The zone of each pipeline on the page."""
    find = asked.context.backend.ports.pipelines.find
    names = {run.key.pipeline_id for run in runs}
    return {name: zone_of(config) for name in names if (config := find(name)) is not None}


def zone_of(config: Config) -> str:
    """The zone of a pipeline whose schedules agree on one."""
    zones = {schedule.timezone for schedule in config.pipeline.schedules}
    return zones.pop() if len(zones) == 1 else "UTC"


def _suggested(asked: PageRequest) -> list[str]:
    """The pipelines that may have been meant, where none has the name that was entered."""
    if asked.context.backend.ports.pipelines.find(asked.query.pipeline) is not None:
        return []
    found = found_pipelines(asked, asked.query.pipeline, 0, _SUGGESTED)
    return [config.pipeline.id for config in found.configs]


PAGE = PageRow("/runs", "runs.html", build, RunsPageQuery)
