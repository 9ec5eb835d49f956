"""Workflows: executions that wait in rows, with a due time each.

The engine claims what is due, advances it, and stores it with its next due time. One process has the file,
so claims live in memory: a crash leaves each row as last stored, due and unclaimed.
"""

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import Reader, Row, instant, maybe_micros, micros
from interlock.domain import canonical
from interlock.domain.guards import EngineState
from interlock.domain.unreadable import RowKind, problem_of
from interlock.domain.waiting_for import WaitingFor
from interlock.domain.watching import NAME_TAKEN
from interlock.ports.engine import Clock

RUNNING = "RUNNING"
#: The error with which an execution ends whose row can't be read.
UNREADABLE = "Unreadable"


class LogEntry(msgspec.Struct, frozen=True):
    """A line of an execution's history."""

    at: datetime
    state: str
    kind: str
    note: str = ""


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """An execution that one worker holds exclusively until it releases it.

    Without a snapshot it has not begun. `wake_at` is earlier than the snapshot's if it was woken.
    """

    name: str
    pipeline_id: str
    given: str
    definition: str | None
    snapshot: str | None
    wake_at: datetime


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """The engine's result for an execution; only the engine reads the snapshot."""

    definition: str
    snapshot: str
    status: str
    state: str
    wake_at: datetime
    waiting_for: WaitingFor | None = None
    ended_at: datetime | None = None
    error: str | None = None
    cause: str | None = None
    log: Sequence[LogEntry] = ()


class ClaimedExecutions:
    """The executions that workers hold, and the hints received meanwhile."""

    def __init__(self) -> None:
        self._hints: dict[str, set[tuple[str, WaitingFor]]] = {}
        self._woken: dict[str, datetime] = {}
        self._lock = threading.Lock()
        #: Grows with every change: answers that depend on what is held are valid until then.
        self.changes = 0

    def take(self, name: str) -> bool:
        """False if a worker has it."""
        with self._lock:
            if name in self._hints:
                return False
            self._hints[name] = set()
            self.changes += 1
            return True

    def let_go(self, name: str) -> None:
        with self._lock:
            self._hints.pop(name, None)
            self._woken.pop(name, None)
            self.changes += 1

    def names(self) -> list[str]:
        with self._lock:
            return list(self._hints)

    def hint(self, pipeline_id: str, waiting_for: WaitingFor) -> None:
        with self._lock:
            for hints in self._hints.values():
                hints.add((pipeline_id, waiting_for))

    def was_hinted(self, name: str, pipeline_id: str, waiting_for: WaitingFor | None) -> bool:
        with self._lock:
            return (pipeline_id, waiting_for) in self._hints.get(name, ())

    def wake_all(self, now: datetime) -> None:
        """Ends their next wait at that instant, whatever it is for."""
        with self._lock:
            self._woken |= dict.fromkeys(self._hints, now)

    def woken_at(self, name: str) -> datetime | None:
        with self._lock:
            return self._woken.get(name)


