"""Views: lists for people and programs, a page at a time, and what is put together from several of them."""

from datetime import datetime, timedelta

from interlock.domain.config import Config
from interlock.domain.event import ALIASES, Event
from interlock.domain.history import EventFilter
from interlock.domain.partition import Label
from interlock.domain.run import Run, RunKey
from interlock.domain.sensor import Reading
from interlock.errors import ConfigError
from interlock.ports.reads import History
from interlock.queries.attainment import Attainment, attainments
from interlock.queries.paging import Page, page_of, place_at
from interlock.queries.pipeline_state import PipelineState
from interlock.queries.timeline import TimelineRow, timeline
from interlock.usecases.ports import Ports
from interlock.wiring.operations import Operations

LONGEST_RANGE = timedelta(days=92)


class Views:
    """Reads of one home."""

    def __init__(self, ports: Ports, history: History, operations: Operations) -> None:
        self._ports, self._history, self._operations = ports, history, operations

    def pipelines(self, cursor: str | None, limit: int) -> Page[PipelineState]:
        page = self._configs(cursor, limit)
        states = [self._operations.pipeline(config.pipeline.id) for config in page.items]
        return Page(states, page.next)

    def readings(self, pipeline_id: str, cursor: str | None, limit: int) -> Page[Reading]:
        after = place_at(cursor, str) or ""
        readings = self._operations.readings(pipeline_id)
        behind = [reading for reading in readings if reading.key > after]
        return page_of(behind[: limit + 1], limit, lambda reading: reading.key)

    def runs(
        self,
        pipeline_id: str | None,
        since: str | None,
        until: str | None,
        cursor: str | None,
        limit: int,
    ) -> Page[Run]:
        """`since` and `until` are labels, or the beginnings of labels."""
        after = place_at(cursor, RunKey)
        found = self._history.runs(pipeline_id, since or "0000", until or "9999", after, limit + 1)
        if found is None:
            raise ConfigError("this home lists the runs of one pipeline: name it")
        return page_of(found, limit, lambda run: run.key)

    def events(
        self,
        pipeline_id: str | None,
        kind: str | None,
        since: datetime | None,
        cursor: str | None,
        limit: int,
    ) -> Page[Event]:
        name = None if kind is None else ALIASES.get(kind, kind)
        wanted = EventFilter(pipeline_id=pipeline_id, kind=name, since=since)
        before = place_at(cursor, tuple[datetime, int])
        found = self._history.events(wanted, before, limit + 1)
        page = page_of(found, limit, lambda told: (told.event.timestamp, told.seq))
        return Page([told.event for told in page.items], page.next)

    def timeline(
        self, since: datetime, until: datetime, cursor: str | None, limit: int
    ) -> Page[TimelineRow]:
        """Every date with a run, or on which one is expected."""
        _check_range(since, until)
        page = self._configs(cursor, limit)
        rows = timeline(page.items, since, until, self._ports.clock(), self._history)
        return Page(rows, page.next)

    def sla(
        self, since: datetime, until: datetime, cursor: str | None, limit: int
    ) -> Page[Attainment]:
        """Of the pipelines that have a deadline."""
        _check_range(since, until)
        page = self._configs(cursor, limit)
        return Page(attainments(page.items, since, until, self._history), page.next)

    def _configs(self, cursor: str | None, limit: int) -> Page[Config]:
        after = place_at(cursor, str)
        configs = self._ports.pipelines.in_force()
        behind = [each for each in configs if after is None or each.pipeline.id > after]
        return page_of(behind[: limit + 1], limit, lambda config: config.pipeline.id)


def label_of(text: str) -> Label:
    """A date as a caller wrote it. Raises ConfigError."""
    try:
        return Label.parse(text)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _check_range(since: datetime, until: datetime) -> None:
    if not since <= until <= since + LONGEST_RANGE:
        raise ConfigError(f"from and to are at most {LONGEST_RANGE.days} days apart, in that order")
