"""Watch: the watchdog's own row."""

import sqlite3

from interlock.adapters.local.database import Database
from interlock.adapters.local.rows import decoder
from interlock.domain import canonical
from interlock.ports import WatchdogState

_KEY = "watchdog"
_state = decoder(WatchdogState).decode


class SqliteWatch:
    """Before the first save there is version 0."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def load(self) -> WatchdogState:
        return self._database.read(_load)

    def save(self, state: WatchdogState) -> bool:
        """False if somebody stored that version first."""

        def unit(connection: sqlite3.Connection) -> bool:
            if _load(connection).version != state.version - 1:
                return False
            connection.execute(
                "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
                (_KEY, canonical.encode(state)),
            )
            return True

        return self._database.write(unit)


def _load(connection: sqlite3.Connection) -> WatchdogState:
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchone()
    return WatchdogState() if row is None else _state(row[0])
