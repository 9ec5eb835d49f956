"""Alert routes: the last alerts file in force, kept in case the next one is invalid."""

import msgspec

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import decoder
from interlock.domain import canonical
from interlock.domain.alerting.alert_rules import Alerts

_KEY = "alerts"
_alerts = decoder(Alerts).decode


class SqliteAlertRoutes:
    """Texts are stored as in the file: references to the environment are not resolved here."""

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

    def kept(self) -> Alerts | None:
        """None before the first, and for one that this version can't read."""
        row = self._database.read(
            lambda connection: connection.execute(
                "SELECT value FROM meta WHERE key = ?", (_KEY,)
            ).fetchone()
        )
        try:
            return None if row is None else _alerts(row[0])
        except msgspec.MsgspecError:
            return None
