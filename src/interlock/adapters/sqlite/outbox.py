"""Outbox: events that were stored with a state and wait to be published."""

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import Reader, Row, decoder, instant, listed, micros
from interlock.domain import canonical
from interlock.domain.event import Event, event_from_id

_decoded = decoder(Event).decode


class SqliteOutbox:
    """Rows leave when their events are published, or here."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def pending(self, owner: str) -> list[Event]:
        rows = self._database.read(
            lambda connection: connection.execute(
                f"{_WAITING} WHERE owner = ? ORDER BY seq", (owner,)
            ).fetchall()
        )
        return OUTBOX.all(self._database, rows)

    def clear(self, events: Sequence[Event]) -> None:
        if events:
            self._database.write(lambda connection: take_out(connection, events))

    def leftovers(self, before: datetime) -> list[Event]:
        rows = self._database.read(
            lambda connection: connection.execute(
                f"{_WAITING} WHERE at < ? ORDER BY at, seq", (micros(before),)
            ).fetchall()
        )
        return OUTBOX.all(self._database, rows)


def put_in(
    connection: sqlite3.Connection,
    owner: str,
    events: Iterable[Event],
    at: datetime,
    *,
    of_run: bool = False,
) -> None:
    """Enqueue events, once per id; runs in the unit that stores the state they describe."""
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


def _read(row: Row) -> Event:
    """Raises ValueError when the text belongs to another event than the row: it could never be removed."""
    event = _decoded(row[-1])
    if event.event_id != row[1]:
        raise ValueError(f"its text belongs to the event {event.event_id}")
    return event


def _bare(row: Row) -> Event:
    """What the id says: the event is published even if its text is lost."""
    return event_from_id(row[1], instant(row[2]))


OUTBOX = Reader("outbox", "seq, event_id, at, body", 1, _read, otherwise=_bare)
_WAITING = f"SELECT {OUTBOX.columns} FROM outbox"
