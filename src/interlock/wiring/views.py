"""Views: lists for people and programs, a page at a time, and what is put together from several of them."""

import base64
import binascii
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import msgspec

from interlock.adapters.local.store import Store
from interlock.domain.deadline import SlaVerdict
from interlock.domain.event import ALIASES, Event
from interlock.domain.opening import instants
from interlock.domain.partition import Grain, Label, label_at
from interlock.domain.run import DeadlineKind, Run, RunKey, Status
from interlock.domain.schedule import occurrences
from interlock.domain.sensor import Reading
from interlock.domain.zones import zone
from interlock.errors import ConfigError
from interlock.ports import Clock, Config
from interlock.wiring.operations import Operations, PipelineState

T = TypeVar("T")

LONGEST_RANGE = timedelta(days=92)
#: So many runs of one pipeline are looked at for a view of a range.
_MOST_RUNS = 10_000


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Some of a list. `next` is the cursor of the page behind it; without one this is the last."""

    items: list[T]
    next: str | None = None


class Cell(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One date of a schedule: a run, or the place where one is expected."""

    schedule_id: str
    date: str
    #: A run's status; `expected` before its moment, `missing` after it.
    status: str
    due_at: datetime | None = None
    attempt: int | None = None
    sla_verdict: str | None = None
    breach_at: datetime | None = None


class Row(msgspec.Struct, frozen=True, rename="camel"):
    """A pipeline's line in the timeline."""

    pipeline_id: str
    cells: list[Cell]


