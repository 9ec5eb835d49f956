"""Threads: the thread that holds the alerts of one date in one channel."""

import sqlite3
from collections.abc import Collection

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import (
    Reader,
    Row,
    instant,
    listed,
    maybe_instant,
    maybe_micros,
    micros,
)
from interlock.domain.alerting.threads import SYSTEM, Thread, ThreadKey
from interlock.domain.event import Phase, Severity


class SqliteThreads:
    """Every write is conditional on the version before it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, key: ThreadKey) -> Thread | None:
        row = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {THREADS.columns} FROM threads"
                " WHERE pipeline = ? AND schedule = ? AND date = ? AND channel = ?",
                _columns(key),
            ).fetchone()
        )
        return next(iter(THREADS.all(self._database, () if row is None else (row,))), None)

    def of_date(self, pipeline: str, schedule: str, date: str) -> list[Thread]:
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {THREADS.columns} FROM threads"
                " WHERE pipeline = ? AND schedule = ? AND date = ? ORDER BY channel",
                (pipeline, schedule, date),
            ).fetchall()
        )
        return THREADS.all(self._database, rows)

    def open(self, pipelines: Collection[str], limit: int) -> list[Thread]:
        wanted = listed((*pipelines, SYSTEM))
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {THREADS.columns} FROM threads INDEXED BY threads_open"
                " WHERE state <> 'done' AND pipeline IN (SELECT value FROM json_each(?))"
                " ORDER BY created_at DESC LIMIT ?",
                (wanted, limit),
            ).fetchall()
        )
        return THREADS.all(self._database, rows)

    def save(self, thread: Thread) -> bool:
        return self._database.write(lambda connection: _save(connection, thread))


def _save(connection: sqlite3.Connection, thread: Thread) -> bool:
    write = _insert if thread.version == 1 else _update
    return write(connection, thread).rowcount == 1


def _insert(connection: sqlite3.Connection, thread: Thread) -> sqlite3.Cursor:
    return connection.execute(
        "INSERT INTO threads (created_at, sink, thread_ts, claimed_by, claim_until, state, state_at,"
        " severity, first, latest, root_hash, handled, version, pipeline, schedule, date, channel)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (micros(thread.created_at), thread.sink, *_values(thread), *_columns(thread.key)),
    )


def _update(connection: sqlite3.Connection, thread: Thread) -> sqlite3.Cursor:
    return connection.execute(
        "UPDATE threads SET thread_ts = ?, claimed_by = ?, claim_until = ?, state = ?,"
        " state_at = ?, severity = ?, first = ?, latest = ?, root_hash = ?, handled = ?, version = ?"
        " WHERE pipeline = ? AND schedule = ? AND date = ? AND channel = ? AND version = ?",
        (*_values(thread), *_columns(thread.key), thread.version - 1),
    )


def _values(thread: Thread) -> tuple[object, ...]:
    return (
        thread.thread_ts,
        thread.claimed_by,
        micros(thread.claim_until),
        thread.state or "",
        maybe_micros(thread.state_at),
        thread.severity or "",
        thread.first,
        thread.latest,
        thread.root_hash,
        thread.handled,
        thread.version,
    )


def _columns(key: ThreadKey) -> tuple[str, str, str, str]:
    return key.pipeline, key.schedule, key.date, key.channel


def _thread(row: Row) -> Thread:
    """Raises ValueError for a state or a severity that this version does not know."""
    state, severity = row[10], row[12]
    return _of(row, Phase(state) if state else None, Severity(severity) if severity else None)


def _of(row: Row, state: Phase | None, severity: Severity | None) -> Thread:
    created_at, sink, claimed_by, claim_until, version, ts, _, state_at = row[4:12]
    _, first, latest, root_hash, handled = row[12:]
    return Thread(
        key=ThreadKey(*row[:4]),
        created_at=instant(created_at),
        sink=sink,
        claimed_by=claimed_by,
        claim_until=instant(claim_until),
        version=version,
        thread_ts=ts,
        state=state,
        state_at=maybe_instant(state_at),
        severity=severity,
        first=first,
        latest=latest,
        root_hash=root_hash,
        handled=handled,
    )


#: The place of its first message matters more than what that message shows.
THREADS = Reader(
    "threads",
    "pipeline, schedule, date, channel, created_at, sink, claimed_by, claim_until, version,"
    " thread_ts, state, state_at, severity, first, latest, root_hash, handled",
    4,
    _thread,
    otherwise=lambda row: _of(row, None, None),
)
