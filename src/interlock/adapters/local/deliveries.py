"""Deliveries: the alerts on their way. Their rows are the local queue as well: each has a due time."""

import sqlite3
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from interlock.adapters.local.database import Database
from interlock.adapters.local.rows import decoder, instant, listed, micros
from interlock.domain import canonical
from interlock.domain.delivery import Delivery, DeliveryState, Target
from interlock.domain.event import Event

_event = decoder(Event).decode

_DELIVERY = (
    "SELECT sink, channel, body, state, due_at, tries, error, receipt, quiet, released, note,"
    " version FROM alerts"
)
_DUE = "state IN ('queued', 'sending', 'given_up')"
_ORDER = "ORDER BY json_extract(body, '$.timestamp'), id"


class SqliteDeliveries:
    """Every write is conditional on the version before it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, event: Event, target: Target) -> Delivery | None:
        found = self._select(
            "WHERE sink = ? AND channel = ? AND event_id = ?",
            target.sink,
            target.channel,
            event.event_id,
        )
        return found[0] if found else None

    def of_events(self, events: Collection[Event]) -> dict[str, list[Delivery]]:
        chosen = listed(event.event_id for event in events)
        found = self._select(
            "WHERE event_id IN (SELECT value FROM json_each(?)) ORDER BY sink, channel", chosen
        )
        by_event: dict[str, list[Delivery]] = {}
        for delivery in found:
            by_event.setdefault(delivery.event.event_id, []).append(delivery)
        return by_event

    def save(self, delivery: Delivery) -> bool:
        return self._database.write(lambda connection: _save(connection, delivery))

    def held(self, target: Target, until: datetime) -> list[Delivery]:
        return self._select(
            f"WHERE state = 'held' AND sink = ? AND channel = ? AND due_at <= ? {_ORDER}",
            target.sink,
            target.channel,
            micros(until),
        )

    def due(self, now: datetime, limit: int, but: Sequence[str] = ()) -> list[Delivery]:
        """What somebody must look at by now, the longest due first; but not that of these sinks."""
        return self._select(
            f"WHERE {_DUE} AND due_at <= ? AND sink NOT IN (SELECT value FROM json_each(?))"
            " ORDER BY due_at LIMIT ?",
            micros(now),
            listed(but),
            limit,
        )

    def ended_mutes(self, now: datetime) -> list[Target]:
        """Where held alerts may go out."""
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT DISTINCT sink, channel FROM alerts INDEXED BY alerts_held"
                " WHERE state = 'held' AND due_at <= ? ORDER BY sink, channel",
                (micros(now),),
            ).fetchall()
        )
        return [Target(*row) for row in rows]

    def _select(self, where: str, *values: object) -> list[Delivery]:
        rows = self._database.read(
            lambda connection: connection.execute(f"{_DELIVERY} {where}", values).fetchall()
        )
        return [_delivery(row) for row in rows]


def _save(connection: sqlite3.Connection, delivery: Delivery) -> bool:
    write = _insert if delivery.version == 1 else _update
    return write(connection, delivery).rowcount == 1


def _insert(connection: sqlite3.Connection, delivery: Delivery) -> sqlite3.Cursor:
    return connection.execute(
        "INSERT INTO alerts (state, due_at, tries, error, receipt, quiet, released, note, version,"
        " settled_at, sink, channel, event_id, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (*_columns(delivery), *_place(delivery), canonical.encode(delivery.event)),
    )


def _update(connection: sqlite3.Connection, delivery: Delivery) -> sqlite3.Cursor:
    return connection.execute(
        "UPDATE alerts SET state = ?, due_at = ?, tries = ?, error = ?, receipt = ?, quiet = ?,"
        " released = ?, note = ?, version = ?, settled_at = ?"
        " WHERE sink = ? AND channel = ? AND event_id = ? AND version = ?",
        (*_columns(delivery), *_place(delivery), delivery.version - 1),
    )


def _columns(delivery: Delivery) -> tuple[object, ...]:
    due_at = micros(delivery.due_at)
    return (
        delivery.state,
        due_at,
        delivery.tries,
        delivery.error,
        delivery.receipt,
        int(delivery.quiet),
        int(delivery.released),
        delivery.note,
        delivery.version,
        due_at if delivery.is_settled else None,
    )


def _place(delivery: Delivery) -> tuple[str, str, str]:
    return delivery.target.sink, delivery.target.channel, delivery.event.event_id


def _delivery(row: Sequence[Any]) -> Delivery:
    sink, channel, body, state, due_at, tries, error, receipt, quiet, released, note, version = row
    return Delivery(
        event=_event(body),
        target=Target(sink, channel),
        due_at=instant(due_at),
        state=DeliveryState(state),
        tries=tries,
        error=error,
        receipt=receipt,
        quiet=bool(quiet),
        released=bool(released),
        note=note,
        version=version,
    )