class SqliteWorkflows:
    """The port, and what the engine needs to drive it."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self.held = ClaimedExecutions()

    def start(self, name: str, given: Mapping[str, Any]) -> None:
        """The name of an execution that ended long ago is free, whether or not retention has removed it."""
        now = self._clock()
        freed, at = micros(now - NAME_TAKEN), micros(now)
        pipeline, text = str(given.get("pipelineId", "")), canonical.encode(given)

        def unit(connection: sqlite3.Connection) -> None:
            connection.execute(
                "DELETE FROM executions WHERE name = ? AND ended_at <= ?", (name, freed)
            )
            connection.execute(
                "INSERT INTO executions (name, pipeline, given, status, wake_at, started_at)"
                " VALUES (?, ?, ?, 'RUNNING', ?, ?) ON CONFLICT DO NOTHING",
                (name, pipeline, text, at, at),
            )

        self._database.write(unit)

    def describe(self, name: str) -> EngineState:
        row = self._database.read(
            lambda connection: connection.execute(
                "SELECT status FROM executions WHERE name = ?", (name,)
            ).fetchone()
        )
        if row is None:
            return EngineState.ABSENT
        return EngineState.RUNNING if row[0] == RUNNING else EngineState.ENDED

    def running(self) -> set[str]:
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT name FROM executions WHERE status = 'RUNNING'"
            ).fetchall()
        )
        return {name for (name,) in rows}

    def given(self, name: str) -> dict[str, Any] | None:
        row = self._database.read(
            lambda connection: connection.execute(
                "SELECT given FROM executions WHERE name = ?", (name,)
            ).fetchone()
        )
        return None if row is None else canonical.decode(row[0])

    def wake(self, pipeline_id: str, waiting_for: WaitingFor) -> None:
        """An execution in progress may just have polled: its next such wait is cut short."""
        now = micros(self._clock())
        self.held.hint(pipeline_id, waiting_for)  # first: see `store`
        self._database.write(
            lambda connection: connection.execute(
                "UPDATE executions SET wake_at = min(wake_at, ?)"
                " WHERE pipeline = ? AND status = 'RUNNING' AND waiting_for = ?",
                (now, pipeline_id, waiting_for),
            ),
            lazy=True,
        )

    def wake_all(self, now: datetime) -> None:
        """Wake everything that waits, whatever it waits for. An execution in progress may have computed
        its next wait from another clock: that is cut short, too.
        """
        self.held.wake_all(now)  # first: see `store`
        self.wake_beyond(now, now)

    def wake_beyond(self, latest: datetime, now: datetime) -> None:
        """Wake what would sleep longer than that."""
        sleeping, bound = "status = 'RUNNING' AND wake_at > ?", micros(latest)
        if self._database.read(
            lambda connection: connection.execute(
                f"SELECT 1 FROM executions WHERE {sleeping} LIMIT 1", (bound,)
            ).fetchone()
        ):
            self._database.write(
                lambda connection: connection.execute(
                    f"UPDATE executions SET wake_at = ? WHERE {sleeping}", (micros(now), bound)
                )
            )

    def due(self, now: datetime, limit: int) -> list[str]:
        """The names of executions that are due and that no worker holds."""
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT name FROM executions WHERE status = 'RUNNING' AND wake_at <= ?"
                " AND name NOT IN (SELECT value FROM json_each(?))"
                " ORDER BY wake_at, started_at LIMIT ?",
                (micros(now), canonical.encode(self.held.names()), limit),
            ).fetchall()
        )
        return [name for (name,) in rows]

    def claim(self, name: str, now: datetime) -> Claimed | None:
        """None if it is not due, or a worker has it. A claim must be released."""
        if not self.held.take(name):
            return None
        claimed = None
        try:
            row = self._database.read(lambda connection: _due_row(connection, name, micros(now)))
            claimed = None if row is None else _claimed(row)
        finally:
            if claimed is None:
                self.held.let_go(name)
        return claimed

    def store(self, claimed: Claimed, progress: Progress) -> None:
        """Store the next state of a held execution.

        A hint is recorded in memory before it is written to the rows, and checked here inside the unit:
        so it is either seen now, or its own write comes after this one and finds the wait. The write may
        share a commit with the next one: what it records can be repeated.
        """
        now = self._clock()

        def unit(connection: sqlite3.Connection) -> None:
            hinted = self.held.was_hinted(claimed.name, claimed.pipeline_id, progress.waiting_for)
            wake_at = now if hinted else progress.wake_at
            woken = self.held.woken_at(claimed.name) or wake_at
            _store(connection, claimed.name, progress, min(woken, wake_at))

        self._database.write(unit, lazy=True)

    def break_off(self, claimed: Claimed, error: Exception) -> None:
        """End an execution whose row can't be read: nothing could ever advance it. The watchdog finds out
        what became of its attempt.
        """
        row = (claimed.name, claimed.pipeline_id, claimed.given, claimed.snapshot)
        self._database.unreadable.note(EXECUTIONS.unreadable(row, error))
        now = self._clock()
        self._database.write(
            lambda connection: _break_off(connection, claimed.name, problem_of(error), now)
        )

    def let_go(self, claimed: Claimed) -> None:
        """As it was last stored."""
        self.held.let_go(claimed.name)

    def define(self, digest: str, text: str) -> None:
        """Keep a definition for as long as an execution uses it."""
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


def _due_row(connection: sqlite3.Connection, name: str, now: int) -> Any:
    return connection.execute(
        "SELECT name, pipeline, given, definition, snapshot, wake_at FROM executions"
        " WHERE name = ? AND status = 'RUNNING' AND wake_at <= ?",
        (name, now),
    ).fetchone()


def _claimed(row: Any) -> Claimed:
    name, pipeline_id, given, definition, snapshot, wake_at = row
    return Claimed(
        name=name,
        pipeline_id=pipeline_id,
        given=given,
        definition=definition,
        snapshot=snapshot,
        wake_at=instant(wake_at),
    )


def _break_off(connection: sqlite3.Connection, name: str, problem: str, now: datetime) -> None:
    connection.execute(
        "UPDATE executions SET status = 'FAILED', waiting_for = NULL, ended_at = ?, error = ?,"
        " cause = ? WHERE name = ?",
        (micros(now), UNREADABLE, problem, name),
    )
    _append_log(connection, name, [LogEntry(now, "", UNREADABLE, problem)])


def _check(row: Row) -> None:
    """Raises ValueError for texts that are not JSON; the engine interprets them."""
    for text in row[2:]:
        if text is not None:
            canonical.decode(text)


EXECUTIONS = Reader(
    "executions",
    "name, pipeline, given, snapshot",
    2,
    _check,
    kind=RowKind.EXECUTION,
    where="status = 'RUNNING'",
)


def _store(
    connection: sqlite3.Connection, name: str, progress: Progress, wake_at: datetime
) -> None:
    connection.execute(
        "UPDATE executions SET definition = ?, snapshot = ?, status = ?, state = ?,"
        " waiting_for = ?, wake_at = ?, ended_at = ?, error = ?, cause = ? WHERE name = ?",
        (
            progress.definition,
            progress.snapshot,
            progress.status,
            progress.state,
            progress.waiting_for,
            micros(min(wake_at, progress.wake_at)),
            maybe_micros(progress.ended_at),
            progress.error,
            progress.cause,
            name,
        ),
    )
    _append_log(connection, name, progress.log)


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
