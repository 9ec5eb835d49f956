"""Sensors: the readings, each with its change in the feed."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from decimal import Decimal

from interlock.adapters.sqlite import changes
from interlock.adapters.sqlite.changes import NewChange
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import Reader, Row, decoder, instant, listed, micros
from interlock.adapters.sqlite.writer import Settled
from interlock.domain import canonical
from interlock.domain.change import ChangeKind
from interlock.domain.sensor import Reading, split_key, unreadable_reading
from interlock.domain.unreadable import RowKind, UnreadableRow
from interlock.ports.engine import Clock

_decoded = decoder(Reading).decode

#: A character after every character of a period.
_AFTER = "~"
#: The calendar ends here; a larger number is not a time.
_LAST_SECOND = 253_402_300_800
_LIVE = "(expires_at IS NULL OR expires_at > ?)"


class SqliteSensors:
    """A reading with a `ttl` (epoch seconds) from its producer is gone once that time has passed."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def put(self, reading: Reading) -> None:
        self._database.write(lambda connection: _put(connection, reading))

    def put_all(self, readings: Sequence[Reading]) -> None:
        """Many readings in one durable write: all of them, or none."""
        self._database.write(lambda connection: _put_all(connection, readings))

    def submit_all(self, readings: Sequence[Reading], settled: Settled) -> None:
        """As `put_all`, without waiting: `settled` is called when they are durable, or with the error."""
        self._database.submit(lambda connection: _put_all(connection, readings), settled)

    def remove(self, pipeline_id: str, key: str, at: datetime) -> None:
        self._database.write(lambda connection: _remove(connection, pipeline_id, key, at))

    def find(self, pipeline_id: str, keys: Collection[str]) -> dict[str, Reading]:
        if not keys:
            return {}
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {READINGS.columns} FROM json_each(?) AS wanted CROSS JOIN sensors"
                f" ON pipeline = ? AND sensors.key = wanted.value WHERE {_LIVE}",
                (listed(keys), pipeline_id, micros(self._clock())),
            ).fetchall()
        )
        return {reading.key: reading for reading in self._all(rows)}

    def between(self, pipeline_id: str, key: str, first: str, last: str) -> list[Reading]:
        """`last` includes the hours of that day. In the order of their periods."""
        dashed, compact = (first, last, 1), (_compact(first), _compact(last), 0)
        year_ends = len(key) + len("#2026-")
        now = micros(self._clock())

        def query(connection: sqlite3.Connection) -> list[Row]:
            return [
                row
                for since, until, dash in (dashed, compact)
                for row in connection.execute(
                    f"SELECT {READINGS.columns} FROM sensors WHERE pipeline = ? AND key BETWEEN ? AND ?"
                    f" AND (substr(key, ?, 1) = '-') = ? AND {_LIVE}",
                    (pipeline_id, f"{key}#{since}", f"{key}#{until}{_AFTER}", year_ends, dash, now),
                )
            ]

        readings = READINGS.all(self._database, self._database.read(query))
        of_key = [reading for reading in readings if split_key(reading.key)[0] == key]
        return sorted(of_key, key=lambda reading: _compact(reading.key))

    def of_pipeline(self, pipeline_id: str) -> list[Reading]:
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {READINGS.columns} FROM sensors WHERE pipeline = ? AND {_LIVE} ORDER BY key",
                (pipeline_id, micros(self._clock())),
            ).fetchall()
        )
        return self._all(rows)

    def _all(self, rows: Iterable[Row]) -> list[Reading]:
        found = ((row, READINGS.read(self._database, row)) for row in rows)
        return [
            unreadable_reading(row[0], row[1], instant(row[2]), each.problem)
            if isinstance(each, UnreadableRow)
            else each
            for row, each in found
        ]


def _read(row: Row) -> Reading:
    reading = _decoded(row[-1])
    if (reading.pipeline_id, reading.key) != (row[0], row[1]):
        raise ValueError(f"its text belongs to {reading.pipeline_id} {reading.key}")
    return reading


READINGS = Reader(
    "sensors", "pipeline, sensors.key, received_at, reading", 2, _read, kind=RowKind.READING
)


def _put_all(connection: sqlite3.Connection, readings: Sequence[Reading]) -> None:
    for reading in readings:
        _put(connection, reading)


def _put(connection: sqlite3.Connection, reading: Reading) -> None:
    """The same reading with the same instant is a repeated call and not a change."""
    place, text = (reading.pipeline_id, reading.key), canonical.encode(reading)
    done = connection.execute(
        "INSERT INTO sensors (pipeline, key, reading, content, received_at, expires_at)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
        " reading = excluded.reading, content = excluded.content,"
        " received_at = excluded.received_at, expires_at = excluded.expires_at"
        " WHERE reading <> excluded.reading",
        (*place, text, reading.version, micros(reading.received_at), _expires_at(reading)),
    )
    if done.rowcount:
        change = NewChange(ChangeKind.SENSOR, *place, reading.received_at, text)
        changes.append(connection, change)


def _remove(connection: sqlite3.Connection, pipeline_id: str, key: str, at: datetime) -> None:
    gone = connection.execute(
        "DELETE FROM sensors WHERE pipeline = ? AND key = ?", (pipeline_id, key)
    )
    if gone.rowcount:
        change = NewChange(ChangeKind.SENSOR, pipeline_id, key, at, removed=True)
        changes.append(connection, change)


def _expires_at(reading: Reading) -> int | None:
    ttl = reading.fields.get("ttl")
    if not isinstance(ttl, int | Decimal) or not 0 <= ttl < _LAST_SECOND:
        return None
    return int(ttl * 1_000_000)


def _compact(label: str) -> str:
    return label.replace("-", "").replace(":", "")
