"""Change feed: what was written, in order, for the consumers that react to it.

A change is appended in the transaction of the write it reports. Each consumer has a cursor. A change
that can't be handled is parked and retried while the feed continues.
"""

import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from interlock.adapters.sqlite.cursors import FeedName, move_to, place
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import (
    Reader,
    Row,
    decoder,
    instant,
    maybe_instant,
    maybe_micros,
    micros,
)
from interlock.domain import canonical
from interlock.domain.change import Change, ChangeKind, Parked
from interlock.domain.job_record import JobRecord
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.sensor import Reading

#: How long after each failure a parked change is retried; after the last one it stays parked.
DELAYS = (timedelta(seconds=1), timedelta(seconds=5), timedelta(seconds=30))


class SqliteChanges:
    """The feed, as its consumers see it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def next(self, consumer: str, limit: int) -> list[Change]:
        """The changes after the consumer's cursor, in order. Unreadable changes are skipped."""
        rows = self._page(consumer, 0, limit)
        while rows:
            changes = CHANGES.all(self._database, rows)
            if changes:
                return changes
            rows = self._page(consumer, rows[-1][0], limit)
        return []

    def _page(self, consumer: str, seq: int, limit: int) -> list[Row]:
        return self._database.read(lambda connection: _page(connection, consumer, seq, limit))

    def done(self, consumer: str, change: Change) -> None:
        """Record that this change, and everything before it, has been handled."""
        seq = int(change.id)
        self._database.write(
            lambda connection: move_to(connection, FeedName.CHANGES, consumer, seq), lazy=True
        )

    def park(self, consumer: str, change: Change, error: str, now: datetime) -> datetime | None:
        """Set a change aside so that the feed continues. Returns the next try; None after too many."""
        return self._database.write(
            lambda connection: _park(connection, consumer, change, error, now)
        )

    def parked_due(self, consumer: str, now: datetime) -> list[Parked]:
        """An unreadable change stays parked and is not retried automatically."""
        rows = self._database.read(
            lambda connection: connection.execute(
                f"{_PARKED} WHERE consumer = ? AND next_try_at <= ? ORDER BY next_try_at, seq",
                (consumer, micros(now)),
            ).fetchall()
        )
        found = [(row, PARKED.read(self._database, row)) for row in rows]
        lost = [row for row, each in found if not isinstance(each, Parked)]
        if lost:
            self._database.write(lambda connection: _leave(connection, lost))
        return [each for _, each in found if isinstance(each, Parked)]

    def next_try(self, consumer: str) -> datetime | None:
        """When the next parked change is due for another try."""
        (due,) = self._database.read(
            lambda connection: connection.execute(
                "SELECT min(next_try_at) FROM dead_changes"
                " WHERE consumer = ? AND next_try_at IS NOT NULL",
                (consumer,),
            ).fetchone()
        )
        return maybe_instant(due)

    def parked(self) -> list[Parked]:
        """Every parked change, of every consumer."""
        rows = self._database.read(
            lambda connection: connection.execute(f"{_PARKED} ORDER BY seq").fetchall()
        )
        return PARKED.all(self._database, rows)

    def settle(self, consumer: str, change: Change) -> None:
        """Record that a parked change was handled after all."""
        self._database.write(
            lambda connection: connection.execute(
                "DELETE FROM dead_changes WHERE consumer = ? AND seq = ?",
                (consumer, int(change.id)),
            )
        )

    def retry_parked(self, now: datetime) -> int:
        """Retry every parked change at once, as if for the first time. Returns how many there are."""
        return self._database.write(
            lambda connection: (
                connection.execute(
                    "UPDATE dead_changes SET next_try_at = ?, tries = 0", (micros(now),)
                ).rowcount
            )
        )


class NewChange(msgspec.Struct, frozen=True):
    """A change before it has its number; `body` is the written record as canonical JSON."""

    kind: ChangeKind
    pipeline_id: str
    key: str
    at: datetime
    body: str | None = None
    removed: bool = False


def append(connection: sqlite3.Connection, change: NewChange) -> None:
    """Runs in the unit that writes the record."""
    connection.execute(
        "INSERT INTO changes (kind, pipeline, key, body, removed, at) VALUES (?, ?, ?, ?, ?, ?)",
        (
            change.kind,
            change.pipeline_id,
            change.key,
            change.body,
            int(change.removed),
            micros(change.at),
        ),
    )


def _park(
    connection: sqlite3.Connection, consumer: str, change: Change, error: str, now: datetime
) -> datetime | None:
    seq = int(change.id)
    row = connection.execute(
        "SELECT tries FROM dead_changes WHERE consumer = ? AND seq = ?", (consumer, seq)
    ).fetchone()
    tries = 1 if row is None else row[0] + 1
    due = now + DELAYS[tries - 1] if tries <= len(DELAYS) else None
    connection.execute(
        "INSERT INTO dead_changes (consumer, seq, change, error, tries, at, next_try_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
        " error = excluded.error, tries = excluded.tries, next_try_at = excluded.next_try_at",
        (consumer, seq, canonical.encode(change), error, tries, micros(now), maybe_micros(due)),
    )
    move_to(connection, FeedName.CHANGES, consumer, seq)
    return due


def _page(connection: sqlite3.Connection, consumer: str, seq: int, limit: int) -> list[Row]:
    after = max(seq, place(connection, FeedName.CHANGES, consumer))
    return connection.execute(
        f"SELECT {CHANGES.columns} FROM changes WHERE seq > ? ORDER BY seq LIMIT ?",
        (after, limit),
    ).fetchall()


def _leave(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    connection.executemany(
        "UPDATE dead_changes SET next_try_at = NULL WHERE consumer = ? AND seq = ?",
        [row[:2] for row in rows],
    )


def _parked(row: Row) -> Parked:
    """Raises ValueError if the text belongs to another change: handling it would never settle this row."""
    consumer, seq, text, error, tries, at, due = row
    change = _stored(text)
    if change.id != str(seq):
        raise ValueError(f"its text belongs to change {change.id}")
    return Parked(consumer, change, error, tries, instant(at), maybe_instant(due))


def _change(row: Row) -> Change:
    seq, kind, pipeline, key, body, removed, at = row
    record = {} if body is None else _RECORDS[ChangeKind(kind)](body)
    return Change(
        id=str(seq),
        kind=ChangeKind(kind),
        pipeline_id=pipeline,
        key=key,
        at=instant(at),
        removed=bool(removed),
        **record,
    )


_stored = decoder(Change).decode
_reading = decoder(Reading).decode
_request = decoder(RerunRequest).decode
_record = decoder(JobRecord).decode

#: What each kind of change carries.
_RECORDS: dict[str, Any] = {
    ChangeKind.SENSOR: lambda body: {"reading": _reading(body)},
    ChangeKind.RERUN: lambda body: {"request": _request(body)},
    ChangeKind.JOB: lambda body: {"record": _record(body)},
}

CHANGES = Reader("changes", "seq, kind, pipeline, key, body, removed, at", 1, _change)
PARKED = Reader(
    "dead_changes", "consumer, seq, change, error, tries, at, next_try_at", 2, _parked, text=2
)
_PARKED = f"SELECT {PARKED.columns} FROM dead_changes"
