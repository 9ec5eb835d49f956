"""Events: published on the EventBridge bus, read from the table that the event sink fills."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from heapq import merge
from itertools import islice
from typing import Any

from interlock.adapters.aws.event_items import (
    bare_event_from,
    event_from_envelope,
    event_from_item,
    event_item,
    is_known,
    unreadable_item,
)
from interlock.adapters.aws.failures import ask
from interlock.adapters.aws.keys import partition
from interlock.adapters.aws.rows import millis
from interlock.adapters.aws.table import Table
from interlock.adapters.aws.values import Item
from interlock.domain import canonical
from interlock.domain.event import Event, EventType, envelope
from interlock.domain.partition import Label
from interlock.domain.run import RunKey
from interlock.domain.unreadable import UnreadableRow
from interlock.errors import TransientError
from interlock.ports.engine import Clock

#: What one request may carry.
_ENTRIES = 10
_BYTES = 250_000
_TYPES = ("GSI1", "eventType", "timestamp")
#: After every sort key of an event: those of other rows begin with a letter.
_AFTER_EVENTS = ":"
#: A reading may be about a future date; its run's events are at most this much older than the date.
_AHEAD = timedelta(days=32)
_DRY = "DRY_RUN_"
#: A row with nothing but its key has its type there, where no filter expression can see it.
_OF_KIND = "(#eventType = :kind OR attribute_not_exists(#eventType))"


class EventBus:
    """The bus. Listeners subscribe with rules; the event sink is one of them."""

    def __init__(self, client: Any, bus: str) -> None:
        self._client = client
        self._bus = bus

    def publish(self, events: Sequence[Event]) -> None:
        """Raises TransientError when any of them was refused: the others are then published again."""
        for entries in _requests([self._entry(event) for event in events]):
            answer = ask(self._client.put_events, Entries=entries)
            refused = [each for each in answer["Entries"] if each.get("ErrorCode")]
            if refused or answer.get("FailedEntryCount"):
                codes = sorted({str(each["ErrorCode"]) for each in refused})
                raise TransientError(
                    f"PutEvents refused {len(refused)} of {len(entries)}: {', '.join(codes)}"
                )

    def _entry(self, event: Event) -> dict[str, Any]:
        told = envelope(event)
        return {
            "Source": told["source"],
            "DetailType": event.type.value,
            "Detail": canonical.encode(told["detail"]),
            "EventBusName": self._bus,
            "Time": event.timestamp,
        }


class EventLog:
    """The events table."""

    def __init__(self, table: Table, kept: timedelta, clock: Clock) -> None:
        self._table = table
        self._kept = kept
        self._clock = clock

    def put(self, told: Mapping[str, Any]) -> Event | None:
        """Store a forwarded event, once; None for an unreadable one, which is stored as it is."""
        try:
            event = event_from_envelope(canonical.as_json(told))
        except ValueError as error:
            now = self._clock()
            self._table.put(unreadable_item(told, str(error), now, self._kept))
            return None
        self._table.put(event_item(event, self._kept), "attribute_not_exists(#PK)")
        return event

    def of_run(self, key: RunKey) -> list[Event]:
        """A dry run has only events of the dry kinds."""
        items = self._table.query(
            partition(key.pipeline_id),
            _since(key),
            _AFTER_EVENTS,
            keep="#scheduleId = :schedule AND #date = :date",
            schedule=key.schedule_id,
            date=key.date,
        )
        return [event for event in self._events(items) if event.type.startswith(_DRY) is key.dry]

    def newest(
        self,
        *,
        pipeline_id: str | None = None,
        kind: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[Event]:
        """By pipeline, or by type; for neither, the newest of every type. Skipped rows do not count."""
        if pipeline_id is not None or kind is not None:
            found = self.backwards(pipeline_id=pipeline_id, kind=kind, since=since, page=limit)
        else:
            each = [self.backwards(kind=name, since=since, page=limit) for name in EventType]
            found = merge(*each, key=_place, reverse=True)
        return list(islice(found, limit))

    def backwards(
        self,
        *,
        pipeline_id: str | None = None,
        kind: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
        page: int | None = None,
    ) -> Iterator[Event]:
        """Newest first, read page by page on demand."""
        first, last = millis(since or _BEGIN_OF_TIME), millis(until or _END_OF_TIME)
        if pipeline_id is None and kind is not None:
            items = self._table.query(
                kind, first, last, index=_TYPES, backwards=True, limit=limit, page=page
            )
            return self._events(items)
        chosen: dict[str, Any] = {} if kind is None else {"keep": _OF_KIND, "kind": kind}
        items = self._table.query(
            partition(pipeline_id),
            f"{first:013}",
            f"{last:013}{_AFTER_EVENTS}",
            backwards=True,
            limit=limit,
            page=page,
            **chosen,
        )
        found = self._events(items)
        return found if kind is None else (event for event in found if event.type == kind)

    def _events(self, items: Iterable[Item]) -> Iterator[Event]:
        """Events of known types; for a row that is not fully readable, what its key says."""
        for item in items:
            if not is_known(item):
                continue
            found = self._table.read(item, event_from_item)
            if isinstance(found, UnreadableRow):
                yield from self._table.readable([item], bare_event_from)
            else:
                yield found


class BusAndLog:
    """The port: publishes on the bus, reads from the table."""

    def __init__(self, bus: EventBus, log: EventLog) -> None:
        self.publish: Callable[[Sequence[Event]], None] = bus.publish
        self.of_run: Callable[[RunKey], list[Event]] = log.of_run
        self.newest: Any = log.newest


def _requests(entries: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """As many entries as one request may carry, in order."""
    batch: list[dict[str, Any]] = []
    size = 0
    for entry in entries:
        weight = len(entry["Detail"].encode()) + 200
        if batch and (len(batch) == _ENTRIES or size + weight > _BYTES):
            yield batch
            batch, size = [], 0
        batch.append(entry)
        size += weight
    if batch:
        yield batch


def _place(event: Event) -> tuple[datetime, str]:
    return event.timestamp, event.event_id


def _since(key: RunKey) -> str:
    day: date = Label.parse(key.date).day
    begins = datetime.fromisoformat(f"{day - _AHEAD}T00:00:00Z")
    return f"{millis(begins):013}"


#: Milliseconds of thirteen digits: their text order is their time order.
_BEGIN_OF_TIME = datetime.fromisoformat("2001-09-10T00:00:00Z")
_END_OF_TIME = datetime.fromisoformat("2286-11-20T00:00:00Z")
