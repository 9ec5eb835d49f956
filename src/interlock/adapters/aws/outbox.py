"""Outbox: events kept on the row of the state they report, until they are published.

A row with a filled outbox is in the index. Every writer of such a row keeps its outbox, so nothing is lost
between two writers, and clearing is a separate conditional write.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from interlock.adapters.aws.keys import claim_key, config_outbox_key, is_run, run_key, watch_key
from interlock.adapters.aws.row_cache import Notes, Use
from interlock.adapters.aws.rows import decoder, due_keys, text, unchanged
from interlock.adapters.aws.run_items import run_from, run_watch
from interlock.adapters.aws.table import Key, Table
from interlock.adapters.aws.values import Item
from interlock.adapters.unreadable_rows import DAMAGED
from interlock.domain import canonical
from interlock.domain.event import Event, event_from_id
from interlock.domain.run import RunKey
from interlock.domain.timestamp import instant
from interlock.domain.watching import TELL_GRACE

_event: Callable[[str], Event] = decoder(Event).decode

_TRIES = 4


def box_of(events: Iterable[Event], at: datetime) -> Item:
    """The outbox of a row; no attributes at all when there is nothing to publish."""
    texts = [canonical.encode(event) for event in events]
    return {"outbox": texts, "outboxAt": text(at)} if texts else {}


def put_with_box(
    table: Table, make: Callable[[Item], Item], box: Item, condition: str, **values: Any
) -> Item | None:
    """Put a row, keeping what its outbox still holds. Returns the row as stored; None if it lost."""
    item = make(box)
    answer = table.put(item, f"{condition} AND attribute_not_exists(#outbox)", **values)
    for _ in range(_TRIES):
        if answer.won:
            return item
        if answer.found is None or not isinstance(answer.found.get("outbox"), list):
            return None  # another writer got there first
        seen = answer.found["outbox"]
        item = make(joined(answer.found, box))
        answer = table.put(item, f"{condition} AND #outbox = :seen", **values, seen=seen)
        if not answer.won and answer.found is not None and answer.found.get("outbox") == seen:
            return None  # the outbox was not the reason
    return None


def joined(found: Item, box: Item) -> Item:
    """Unpublished events of an earlier write come first: they have waited longest."""
    before = found["outbox"]
    news = [each for each in box.get("outbox", ()) if each not in before]
    return {"outbox": [*before, *news], "outboxAt": found.get("outboxAt", box.get("outboxAt"))}


class DynamoOutbox:
    """The port, over rows that are owned by runs, marks and configs."""

    def __init__(self, control: Table, notes: Notes) -> None:
        self._control = control
        self._notes = notes

    def pending(self, owner: str) -> list[Event]:
        key = _key_of(owner)
        if self._notes.has(Use.OUTBOX, key):
            return self._seen(key, self._notes.take(Use.OUTBOX, key))
        return self._seen(key, self._control.get(key))

    def clear(self, events: Sequence[Event]) -> None:
        """Losing is fine: the writer that got there first has kept the outbox."""
        ids = {event.event_id for event in events}
        places: dict[Key, Item] = {}
        for event in events:
            places |= self._places(event)
        for key, row in places.items():
            self._notes.drop(key)
            self._clear(key, row, ids)

    def leftovers(self, before: datetime) -> list[Event]:
        rows = self._control.get_many(list(due_keys(self._control, before + TELL_GRACE)))
        waiting = sorted(
            (since, key)
            for key, row in rows.items()
            if "outbox" in row and (since := str(row.get("outboxAt", ""))) < text(before)
        )
        return [event for _, key in waiting for event in self._seen(key, rows[key])]

    def _seen(self, key: Key, row: Item | None) -> list[Event]:
        """Unreadable entries stay where they are, and don't stop others from being published."""
        if row is None:
            return []
        events = []
        for each in row["outbox"] if isinstance(row.get("outbox"), list) else ():
            try:
                event = _entry(each, row)
            except DAMAGED as error:
                self._control.note(row, error)
                continue
            events.append(event)
            self._notes.waits(event.event_id, key, row)
        return events

    def _places(self, event: Event) -> dict[Key, Item]:
        """The rows in which an event may wait: the one where it was just seen, otherwise a few."""
        known = self._notes.place_of(event.event_id)
        if known is not None:
            return dict([known])
        places = [claim_key(event.event_id)]
        if event.pipeline_id is not None:
            places.append(config_outbox_key(event.pipeline_id))
        if event.pipeline_id and event.schedule_id and event.date:
            about = (event.pipeline_id, event.schedule_id, event.date)
            runs = (RunKey(*about), RunKey(*about, dry=True))
            places += [place for key in runs for place in (run_key(key), watch_key(key))]
        return self._control.get_many(places)

    def _clear(self, key: Key, row: Item | None, ids: set[str]) -> None:
        for _ in range(_TRIES):
            if row is None or not isinstance(row.get("outbox"), list):
                return
            rest = [each for each in row["outbox"] if _id_of(each, row) not in ids]
            if len(rest) == len(row["outbox"]):
                return
            update, values = _without(key, row, rest)
            condition, seen = unchanged(row, ["version"])
            condition = f"#outbox = :seen AND {condition}"
            answer = self._control.update(
                key, update, condition, seen=row["outbox"], **seen, **values
            )
            if answer.won:
                if not rest:
                    self._notes.keep(key, _told(row), Use.RUN, Use.OUTBOX)
                return
            row = answer.found


def _told(row: Item) -> Item:
    """The row with nothing left to publish."""
    return {name: value for name, value in row.items() if name not in ("outbox", "outboxAt")}


def _without(key: Key, row: Item, rest: list[str]) -> tuple[str, Item]:
    """The update that leaves only `rest` in the outbox; with nothing left, the run's next due time is set."""
    if rest:
        return "SET #outbox = :rest", {"rest": rest}
    look = _look_ahead(row) if is_run(key) else {}
    if not look:
        return "REMOVE #outbox, #outboxAt, #watchShard, #watchAt", {}
    return "SET #watchShard = :watchShard, #watchAt = :watchAt REMOVE #outbox, #outboxAt", look


def _look_ahead(row: Item) -> Item:
    """An unreadable run has nothing due."""
    try:
        return run_watch(run_from(row), has_outbox=False)
    except DAMAGED:
        return {}


def _entry(text: str, row: Item) -> Event:
    """A waiting event. If its text is unreadable, what the row of its claim says."""
    try:
        return _event(text)
    except DAMAGED:
        at = instant(row.get("at"))
        if not isinstance(row.get("eventId"), str) or at is None:
            raise
        return event_from_id(row["eventId"], at)


def _id_of(text: str, row: Item) -> str | None:
    try:
        return _entry(text, row).event_id
    except DAMAGED:
        return None


def _key_of(owner: str) -> Key:
    """The row of an owner: a run, a config, the watch of a date, or a claimed event."""
    pipeline_id, *rest = owner.split("/")
    match rest:
        case ["config"]:
            return config_outbox_key(pipeline_id)
        case [schedule_id, date]:
            return run_key(RunKey(pipeline_id, schedule_id, date))
        case [schedule_id, date, "dry"]:
            return run_key(RunKey(pipeline_id, schedule_id, date, dry=True))
        case [schedule_id, date, "sla"]:
            return watch_key(RunKey(pipeline_id, schedule_id, date))
        case _:
            return claim_key(owner)
