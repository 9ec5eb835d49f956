"""Workflows: executions that wait in rows, with a due time each.

What is due is claimed by a lease, moved on by the engine, and stored with its next due time. A crash
leaves the row as it was last stored, and the lease runs out.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from interlock.adapters.local.database import Database
from interlock.adapters.local.rows import instant, maybe_instant, maybe_micros, micros
from interlock.domain import canonical
from interlock.domain.guards import EngineState
from interlock.ports import Clock, Wait

RUNNING = "RUNNING"

#: Stands for both waits: hints of either kind came while somebody was at work.
_ANY = "any"


class LogEntry(msgspec.Struct, frozen=True):
    """A line of an execution's history."""

    at: datetime
    state: str
    kind: str
    note: str = ""


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """An execution that one worker has to itself until its lease ends.

    Without a snapshot it has not begun. `wake_at` is earlier than the snapshot's if it was woken.
    """

    name: str
    given: dict[str, Any]
    definition: str | None
    snapshot: str | None
    wake_at: datetime
    version: int


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine made of an execution; the snapshot is its own affair."""

    definition: str
    snapshot: str
    status: str
    state: str
    wake_at: datetime
    waiting_for: Wait | None = None
    ended_at: datetime | None = None
    error: str | None = None
    cause: str | None = None
    log: Sequence[LogEntry] = ()


class SqliteWorkflows:
    """The port, and what the engine needs to drive it."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def start(self, name: str, given: Mapping[str, Any]) -> None:
        now = micros(self._clock())
        self._database.write(
            lambda connection: connection.execute(
                "INSERT INTO executions (name, pipeline, given, status, wake_at, started_at)"
                " VALUES (?, ?, ?, 'RUNNING', ?, ?) ON CONFLICT DO NOTHING",
                (name, str(given.get("pipelineId", "")), canonical.encode(given), now, now),
            )
        )

    def describe(self, name: str) -> EngineState:
        row = self._database.read(
            lambda connection: connection.execute(
                "SELECT status FROM executions WHERE name = ?", (name,)
            ).fetchone()
        )
        if row is None:
            return EngineState.ABSENT
        return EngineState.RUNNING if row[0] == RUNNING else EngineState.ENDED

    def wake(self, pipeline_id: str, waiting_for: Wait) -> None:
        """One that is being worked on may just have looked: its next such wait is cut short."""
        now = micros(self._clock())
        self._database.write(lambda connection: _wake(connection, pipeline_id, waiting_for, now))

    def due(self, now: datetime, limit: int) -> list[str]:
        """The names of executions that want to be moved on."""
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT name FROM executions WHERE status = 'RUNNING' AND wake_at <= ?"
                " ORDER BY wake_at, started_at LIMIT ?",
                (micros(now), limit),
            ).fetchall()
        )
        return [name for (name,) in rows]

    def next_wake(self) -> datetime | None:
        """When somebody must look again: something is due, or a lease runs out."""
        (due,) = self._database.read(
            lambda connection: connection.execute(
                "SELECT min(wake_at) FROM executions WHERE status = 'RUNNING'"
            ).fetchone()
        )
        return maybe_instant(due)

    def claim(self, name: str, now: datetime, lease: timedelta) -> Claimed | None:
        """None if it is not due, or somebody got there first."""
        return self._database.write(
            lambda connection: _claim(connection, name, micros(now), micros(now + lease))
        )

    def renew(self, claimed: Claimed, now: datetime, lease: timedelta) -> bool:
        """Keep it a while longer. False if it was lost meanwhile."""
        until = micros(now + lease)
        return self._database.write(
            lambda connection: (
                connection.execute(
                    "UPDATE executions SET wake_at = ?, lease_until = ?"
                    " WHERE name = ? AND version = ? AND lease_until IS NOT NULL",
                    (until, until, claimed.name, claimed.version),
                ).rowcount
                == 1
            )
        )

    def store(self, claimed: Claimed, progress: Progress) -> bool:
        """Store its next state and let go of it. False if it was lost meanwhile."""
        now = self._clock()
        return self._database.write(lambda connection: _store(connection, claimed, progress, now))

    def release(self, claimed: Claimed, wake_at: datetime) -> bool:
        """Let go of it as it is. False if it was lost meanwhile."""
        now = self._clock()
        return self._database.write(lambda connection: _release(connection, claimed, wake_at, now))

    def void_leases(self) -> int:
        """Whoever held them is gone; how many there were."""
        now = micros(self._clock())
        return self._database.write(
            lambda connection: (
                connection.execute(
                    "UPDATE executions SET wake_at = ?, lease_until = NULL, version = version + 1"
                    " WHERE lease_until IS NOT NULL",
                    (now,),
                ).rowcount
            )
        )

    def define(self, digest: str, text: str) -> None:
        """Keep a definition for as long as an execution goes by it."""
        self._database.write(
            lambda connection: connection.execute(
                "INSERT INTO definitions (hash, text) VALUES (?, ?) ON CONFLICT DO NOTHING",
                (digest, text),
            )
        )

    def definition(self, digest: str) -> str | None:
        row = self._database.read(
            lambda connection: connection.execute(
                "SELECT text FROM definitions WHERE hash = ?", (digest,)
            ).fetchone()
        )
        return None if row is None else str(row[0])

    def history(self, name: str) -> list[LogEntry]:
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT at, state, kind, note FROM execution_log WHERE execution = ? ORDER BY n",
                (name,),
            ).fetchall()
        )
        return [LogEntry(instant(at), state, kind, note) for at, state, kind, note in rows]


