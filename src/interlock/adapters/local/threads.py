"""Threads: where the alerts of one date in one channel hang together."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from interlock.adapters.local.database import Database
from interlock.adapters.local.rows import instant, maybe_instant, maybe_micros, micros


class ThreadKey(msgspec.Struct, frozen=True):
    """One conversation."""

    pipeline: str
    schedule: str
    date: str
    channel: str


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation; without `thread_ts` somebody is about to post its root."""

    key: ThreadKey
    created_at: datetime
    claimed_by: str
    claim_until: datetime
    version: int = 1
    thread_ts: str | None = None
    state: str = ""
    state_at: datetime | None = None
    first: str = ""
    count: int = 0
    root_hash: str = ""


class SqliteThreads:
    """Of two first alerts one claims the thread; the other waits for its root."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, key: ThreadKey, by: str, now: datetime, until: datetime) -> bool:
        """The right to post the root. False if it is posted, or somebody else is about to."""
        place = _columns(key)
        return self._database.write(
            lambda connection: _claim(connection, place, by, micros(now), micros(until))
        )

    def find(self, key: ThreadKey) -> Thread | None:
        row = self._database.read(
            lambda connection: connection.execute(
                f"{_THREAD} WHERE pipeline = ? AND schedule = ? AND date = ? AND channel = ?",
                _columns(key),
            ).fetchone()
        )
        return None if row is None else _thread(row)

    def of_date(self, pipeline: str, schedule: str, date: str) -> list[Thread]:
        """In every channel that has one."""
        rows = self._database.read(
            lambda connection: connection.execute(
                f"{_THREAD} WHERE pipeline = ? AND schedule = ? AND date = ? ORDER BY channel",
                (pipeline, schedule, date),
            ).fetchall()
        )
        return [_thread(row) for row in rows]

    def save(self, thread: Thread) -> bool:
        """Store a thread's next version. False if somebody stored that version first."""
        return self._database.write(lambda connection: _save(connection, thread))

    def forget(self, key: ThreadKey) -> None:
        """The channel no longer has it: the next alert claims it anew."""
        self._database.write(
            lambda connection: connection.execute(
                "DELETE FROM threads WHERE pipeline = ? AND schedule = ? AND date = ?"
                " AND channel = ?",
                _columns(key),
            )
        )


def _claim(
    connection: sqlite3.Connection, place: Sequence[str], by: str, now: int, until: int
) -> bool:
    done = connection.execute(
        "INSERT INTO threads (pipeline, schedule, date, channel,"
        " claimed_by, claim_until, created_at, version) VALUES (?, ?, ?, ?, ?, ?, ?, 1)"
        " ON CONFLICT DO UPDATE SET claimed_by = excluded.claimed_by,"
        " claim_until = excluded.claim_until, version = version + 1"
        " WHERE thread_ts IS NULL AND claim_until <= excluded.created_at",
        (*place, by, until, now),
    )
    return done.rowcount == 1


def _save(connection: sqlite3.Connection, thread: Thread) -> bool:
    done = connection.execute(
        "UPDATE threads SET thread_ts = ?, claimed_by = ?, claim_until = ?, state = ?,"
        " state_at = ?, first = ?, count = ?, root_hash = ?, version = ?"
        " WHERE pipeline = ? AND schedule = ? AND date = ? AND channel = ? AND version = ?",
        (
            thread.thread_ts,
            thread.claimed_by,
            micros(thread.claim_until),
            thread.state,
            maybe_micros(thread.state_at),
            thread.first,
            thread.count,
            thread.root_hash,
            thread.version,
            *_columns(thread.key),
            thread.version - 1,
        ),
    )
    return done.rowcount == 1


def _columns(key: ThreadKey) -> tuple[str, str, str, str]:
    return key.pipeline, key.schedule, key.date, key.channel


_THREAD = (
    "SELECT pipeline, schedule, date, channel, created_at, claimed_by, claim_until, version,"
    " thread_ts, state, state_at, first, count, root_hash FROM threads"
)


def _thread(row: Sequence[Any]) -> Thread:
    created_at, claimed_by, claim_until, version, ts, state, state_at, first, count, root = row[4:]
    return Thread(
        key=ThreadKey(*row[:4]),
        created_at=instant(created_at),
        claimed_by=claimed_by,
        claim_until=instant(claim_until),
        version=version,
        thread_ts=ts,
        state=state,
        state_at=maybe_instant(state_at),
        first=first,
        count=count,
        root_hash=root,
    )
