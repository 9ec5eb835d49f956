"""Pipeline page: what it waits for now, what comes next, how long it takes, and the file in force."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Literal

import msgspec
import yaml

from interlock.domain import canonical
from interlock.domain.admission import used_keys
from interlock.domain.config import Config
from interlock.domain.pipeline import Pipeline
from interlock.domain.schedule import occurrences
from interlock.domain.sensor import RESERVED
from interlock.errors import NotFoundError
from interlock.queries.dependencies import edges_of
from interlock.web.pages.many_dates_form import ticked
from interlock.web.pages.page_request import Number, PageRequest, PageRow, Shown
from interlock.web.pages.pipeline_plots import DATES, pipeline_plots
from interlock.web.pages.runs_page import zone_of
from interlock.web.pages.status_badge import standing, standing_of

#: How many runs are read: some are of dates that have no value to draw.
_READ = DATES + 20
_LISTED = 10
_NEXT = 5
_AHEAD = timedelta(days=40)


class PipelineQuery(msgspec.Struct, frozen=True, kw_only=True):
    #: The action just taken.
    done: Literal["paused", "resumed", "skipped", "requested", "stored"] | None = None
    #: How many dates of many were accepted, and how many were refused.
    accepted: Number = 0
    refused: Number = 0


def build(asked: PageRequest) -> Shown:
    context, now, name = asked.context, asked.now, asked.path["pipeline"]
    config = context.backend.ports.pipelines.find(name)
    if config is None:
        raise NotFoundError(f"there is no pipeline {name}")
    runs = context.history.runs(name, "0000", "9999", None, _READ) or []
    zone_name = zone_of(config)
    written = context.written.of(name)
    upstream, downstream = _neighbours(asked, name)
    pause = config.pause(now)
    return {
        "config": config,
        "pipeline": config.pipeline,
        "pause": pause,
        "foreseen": context.queries.would_resume(name).items if pause else [],
        "whys": [
            (standing(why.status, why.sla_verdict, why.retry_at is not None), why)
            for why in context.queries.why(name).items
        ],
        "next": _next_moments(config, now),
        "calendar": list(_calendar(config.pipeline)),
        "runs": [(standing_of(run), run) for run in runs[:_LISTED]],
        "zones": {name: zone_name},
        "plots": pipeline_plots(config.pipeline, zone_name, runs, context.backend.ports.sensors),
        "written": written,
        "written_text": "" if written is None else context.backend.mask(written.text),
        "boxes": {
            run.key: ticked(config.pipeline.present_id(run.key.schedule_id), run.key.date)
            for run in runs[:_LISTED]
        },
        "upstream": upstream,
        "downstream": downstream,
        "readings": _readings(asked, name),
        "file": context.backend.mask(_as_yaml(config.pipeline)),
        "may_operate": asked.may_operate(name) and not config.is_retired,
        "may_observe": asked.may_observe(name) and not config.is_retired,
        "keys": _keys(config.pipeline),
        "was_done": asked.query.done,
        "accepted": asked.query.accepted,
        "refused": asked.query.refused,
    }


def _keys(pipeline: Pipeline) -> list[str]:
    """The sensor keys that a person may report: those that its rules and triggers read."""
    known = {key for each in pipeline.schedules for key in used_keys(pipeline, each)}
    return sorted(key for key in known if not key.startswith(RESERVED))


def _next_moments(config: Config, now: datetime) -> list[tuple[str, str, datetime, str]]:
    """Date, schedule, instant and time zone; soonest first."""
    found = [
        (moment.date, schedule.id, moment.due_at, schedule.timezone)
        for schedule in config.pipeline.schedules
        for moment in islice(
            occurrences(schedule, config.pipeline.calendars, now, now + _AHEAD), _NEXT
        )
    ]
    return sorted(found, key=lambda each: each[2])[:_NEXT]


def _calendar(pipeline: Pipeline) -> Iterator[tuple[str, str]]:
    """On which days there are no runs, in words."""
    for schedule in pipeline.schedules:
        out = schedule.exclude
        words = []
        if out is not None:
            words += ["weekends"] * out.weekends + [day.value for day in out.days]
            words += list(out.dates[:5]) + (["…"] if len(out.dates) > 5 else [])
            words += [f"calendar {out.calendar}"] if out.calendar else []
            words += [f"holidays of {out.holidays}"] if out.holidays else []
        if schedule.calendar:
            words.append(f"calendar {schedule.calendar}")
        if schedule.include is not None:
            words.append(f"only on {len(schedule.include.dates)} listed dates")
        if words:
            yield schedule.id, ", ".join(words)


def _neighbours(asked: PageRequest, name: str) -> tuple[list[str], list[str]]:
    edges = edges_of(config.pipeline for config in asked.context.backend.ports.pipelines.in_force())
    return (
        sorted({edge.upstream for edge in edges if edge.downstream == name}),
        sorted({edge.downstream for edge in edges if edge.upstream == name}),
    )


def _readings(asked: PageRequest, name: str) -> list[Any]:
    found = asked.context.backend.ports.sensors.of_pipeline(name)
    return sorted(found, key=lambda reading: reading.received_at, reverse=True)[:12]


def _as_yaml(pipeline: Pipeline) -> str:
    """The file in force as parsed, with defaults filled in."""
    plain = msgspec.json.decode(canonical.encode(pipeline))
    kept = {key: value for key, value in plain.items() if value not in (None, {}, [])}
    return yaml.safe_dump(_without_nothing(kept), sort_keys=False, allow_unicode=True)


def _without_nothing(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_nothing(v) for k, v in value.items() if v not in (None, {}, [], "")}
    if isinstance(value, list):
        return [_without_nothing(each) for each in value]
    return value


PAGE = PageRow("/pipelines/{pipeline}", "pipeline.html", build, PipelineQuery)
