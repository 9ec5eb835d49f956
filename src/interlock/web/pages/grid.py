"""Grid: a timeline laid out in columns of an hour or a day each; this module computes every position."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from math import floor

import msgspec

from interlock.domain.config import Config
from interlock.domain.deadline import deadlines
from interlock.domain.partition import Grain, Label, starts_at
from interlock.domain.pipeline import Pipeline, Schedule
from interlock.domain.run import FINAL, RunKey
from interlock.domain.zones import zone
from interlock.queries.timeline import EXPECTED, TimelineCell
from interlock.web.pages.status_badge import StatusBadge, standing

HOUR = timedelta(hours=1)
#: How wide a column is in the units of its drawing.
WIDTH = 60


class Mark(msgspec.Struct, frozen=True):
    """A deadline within a slot, in units from its left edge."""

    at: int
    title: str


class Slot(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a row, with or without runs."""

    columns: int
    standing: StatusBadge | None = None
    #: How many dates fall here, and how many of them have the status shown.
    count: int = 1
    alike: int = 1
    key: RunKey | None = None
    title: str = ""
    marks: tuple[Mark, ...] = ()
    #: The position of the current time, if it falls here.
    now: int | None = None

    @property
    def width(self) -> int:
        return self.columns * WIDTH


class GridRow(msgspec.Struct, frozen=True):
    """The row of one schedule."""

    pipeline_id: str
    schedule_id: str | None
    slots: list[Slot]


class HourWindow(msgspec.Struct, frozen=True):
    """A window of whole hours."""

    since: datetime
    columns: int
    now: datetime

    @property
    def until(self) -> datetime:
        return self.since + self.columns * HOUR

    def place(self, instant: datetime) -> float:
        return (instant - self.since) / HOUR


def hour_rows(
    config: Config, cells: Sequence[TimelineCell], window: HourWindow
) -> Iterator[GridRow]:
    pipeline = config.pipeline
    for schedule in pipeline.schedules:
        own = [cell for cell in cells if pipeline.present_id(cell.schedule_id) == schedule.id]
        name = schedule.id if len(pipeline.schedules) > 1 else None
        placed = _placed(pipeline, schedule, own, window)
        marks = list(_marks(pipeline, schedule, own, window))
        yield GridRow(pipeline.id, name, list(_filled(placed, marks, window)))


def _placed(
    pipeline: Pipeline, schedule: Schedule, cells: Sequence[TimelineCell], window: HourWindow
) -> dict[int, Slot]:
    """By first column. Among hourly dates, a daily date takes a cell like any other."""
    where = zone(schedule.timezone)
    labels = [(Label.parse(cell.date), cell) for cell in cells]
    finest = max((label.grain for label, _ in labels), default=Grain.DAY)
    groups: dict[tuple[int, int], list[TimelineCell]] = {}
    for label, cell in labels:
        start = starts_at(label, where)
        end = start + HOUR
        if finest is Grain.DAY:
            end = starts_at(Label(label.day + timedelta(days=1)), where)
        first = max(0, floor(window.place(start)))
        last = min(window.columns, floor(window.place(end)))
        if first < last:
            groups.setdefault((first, last), []).append(cell)
    return {first: _slot(pipeline, group, last - first) for (first, last), group in groups.items()}


def _slot(pipeline: Pipeline, cells: Sequence[TimelineCell], columns: int) -> Slot:
    """Several dates in one cell show the worst status among them."""
    worst = min(cells, key=lambda cell: _standing(cell).rank)
    shown = _standing(worst)
    key = RunKey(pipeline.id, worst.schedule_id, worst.date, dry=pipeline.dry_run)
    more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
    again = f", attempt {worst.attempt}" if worst.attempt else ""
    title = f"{pipeline.id} {worst.date}: {shown.word}{again}{more}"
    alike = sum(_standing(cell) is shown for cell in cells)
    return Slot(
        columns=columns, standing=shown, count=len(cells), alike=alike, key=key, title=title
    )


def _standing(cell: TimelineCell) -> StatusBadge:
    return standing(cell.status, cell.sla_verdict, cell.retrying)


def _marks(
    pipeline: Pipeline, schedule: Schedule, cells: Sequence[TimelineCell], window: HourWindow
) -> Iterator[tuple[float, str]]:
    """The deadlines of runs that have not completed."""
    if pipeline.sla is None:
        return
    for cell in cells:
        if cell.status in FINAL or (cell.status == EXPECTED and cell.due_at is None):
            continue
        label = Label.parse(cell.date)
        due = deadlines(schedule, pipeline.sla, label, calendars=pipeline.calendars).earliest
        if due.breach_at is not None and window.since <= due.breach_at < window.until:
            yield window.place(due.breach_at), f"deadline of {cell.date}"


def _filled(
    placed: dict[int, Slot], marks: Sequence[tuple[float, str]], window: HourWindow
) -> Iterator[Slot]:
    column = 0
    while column < window.columns:
        slot = placed.get(column)
        if slot is None:
            following = min((at for at in placed if at > column), default=window.columns)
            slot = Slot(columns=following - column)
        yield _marked(slot, column, marks, window)
        column += slot.columns


def _marked(
    slot: Slot, column: int, marks: Sequence[tuple[float, str]], window: HourWindow
) -> Slot:
    end, now = column + slot.columns, window.place(window.now)
    here = tuple(
        Mark(round((at - column) * WIDTH), title) for at, title in marks if column <= at < end
    )
    at_now = round((now - column) * WIDTH) if column <= now < end else None
    if not here and at_now is None:
        return slot
    return msgspec.structs.replace(slot, marks=here, now=at_now)
