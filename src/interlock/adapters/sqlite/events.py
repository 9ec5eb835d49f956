"""Event log: what happened, each fact once, in the order of publication."""

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime

from interlock.adapters.sqlite import outbox
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import Reader, Row, decoder, instant, micros, run_columns
from interlock.domain import canonical
from interlock.domain.event import Event, EventType, Subject, bare_event
from interlock.domain.history import LoggedEvent
from interlock.domain.run import RunKey

_decoded = decoder(Event).decode
_TYPES = frozenset(EventType)
_DRY = "DRY_RUN_"


class SqliteEvents:
    """Each listener follows the log with its own cursor."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def publish(self, events: Sequence[Event]) -> None:
        if events:
            self._database.write(lambda connection: _publish(connection, events))

    def of_run(self, key: RunKey) -> list[Event]:
        """A dry run has only events of the dry kinds."""
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {EVENTS.columns} FROM events WHERE pipeline = ? AND schedule = ? AND date = ?"
                f" AND (substr(type, 1, {len(_DRY)}) = '{_DRY}') = ? ORDER BY at, seq",
                run_columns(key),
            ).fetchall()
        )
        return [told.event for told in told_of(self._database, rows)]

    def newest(
        self,
        *,
        pipeline_id: str | None = None,
        kind: str | None = None,
        since: datetime | None = None,
        limit: int = 100,
    ) -> list[Event]:
        wanted = {
            "pipeline = ?": pipeline_id,
            "type = ?": kind,
            "at >= ?": None if since is None else micros(since),
        }
        given = {clause: value for clause, value in wanted.items() if value is not None}
        where = f"WHERE {' AND '.join(given)}" if given else ""
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {EVENTS.columns} FROM events {where} ORDER BY at DESC, seq DESC LIMIT ?",
                (*given.values(), limit),
            ).fetchall()
        )
        return [told.event for told in told_of(self._database, rows)]

    def after(self, seq: int, limit: int) -> list[LoggedEvent]:
        """What was published after that position, in order. Rows of unknown events are skipped."""
        rows = self._page(seq, limit)
        while rows:
            told = told_of(self._database, rows)
            if told:
                return told
            rows = self._page(rows[-1][0], limit)
        return []

    def _page(self, seq: int, limit: int) -> list[Row]:
        return self._database.read(
            lambda connection: connection.execute(
                f"SELECT {EVENTS.columns} FROM events WHERE seq > ? ORDER BY seq LIMIT ?",
                (seq, limit),
            ).fetchall()
        )

    def changes(self) -> int:
        """Every write of the database counts."""
        return self._database.commits

    def oldest(self) -> int:
        return 0

    def last(self) -> int:
        """The position of the last event; 0 in an empty log."""
        (seq,) = self._database.read(
            lambda connection: connection.execute(
                "SELECT coalesce(max(seq), 0) FROM events"
            ).fetchone()
        )
        return int(seq)


def told_of(database: Database, rows: Iterable[Row]) -> list[LoggedEvent]:
    """The events of these rows; those of a type that this version does not know are left out."""
    return EVENTS.all(database, (row for row in rows if is_known(row)))


def is_known(row: Row) -> bool:
    """Whether a row is of an event that this version knows."""
    return row[5] in _TYPES


def _told(row: Row) -> LoggedEvent:
    return LoggedEvent(row[0], _decoded(row[-1]))


def _bare(row: Row) -> LoggedEvent:
    seq, event_id, pipeline, schedule, date, kind, at, _ = row
    about = Subject(pipeline, schedule, date)
    return LoggedEvent(seq, bare_event(EventType(kind), about, instant(at), event_id))


EVENTS = Reader(
    "events", "seq, id, pipeline, schedule, date, type, at, body", 1, _told, otherwise=_bare
)


def _publish(connection: sqlite3.Connection, events: Sequence[Event]) -> None:
    connection.executemany(
        "INSERT INTO events (id, pipeline, schedule, date, type, at, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [
            (
                event.event_id,
                event.pipeline_id,
                event.schedule_id,
                event.date,
                event.type,
                micros(event.timestamp),
                canonical.encode(event),
            )
            for event in events
        ],
    )
    outbox.take_out(connection, events)