class Kept(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """How one date fared against its deadline."""

    schedule_id: str
    date: str
    verdict: str | None
    deadline: datetime | None
    completed_at: datetime | None
    #: Seconds left at completion; negative when it was late.
    slack_seconds: float | None


class Attainment(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """How well a pipeline keeps its deadlines."""

    pipeline_id: str
    met: int
    breached: int
    undecided: int
    #: The part that was met; without a decided date there is none.
    attained: float | None
    dates: list[Kept]


class Views:
    """Reads of one home."""

    def __init__(self, store: Store, operations: Operations, clock: Clock) -> None:
        self._store, self._operations, self._clock = store, operations, clock

    def pipelines(self, cursor: str | None, limit: int) -> Page[PipelineState]:
        configs, last = self._configs(cursor, limit)
        return Page([self._operations.pipeline(each.pipeline.id) for each in configs], last)

    def readings(self, pipeline_id: str, cursor: str | None, limit: int) -> Page[Reading]:
        after = "" if cursor is None else _unpack(cursor, str)
        readings = self._operations.readings(pipeline_id)
        behind = [reading for reading in readings if reading.key > after]
        return _page(behind[: limit + 1], limit, lambda reading: reading.key)

    def runs(
        self,
        pipeline_id: str | None,
        since: str | None,
        until: str | None,
        cursor: str | None,
        limit: int,
    ) -> Page[Run]:
        """`since` and `until` are labels, or the beginnings of labels."""
        after = None if cursor is None else _unpack(cursor, RunKey)
        found = self._store.runs.page(
            pipeline_id, since or "0000", until or "9999", after, limit + 1
        )
        return _page(found, limit, lambda run: run.key)

    def events(
        self,
        pipeline_id: str | None,
        kind: str | None,
        since: datetime | None,
        cursor: str | None,
        limit: int,
    ) -> Page[Event]:
        found = self._store.events.page(
            pipeline_id=pipeline_id,
            kind=None if kind is None else ALIASES.get(kind, kind),
            since=since,
            before=None if cursor is None else _unpack(cursor, tuple[datetime, int]),
            limit=limit + 1,
        )
        page = _page(found, limit, lambda told: (told.event.timestamp, told.seq))
        return Page([told.event for told in page.items], page.next)

    def timeline(
        self, since: datetime, until: datetime, cursor: str | None, limit: int
    ) -> Page[Row]:
        """Every date with a run, or on which one is expected."""
        _check_range(since, until)
        configs, last = self._configs(cursor, limit)
        return Page([self._row(config, since, until) for config in configs], last)

    def sla(
        self, since: datetime, until: datetime, cursor: str | None, limit: int
    ) -> Page[Attainment]:
        """Of the pipelines that have a deadline."""
        _check_range(since, until)
        configs, last = self._configs(cursor, limit)
        return Page(
            [self._attainment(each, since, until) for each in configs if each.pipeline.sla], last
        )

    def _configs(self, cursor: str | None, limit: int) -> tuple[list[Config], str | None]:
        after = None if cursor is None else _unpack(cursor, str)
        configs = self._store.pipelines.in_force()
        behind = [each for each in configs if after is None or each.pipeline.id > after]
        page = _page(behind[: limit + 1], limit, lambda config: config.pipeline.id)
        return page.items, page.next

    def _row(self, config: Config, since: datetime, until: datetime) -> Row:
        now, cells = self._clock(), dict[tuple[str, str], Cell]()
        for schedule in config.pipeline.schedules:
            for moment in occurrences(schedule, config.pipeline.calendars, since, until):
                cells[schedule.id, moment.date] = Cell(
                    schedule_id=schedule.id,
                    date=moment.date,
                    status="expected" if moment.due_at > now else "missing",
                    due_at=moment.due_at,
                )
        for run in self._runs(config, since, until):
            place = run.key.schedule_id, run.key.date
            due = cells[place].due_at if place in cells else None
            cells[place] = _cell(run, due)
        return Row(config.pipeline.id, sorted(cells.values(), key=lambda cell: cell.date))

    def _attainment(self, config: Config, since: datetime, until: datetime) -> Attainment:
        dates = [_kept(run) for run in self._runs(config, since, until)]
        counts = defaultdict[str | None, int](int)
        for each in dates:
            counts[each.verdict] += 1
        met, breached = counts[SlaVerdict.MET], counts[SlaVerdict.BREACHED]
        decided = met + breached
        return Attainment(
            pipeline_id=config.pipeline.id,
            met=met,
            breached=breached,
            undecided=len(dates) - decided,
            attained=round(met / decided, 4) if decided else None,
            dates=dates,
        )

    def _runs(self, config: Config, since: datetime, until: datetime) -> list[Run]:
        """Of the days between two instants, in the zone of each schedule."""
        zones = {zone(schedule.timezone) for schedule in config.pipeline.schedules}
        first = min(str(label_at(since, each, Grain.DAY)) for each in zones)
        last = max(str(label_at(until, each, Grain.DAY)) for each in zones)
        return self._store.runs.page(config.pipeline.id, first, last, None, _MOST_RUNS)


def label_of(text: str) -> Label:
    """A date as a caller wrote it. Raises ConfigError."""
    try:
        return Label.parse(text)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _check_range(since: datetime, until: datetime) -> None:
    if not since <= until <= since + LONGEST_RANGE:
        raise ConfigError(f"from and to are at most {LONGEST_RANGE.days} days apart, in that order")


def _cell(run: Run, due_at: datetime | None) -> Cell:
    return Cell(
        schedule_id=run.key.schedule_id,
        date=run.key.date,
        status=run.status,
        due_at=due_at,
        attempt=run.attempt,
        sla_verdict=run.sla_verdict,
        breach_at=_breach_at(run),
    )


def _kept(run: Run) -> Kept:
    deadline = _breach_at(run)
    done = run.completed_at if run.status is Status.COMPLETED else None
    slack = None if deadline is None or done is None else (deadline - done).total_seconds()
    return Kept(
        schedule_id=run.key.schedule_id,
        date=run.key.date,
        verdict=run.sla_verdict,
        deadline=deadline,
        completed_at=done,
        slack_seconds=slack,
    )


def _breach_at(run: Run) -> datetime | None:
    breaches = (DeadlineKind.BREACH, DeadlineKind.RELATIVE_BREACH)
    return min((at for kind, at in instants(run).items() if kind in breaches), default=None)


def _page(found: Sequence[T], limit: int, place: Callable[[T], Any]) -> Page[T]:
    """One more than the limit was asked for: if it came, there is a page behind this one."""
    items = list(found[:limit])
    return Page(items, _pack(place(items[-1])) if len(found) > limit and items else None)


def _pack(place: Any) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")


def _unpack(cursor: str, kind: type[T]) -> T:
    """Raises ConfigError for what is no cursor of this list."""
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
        return msgspec.json.decode(text, type=kind)
    except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
        raise ConfigError("cursor is not one that this list gave") from error
