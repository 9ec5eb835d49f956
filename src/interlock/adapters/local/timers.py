"""Timers: rows with a due time, and the log of how each arming ended."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

import msgspec

from interlock.adapters.local.database import Database
from interlock.adapters.local.rows import decoder, instant, maybe_instant, micros
from interlock.domain import canonical
from interlock.ports import Clock, Timer

_payload = decoder(dict).decode


class TimerState(StrEnum):
    """An armed timer ends in exactly one of the others."""

    ARMED = "armed"
    FIRED = "fired"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


class TimerNote(msgspec.Struct, frozen=True):
    """A line of the log: what became of a name that was armed for that instant."""

    seq: int
    name: str
    due_at: datetime
    state: TimerState
    at: datetime


class SqliteTimers:
    """A name has one row. What has fired for an instant is not armed for it again."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def arm(self, timers: Sequence[Timer]) -> None:
        now = micros(self._clock())

        def unit(connection: sqlite3.Connection) -> None:
            for timer in timers:
                _arm(connection, timer, now)

        if timers:
            self._database.write(unit)

    def cancel(self, names: Sequence[str]) -> None:
        now = micros(self._clock())

        def unit(connection: sqlite3.Connection) -> None:
            for name in names:
                _settle(connection, name, TimerState.CANCELLED, now)

        if names:
            self._database.write(unit)

    def bring_forward(self, kind: str, latest: datetime, to: datetime) -> None:
        """Have those of a kind that are due later than that fire at another instant."""

        def unit(connection: sqlite3.Connection) -> None:
            rows = connection.execute(
                "SELECT name, payload FROM timers WHERE state = 'armed' AND due_at > ? AND kind = ?",
                (micros(latest), kind),
            ).fetchall()
            for name, text in rows:
                _arm(connection, Timer(name, kind, to, _payload(text)), micros(to))

        self._database.write(unit)

    def due(self, now: datetime, limit: int) -> list[Timer]:
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT name, kind, due_at, payload FROM timers"
                " WHERE state = 'armed' AND due_at <= ? ORDER BY due_at, name LIMIT ?",
                (micros(now), limit),
            ).fetchall()
        )
        return [Timer(name, kind, instant(due), _payload(text)) for name, kind, due, text in rows]

    def next_due(self) -> datetime | None:
        """When somebody must look again."""
        (due,) = self._database.read(
            lambda connection: connection.execute(
                "SELECT min(due_at) FROM timers WHERE state = 'armed'"
            ).fetchone()
        )
        return maybe_instant(due)

    def fire(self, name: str, due_at: datetime) -> bool:
        """Its effect is done. False if it was moved or settled meanwhile."""
        now = micros(self._clock())
        return self._database.write(
            lambda connection: _settle(connection, name, TimerState.FIRED, now, micros(due_at))
        )

    def log(self, after: int = 0) -> list[TimerNote]:
        """What became of every arming since that line, in order; for those who check it."""
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT seq, name, due_at, state, at FROM timer_log WHERE seq > ? ORDER BY seq",
                (after,),
            ).fetchall()
        )
        return [
            TimerNote(seq, name, instant(due), TimerState(state), instant(at))
            for seq, name, due, state, at in rows
        ]


def _arm(connection: sqlite3.Connection, timer: Timer, now: int) -> None:
    due_at = micros(timer.due_at)
    row = connection.execute(
        "SELECT due_at, state FROM timers WHERE name = ?", (timer.name,)
    ).fetchone()
    if row is not None:
        before, state = row
        if before == due_at and state in (TimerState.ARMED, TimerState.FIRED):
            return
        if state == TimerState.ARMED:
            _note(connection, timer.name, before, TimerState.SUPERSEDED, now)
    connection.execute(
        "INSERT OR REPLACE INTO timers (name, kind, payload, due_at, state)"
        " VALUES (?, ?, ?, ?, 'armed')",
        (timer.name, timer.kind, canonical.encode(timer.payload), due_at),
    )
    _note(connection, timer.name, due_at, TimerState.ARMED, now)


def _settle(
    connection: sqlite3.Connection,
    name: str,
    state: TimerState,
    now: int,
    due_at: int | None = None,
) -> bool:
    """Only an armed one, and only if it is still armed for that instant."""
    row = connection.execute(
        "UPDATE timers SET state = ?, settled_at = ?"
        " WHERE name = ? AND state = 'armed' AND due_at = coalesce(?, due_at) RETURNING due_at",
        (state, now, name, due_at),
    ).fetchone()
    if row is not None:
        _note(connection, name, row[0], state, now)
    return row is not None


def _note(
    connection: sqlite3.Connection, name: str, due_at: int, state: TimerState, now: int
) -> None:
    connection.execute(
        "INSERT INTO timer_log (name, due_at, state, at) VALUES (?, ?, ?, ?)",
        (name, due_at, state, now),
    )
