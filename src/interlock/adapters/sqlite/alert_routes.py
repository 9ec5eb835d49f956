"""Alert routes: the last valid alerts file, used when the next one is invalid."""

from typing import Any

from interlock.adapters.sqlite.database import Database
from interlock.adapters.unreadable_rows import DAMAGED
from interlock.domain import canonical
from interlock.domain.alerting.alert_rules import Alerts

_KEY = "alerts"


class SqliteAlertRoutes:
    """Texts are stored as written in the file: references to the environment are not resolved here."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, alerts: Alerts) -> None:
        text = canonical.encode(alerts)
        self._database.write(
            lambda connection: connection.execute(
                "INSERT INTO meta (key, value) VALUES (?, ?)"
                " ON CONFLICT DO UPDATE SET value = excluded.value WHERE value <> excluded.value",
                (_KEY, text),
            )
        )

    def kept(self) -> Any:
        """What is stored, decoded and not yet believed; None before the first."""
        row = self._database.read(
            lambda connection: connection.execute(
                "SELECT value FROM meta WHERE key = ?", (_KEY,)
            ).fetchone()
        )
        try:
            return None if row is None else canonical.decode(row[0])
        except DAMAGED:
            return None
