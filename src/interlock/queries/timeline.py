"""Timeline: each date of a schedule as a cell; a run, or the place where one is expected."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from interlock.domain.config import Config
from interlock.domain.due_dates import closing_dates, sla_dates
from interlock.domain.history import Glance
from interlock.domain.partition import Grain, label_at
from interlock.domain.pipeline import Pipeline, Schedule
from interlock.domain.schedule import occurrences, sensor_driven
from interlock.domain.zones import zone
from interlock.ports.reads import History

EXPECTED, MISSING = "expected", "missing"


class TimelineCell(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One date of a schedule: a run, or the place where one is expected."""

    schedule_id: str
    date: str
    #: A run's status; `expected` before its due time, `missing` after it.
    status: str
    #: The instant by which a run should have opened, if the file sets one.
    due_at: datetime | None = None
    attempt: int | None = None
    sla_verdict: str | None = None
    #: Seconds left when it completed; negative when late.
    slack_seconds: int | None = None
    #: Whether its last attempt failed and the next one is already due.
    retrying: bool = False


class TimelineRow(msgspec.Struct, frozen=True, rename="camel"):
    """A pipeline's row in the timeline."""

    pipeline_id: str
    cells: list[TimelineCell]


def timeline(
    configs: Sequence[Config], since: datetime, until: datetime, now: datetime, history: History
) -> list[TimelineRow]:
    """Every date with a run, or on which one is expected between the two instants."""
    if not configs:
        return []
    found: dict[str, list[Glance]] = {config.pipeline.id: [] for config in configs}
    first, last = days_between(configs, since, until)
    for glance in history.glances(list(found), first, last):
        found[glance.key.pipeline_id].append(glance)
    return [
        TimelineRow(
            config.pipeline.id, cells_of(config, found[config.pipeline.id], since, until, now)
        )
        for config in configs
    ]


def days_between(configs: Sequence[Config], since: datetime, until: datetime) -> tuple[str, str]:
    """The first and the last day between two instants, over the zones of all pipelines."""
    zones = {zone(each.timezone) for config in configs for each in config.pipeline.schedules}
    first = min(str(label_at(since, each, Grain.DAY)) for each in zones)
    last = max(str(label_at(until, each, Grain.DAY)) for each in zones)
    return first, last


def cells_of(
    config: Config, runs: Sequence[Glance], since: datetime, until: datetime, now: datetime
) -> list[TimelineCell]:
    cells: dict[tuple[str, str], TimelineCell] = {}
    for schedule in config.pipeline.schedules:
        standing = config.standing(schedule.id)
        for date, due_at in expected_dates(config.pipeline, schedule, since, until):
            if standing.counts(date, due_at):
                status = EXPECTED if due_at > now else MISSING
                cells[schedule.id, date] = TimelineCell(
                    schedule_id=schedule.id, date=date, status=status, due_at=due_at
                )
    for run in runs:
        place = config.pipeline.present_id(run.key.schedule_id), run.key.date
        cells[place] = _cell(run, cells[place].due_at if place in cells else None)
    return sorted(cells.values(), key=lambda cell: (cell.date, cell.schedule_id))


def expected_dates(
    pipeline: Pipeline, schedule: Schedule, since: datetime, until: datetime
) -> Iterator[tuple[str, datetime]]:
    """The dates on which a run is expected, each with the instant after which it counts as missing."""
    if not sensor_driven(schedule):
        for moment in occurrences(schedule, pipeline.calendars, since, until):
            yield moment.date, moment.due_at
        return
    # only readings open its runs: a date is missing when its deadline passes without one
    for watched, closes_at in closing_dates(schedule, pipeline.calendars, since, until):
        yield watched.date, closes_at
    if pipeline.sla is not None:
        for watched, due in sla_dates(schedule, pipeline.sla, pipeline.calendars, since, until):
            if due.breach_at is not None:
                yield watched.date, due.breach_at


def _cell(run: Glance, due_at: datetime | None) -> TimelineCell:
    return TimelineCell(
        schedule_id=run.key.schedule_id,
        date=run.key.date,
        status=run.status,
        due_at=due_at,
        attempt=run.attempt,
        sla_verdict=run.sla_verdict,
        slack_seconds=run.slack,
        retrying=run.retrying,
    )
