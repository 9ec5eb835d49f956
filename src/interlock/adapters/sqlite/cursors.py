"""Cursors: how far each consumer of a feed has come."""

import sqlite3
from enum import StrEnum

from interlock.adapters.sqlite.database import Database


class FeedName(StrEnum):
    """What can be followed: the change feed, and the event log."""

    CHANGES = "changes"
    EVENTS = "events"


class SqliteCursors:
    """How far the listeners of the event log have read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def at(self, consumer: str) -> int:
        """The last position handled: 0 before the first."""
        return self._database.read(lambda connection: place(connection, FeedName.EVENTS, consumer))

    def move(self, consumer: str, seq: int) -> None:
        self._database.write(
            lambda connection: move_to(connection, FeedName.EVENTS, consumer, seq), lazy=True
        )


def place(connection: sqlite3.Connection, feed: FeedName, consumer: str) -> int:
    row = connection.execute(
        "SELECT seq FROM cursors WHERE feed = ? AND consumer = ?", (feed, consumer)
    ).fetchone()
    return 0 if row is None else int(row[0])


def move_to(connection: sqlite3.Connection, feed: FeedName, consumer: str, seq: int) -> None:
    """Never moves back: a repeat changes nothing."""
    connection.execute(
        "INSERT INTO cursors (feed, consumer, seq) VALUES (?, ?, ?)"
        " ON CONFLICT DO UPDATE SET seq = max(seq, excluded.seq)",
        (feed, consumer, seq),
    )
