"""Handlings: what people did about the alerts of each date."""

import sqlite3
from collections.abc import Collection

from interlock.adapters.sqlite import outbox
from interlock.adapters.sqlite.claims import put_claim
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import Reader, Row, decoder, listed, micros
from interlock.adapters.unreadable_rows import DAMAGED
from interlock.domain import canonical
from interlock.domain.alerting.handling import Handling
from interlock.domain.alerting.threads import AlertKey
from interlock.domain.event import Event


class SqliteHandlings:
    """Every write is conditional on the version before it; a first one also replaces an unreadable row."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, key: AlertKey) -> Handling | None:
        return self.of_keys([key]).get(key)

    def of_keys(self, keys: Collection[AlertKey]) -> dict[AlertKey, Handling]:
        wanted = listed(_place(key) for key in keys)
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {HANDLINGS.columns} FROM json_each(?) CROSS JOIN handlings"
                " ON pipeline = value ->> 0 AND schedule = value ->> 1 AND date = value ->> 2",
                (wanted,),
            ).fetchall()
        )
        return {handling.key: handling for handling in HANDLINGS.all(self._database, rows)}

    def save(self, handling: Handling, event: Event | None = None) -> bool:
        def unit(connection: sqlite3.Connection) -> bool:
            write = _insert if handling.version == 1 else _update
            won = write(connection, handling)
            if won and event is not None and put_claim(connection, event, handling.changed_at):
                outbox.put_in(connection, event.event_id, [event], handling.changed_at)
            return won

        return self._database.write(unit)


def _insert(connection: sqlite3.Connection, handling: Handling) -> bool:
    row = connection.execute(
        f"SELECT {HANDLINGS.columns} FROM handlings"
        " WHERE pipeline = ? AND schedule = ? AND date = ?",
        _place(handling.key),
    ).fetchone()
    if row is not None and _is_readable(row):
        return False
    connection.execute(
        "INSERT INTO handlings (pipeline, schedule, date, body, changed_at, version)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body,"
        " changed_at = excluded.changed_at, version = excluded.version",
        (*_place(handling.key), *_columns(handling)),
    )
    return True


def _update(connection: sqlite3.Connection, handling: Handling) -> bool:
    done = connection.execute(
        "UPDATE handlings SET body = ?, changed_at = ?, version = ?"
        " WHERE pipeline = ? AND schedule = ? AND date = ? AND version = ?",
        (*_columns(handling), *_place(handling.key), handling.version - 1),
    )
    return done.rowcount == 1


def _columns(handling: Handling) -> tuple[str, int, int]:
    return canonical.encode(handling), micros(handling.changed_at), handling.version


def _place(key: AlertKey) -> tuple[str, str, str]:
    return key.pipeline, key.schedule, key.date


def _is_readable(row: Row) -> bool:
    try:
        _read(row)
    except DAMAGED:
        return False
    return True


def _read(row: Row) -> Handling:
    """Raises ValueError when the text belongs to another row: saving it would never update this one."""
    found = _handling(row[3])
    if _place(found.key) != tuple(row[:3]) or found.version != row[4]:
        raise ValueError(f"its text belongs to {found.key}, version {found.version}")
    return found


_handling = decoder(Handling).decode

HANDLINGS = Reader("handlings", "pipeline, schedule, date, body, version", 3, _read)