def _wake(connection: sqlite3.Connection, pipeline_id: str, waiting_for: Wait, now: int) -> None:
    connection.execute(
        "UPDATE executions SET"
        " wake_at = CASE WHEN lease_until IS NULL THEN min(wake_at, ?) ELSE wake_at END,"
        " woken_for = CASE WHEN lease_until IS NULL THEN NULL"
        f" WHEN coalesce(woken_for, ?) = ? THEN ? ELSE '{_ANY}' END"
        " WHERE pipeline = ? AND status = 'RUNNING'"
        " AND (waiting_for = ? OR lease_until IS NOT NULL)",
        (now, waiting_for, waiting_for, waiting_for, pipeline_id, waiting_for),
    )


def _claim(connection: sqlite3.Connection, name: str, now: int, until: int) -> Claimed | None:
    row = connection.execute(
        "SELECT given, definition, snapshot, wake_at, version FROM executions"
        " WHERE name = ? AND status = 'RUNNING' AND wake_at <= ?",
        (name, now),
    ).fetchone()
    if row is None:
        return None
    given, definition, snapshot, wake_at, version = row
    connection.execute(
        "UPDATE executions SET wake_at = ?, lease_until = ?, woken_for = NULL,"
        " version = version + 1 WHERE name = ?",
        (until, until, name),
    )
    return Claimed(
        name=name,
        given=canonical.decode(given),
        definition=definition,
        snapshot=snapshot,
        wake_at=instant(wake_at),
        version=version + 1,
    )


def _release(
    connection: sqlite3.Connection, claimed: Claimed, wake_at: datetime, now: datetime
) -> bool:
    held = _held(connection, claimed)
    if held is None:
        return False
    connection.execute(
        "UPDATE executions SET wake_at = ?, lease_until = NULL, version = version + 1"
        " WHERE name = ?",
        (micros(_wake_at(wake_at, *held, now)), claimed.name),
    )
    return True


def _store(
    connection: sqlite3.Connection, claimed: Claimed, progress: Progress, now: datetime
) -> bool:
    held = _held(connection, claimed)
    if held is None:
        return False
    connection.execute(
        "UPDATE executions SET definition = ?, snapshot = ?, status = ?, state = ?,"
        " waiting_for = ?, wake_at = ?, ended_at = ?, error = ?, cause = ?,"
        " lease_until = NULL, version = version + 1 WHERE name = ?",
        (
            progress.definition,
            progress.snapshot,
            progress.status,
            progress.state,
            progress.waiting_for,
            micros(_wake_at(progress.wake_at, progress.waiting_for, held[1], now)),
            maybe_micros(progress.ended_at),
            progress.error,
            progress.cause,
            claimed.name,
        ),
    )
    _append_log(connection, claimed.name, progress.log)
    return True


def _held(connection: sqlite3.Connection, claimed: Claimed) -> tuple[str | None, str | None] | None:
    """What a claimed execution waits for, and what came meanwhile; None if the claim was lost."""
    row: tuple[str | None, str | None] | None = connection.execute(
        "SELECT waiting_for, woken_for FROM executions WHERE name = ? AND version = ?",
        (claimed.name, claimed.version),
    ).fetchone()
    return row


def _wake_at(
    asked: datetime, waiting_for: str | None, woken_for: str | None, now: datetime
) -> datetime:
    """When it asked to be woken, or now if what it waits for may have come meanwhile."""
    woken = waiting_for is not None and woken_for in (waiting_for, _ANY)
    return min(asked, now) if woken else asked


def _append_log(connection: sqlite3.Connection, name: str, log: Sequence[LogEntry]) -> None:
    (count,) = connection.execute(
        "SELECT coalesce(max(n), 0) FROM execution_log WHERE execution = ?", (name,)
    ).fetchone()
    connection.executemany(
        "INSERT INTO execution_log (execution, n, at, state, kind, note) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (name, n, micros(entry.at), entry.state, entry.kind, entry.note)
            for n, entry in enumerate(log, count + 1)
        ],
    )
