"""Clock trail: the row that records how the clock moved, and a probe write."""

import itertools
import sqlite3

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import decoder
from interlock.adapters.sqlite.writer import Settled
from interlock.adapters.unreadable_rows import DAMAGED
from interlock.domain import canonical
from interlock.domain.clock_trail import ClockTrail

_KEY = "clock"
_PROBE = "probe"
_trail = decoder(ClockTrail).decode
_REPLACE = "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)"


class SqliteClockTrail:
    """Only the serving process follows the clock."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._probes = itertools.count(1)

    def load(self) -> ClockTrail | None:
        """None before the first save, and when the row can't be read."""
        row = self._database.read(
            lambda connection: connection.execute(
                "SELECT value FROM meta WHERE key = ?", (_KEY,)
            ).fetchone()
        )
        try:
            return None if row is None else _trail(row[0])
        except DAMAGED:
            return None

    def save(self, trail: ClockTrail) -> None:
        text = canonical.encode(trail)
        self._database.write(lambda connection: _put(connection, _KEY, text))

    def probe(self, settled: Settled) -> None:
        """Write something, without waiting. An empty transaction would succeed on a full disk."""
        text = str(next(self._probes))
        self._database.submit(lambda connection: _put(connection, _PROBE, text), settled)


def _put(connection: sqlite3.Connection, key: str, text: str) -> None:
    connection.execute(_REPLACE, (key, text))
