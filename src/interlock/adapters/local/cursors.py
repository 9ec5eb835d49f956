"""Cursors: how far each consumer of a feed has come."""

import sqlite3

from interlock.adapters.local.database import Database


class SqliteCursors:
    """One number per consumer, which only grows."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def at(self, consumer: str) -> int:
        """The last number that was handled: 0 before the first."""
        row = self._database.read(
            lambda connection: connection.execute(
                "SELECT seq FROM cursors WHERE consumer = ?", (consumer,)
            ).fetchone()
        )
        return 0 if row is None else int(row[0])

    def move(self, consumer: str, seq: int) -> None:
        self._database.write(lambda connection: move_to(connection, consumer, seq))


def move_to(connection: sqlite3.Connection, consumer: str, seq: int) -> None:
    """Never back: a repeat changes nothing."""
    connection.execute(
        "INSERT INTO cursors (consumer, seq) VALUES (?, ?)"
        " ON CONFLICT DO UPDATE SET seq = max(seq, excluded.seq)",
        (consumer, seq),
    )
