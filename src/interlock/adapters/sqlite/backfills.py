"""Backfills: ranges of dates that run a few at a time."""

import sqlite3
from collections.abc import Sequence

from interlock.adapters.backfill_text import decode_backfill, encode_backfill
from interlock.adapters.sqlite import outbox
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import Reader, Row, micros
from interlock.domain.backfill import Backfill
from interlock.domain.event import Event
from interlock.domain.unreadable import UnreadableRow, unreadable_error
from interlock.ports.engine import Clock


class SqliteBackfills:
    """One row each. Events wait in the outbox under their own ids."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def find(self, backfill_id: str) -> Backfill | None:
        row = self._database.read(
            lambda connection: connection.execute(
                f"{_SELECT} WHERE id = ?", (backfill_id,)
            ).fetchone()
        )
        if row is None:
            return None
        found = BACKFILLS.read(self._database, row)
        if isinstance(found, UnreadableRow):
            raise unreadable_error(f"the stored backfill {backfill_id}", found.problem)
        return found

    def save(self, backfill: Backfill, events: Sequence[Event] = ()) -> bool:
        now = self._clock()

        def unit(connection: sqlite3.Connection) -> bool:
            won = (
                _insert(connection, backfill)
                if backfill.version == 1
                else _update(connection, backfill)
            )
            if won:
                for event in events:
                    outbox.put_in(connection, event.event_id, [event], now)
            return won

        return self._database.write(unit)

    def unsettled(self) -> list[Backfill]:
        rows = self._database.read(
            lambda connection: connection.execute(
                f"{_SELECT} WHERE look IS NOT NULL ORDER BY id"
            ).fetchall()
        )
        return BACKFILLS.all(self._database, rows)

    def newest(
        self, limit: int, before: str | None = None, pipeline_id: str | None = None
    ) -> list[Backfill]:
        clauses = ["id < ?"] if before is not None else []
        clauses += ["pipeline = ?"] if pipeline_id is not None else []
        where = f" WHERE {' AND '.join(clauses)}" if clauses else ""
        given = [each for each in (before, pipeline_id) if each is not None]
        rows = self._database.read(
            lambda connection: connection.execute(
                f"{_SELECT}{where} ORDER BY id DESC LIMIT ?", (*given, limit)
            ).fetchall()
        )
        return BACKFILLS.all(self._database, rows)


def _insert(connection: sqlite3.Connection, backfill: Backfill) -> bool:
    done = connection.execute(
        "INSERT INTO backfills (id, pipeline, version, look, ended_at, body)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (backfill.id, backfill.pipeline_id, backfill.version, *_columns(backfill)),
    )
    return done.rowcount == 1


def _update(connection: sqlite3.Connection, backfill: Backfill) -> bool:
    done = connection.execute(
        "UPDATE backfills SET version = ?, look = ?, ended_at = ?, body = ?"
        " WHERE id = ? AND version = ?",
        (backfill.version, *_columns(backfill), backfill.id, backfill.version - 1),
    )
    return done.rowcount == 1


def _columns(backfill: Backfill) -> tuple[int | None, int | None, str]:
    look = 1 if backfill.needs_attention else None
    ended_at = micros(backfill.changed_at) if backfill.is_over else None
    return look, ended_at, encode_backfill(backfill)


def _read(row: Row) -> Backfill:
    found = decode_backfill(row[-1])
    if (found.id, found.pipeline_id, found.version) != tuple(row[:3]):
        raise ValueError(f"its text belongs to version {found.version} of {found.id}")
    return found


BACKFILLS = Reader("backfills", "id, pipeline, version, body", 2, _read)
_SELECT = f"SELECT {BACKFILLS.columns} FROM backfills"
