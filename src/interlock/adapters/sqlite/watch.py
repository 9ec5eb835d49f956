"""Watch: the watchdog's own row."""

import sqlite3

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import Reader, Row, decoder
from interlock.adapters.unreadable_rows import DAMAGED
from interlock.domain import canonical
from interlock.domain.watchdog_state import WatchdogState

_KEY = "watchdog"
_state = decoder(WatchdogState).decode


class SqliteWatch:
    """Before the first save there is version 0."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self) -> WatchdogState:
        row = self._database.read(_row)
        found = None if row is None else WATCHDOG.read(self._database, row)
        return found if isinstance(found, WatchdogState) else WatchdogState()

    def save(self, state: WatchdogState) -> bool:
        """False if another writer stored that version first."""

        def unit(connection: sqlite3.Connection) -> bool:
            if _version(_row(connection)) != state.version - 1:
                return False
            connection.execute(
                "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
                (_KEY, canonical.encode(state)),
            )
            return True

        return self._database.write(unit)


def _row(connection: sqlite3.Connection) -> Row | None:
    row: Row | None = connection.execute(
        f"SELECT {WATCHDOG.columns} FROM meta WHERE key = ?", (_KEY,)
    ).fetchone()
    return row


def _version(row: Row | None) -> int:
    """An unreadable row has no state, and the first state replaces it."""
    try:
        return 0 if row is None else _state(row[1]).version
    except DAMAGED:
        return 0


WATCHDOG = Reader("meta", "key, value", 1, lambda row: _state(row[1]), where=f"key = '{_KEY}'")
