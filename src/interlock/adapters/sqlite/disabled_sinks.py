"""Disabled sinks: sinks that asked for no more messages."""

from interlock.adapters.sqlite.database import Database


class SqliteSwitches:
    """A sink stays disabled until its declaration changes."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def turn_off(self, sink: str, declared: str) -> None:
        self._database.write(
            lambda connection: connection.execute(
                "INSERT INTO switches (sink, declared) VALUES (?, ?)"
                " ON CONFLICT DO UPDATE SET declared = excluded.declared",
                (sink, declared),
            )
        )

    def is_off(self, sink: str, declared: str) -> bool:
        row = self._database.read(
            lambda connection: connection.execute(
                "SELECT 1 FROM switches WHERE sink = ? AND declared = ?", (sink, declared)
            ).fetchone()
        )
        return row is not None
