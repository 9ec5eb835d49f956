"""Pipelines page: one line per pipeline, searchable by id, owner or tag."""

import msgspec

from interlock.domain.config import Config
from interlock.domain.schedule import next_occurrence
from interlock.queries.current_date import last_begun_of
from interlock.web.pages.page_request import (
    Number,
    PageRequest,
    PageRow,
    Shown,
    Text,
    found_pipelines,
)
from interlock.web.pages.status_badge import ABSENT, PAUSED, standing_at

ROWS = 50


class PipelinesQuery(msgspec.Struct, frozen=True, kw_only=True):
    q: Text = ""
    start: Number = 0


def build(asked: PageRequest) -> Shown:
    query: PipelinesQuery = asked.query
    found = found_pipelines(asked, query.q, query.start, ROWS)
    until = {each.pipeline.id: last_begun_of(each.pipeline, asked.now) for each in found.configs}
    newest = asked.context.history.newest(until)
    rows = []
    for config in found.configs:
        glance = newest.get(config.pipeline.id)
        shown = ABSENT if glance is None else standing_at(glance)
        paused = config.is_paused(asked.now)
        rows.append((config, PAUSED if paused else shown, glance, _next(config, asked)))
    return {"q": query.q, "found": found, "rows": rows}


def _next(config: Config, asked: PageRequest) -> object:
    moments = [
        moment.due_at
        for schedule in config.pipeline.schedules
        if (moment := next_occurrence(schedule, config.pipeline.calendars, asked.now)) is not None
    ]
    return min(moments, default=None)


PAGE = PageRow("/pipelines", "pipelines.html", build, PipelinesQuery)
