"""Timers: rows with a due time, and the log of how each arming ended."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import Reader, Row, decoder, instant, maybe_instant, micros
from interlock.domain import canonical
from interlock.domain.timer import Timer
from interlock.domain.unreadable import UnreadableRow
from interlock.ports.engine import Clock

_payload = decoder(dict[str, Any]).decode


class TimerState(StrEnum):
    """An armed timer ends in exactly one of the others."""

    ARMED = "armed"
    FIRED = "fired"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


class TimerNote(msgspec.Struct, frozen=True):
    """A line of the log: the outcome of a name armed for that instant."""

    seq: int
    name: str
    due_at: datetime
    state: TimerState
    at: datetime


class SqliteTimers:
    """A name has one row. A timer that fired for an instant is not armed for it again."""

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
        """Move the timers of a kind that are due later than that to another instant."""

        def found(connection: sqlite3.Connection) -> list[tuple[str, str]]:
            return connection.execute(
                "SELECT name, payload FROM timers WHERE state = 'armed' AND due_at > ? AND kind = ?",
                (micros(latest), kind),
            ).fetchall()

        def unit(connection: sqlite3.Connection) -> None:
            for name, text in found(connection):
                _put(connection, name, kind, text, micros(to), micros(to))

        if self._database.read(found):
            self._database.write(unit)

    def due(self, now: datetime, limit: int) -> list[Timer]:
        """An unreadable timer is cancelled: the watchdog does its work."""
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {TIMERS.columns} FROM timers"
                " WHERE state = 'armed' AND due_at <= ? ORDER BY due_at, name LIMIT ?",
                (micros(now), limit),
            ).fetchall()
        )
        found = [(row[0], TIMERS.read(self._database, row)) for row in rows]
        self.cancel([name for name, each in found if isinstance(each, UnreadableRow)])
        return [each for _, each in found if isinstance(each, Timer)]

    def drop(self, timer: Timer, error: Exception) -> None:
        """Cancel one whose payload turned out to be unusable."""
        row = (timer.name, timer.kind, timer.due_at, canonical.encode(timer.payload))
        self._database.unreadable.note(TIMERS.unreadable(row, error))
        self.cancel([timer.name])

    def next_due(self, after: datetime | None = None) -> datetime | None:
        """When the next timer is due; `after` leaves out what is due by then."""
        (due,) = self._database.read(
            lambda connection: connection.execute(
                "SELECT min(due_at) FROM timers WHERE state = 'armed' AND due_at > ?",
                (-1 if after is None else micros(after),),
            ).fetchone()
        )
        return maybe_instant(due)

    def fire(self, name: str, due_at: datetime) -> bool:
        """Record that its effect is done. False if it was moved or settled meanwhile.

        After a power cut it may be armed again: firing twice is harmless.
        """
        now = micros(self._clock())
        return self._database.write(
            lambda connection: _settle(connection, name, TimerState.FIRED, now, micros(due_at)),
            lazy=True,
        )

    def log(self, after: int = 0) -> list[TimerNote]:
        """The outcome of every arming since that line, in order; for checks."""
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


def _read(row: Row) -> Timer:
    name, kind, due_at, text = row
    return Timer(name, kind, instant(due_at), _payload(text))


TIMERS = Reader("timers", "name, kind, due_at, payload", 1, _read, where="state = 'armed'")


def _arm(connection: sqlite3.Connection, timer: Timer, now: int) -> None:
    text = canonical.encode(timer.payload)
    _put(connection, timer.name, timer.kind, text, micros(timer.due_at), now)


def _put(
    connection: sqlite3.Connection, name: str, kind: str, payload: str, due_at: int, now: int
) -> None:
    row = connection.execute("SELECT due_at, state FROM timers WHERE name = ?", (name,)).fetchone()
    if row is not None:
        before, state = row
        if before == due_at and state in (TimerState.ARMED, TimerState.FIRED):
            return
        if state == TimerState.ARMED:
            _note(connection, name, before, TimerState.SUPERSEDED, now)
    connection.execute(
        "INSERT OR REPLACE INTO timers (name, kind, payload, due_at, state)"
        " VALUES (?, ?, ?, ?, 'armed')",
        (name, kind, payload, due_at),
    )
    _note(connection, name, due_at, TimerState.ARMED, now)


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
