"""Outbox: events that were stored with a state and wait to be told."""

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime

from interlock.adapters.local.database import Database
from interlock.adapters.local.rows import decoder, listed, micros
from interlock.domain import canonical
from interlock.domain.event import Event

_event = decoder(Event).decode


class SqliteOutbox:
    """Rows leave when their events are published, or here."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def pending(self, owner: str) -> list[Event]:
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT body FROM outbox WHERE owner = ? ORDER BY seq", (owner,)
            ).fetchall()
        )
        return [_event(body) for (body,) in rows]

    def clear(self, events: Sequence[Event]) -> None:
        if events:
            self._database.write(lambda connection: take_out(connection, events))

    def leftovers(self, before: datetime) -> list[Event]:
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT body FROM outbox WHERE at < ? ORDER BY at, seq", (micros(before),)
            ).fetchall()
        )
        return [_event(body) for (body,) in rows]


def put_in(
    connection: sqlite3.Connection,
    owner: str,
    events: Iterable[Event],
    at: datetime,
    *,
    of_run: bool = False,
) -> None:
    """To be told, once per id; part of the unit that stores the state they tell of."""
    connection.executemany(
        "INSERT INTO outbox (owner, of_run, event_id, body, at) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT DO NOTHING",
        [
            (owner, int(of_run), event.event_id, canonical.encode(event), micros(at))
            for event in events
        ],
    )


def take_out(connection: sqlite3.Connection, events: Iterable[Event]) -> None:
    connection.execute(
        "DELETE FROM outbox WHERE event_id IN (SELECT value FROM json_each(?))",
        (listed(event.event_id for event in events),),
    )
