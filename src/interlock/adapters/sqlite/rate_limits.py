"""Rate limits: when each channel accepts its next message."""

import sqlite3
from datetime import datetime, timedelta

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import instant, micros


class SqlitePaces:
    """One slot at a time, shared by all senders."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take(self, channel: str, now: datetime, every: timedelta) -> datetime:
        """Take the slot if one is free: returns `now`. Otherwise returns when to try again."""

        def unit(connection: sqlite3.Connection) -> datetime:
            row = connection.execute(
                "SELECT next_at FROM paces WHERE channel = ?", (channel,)
            ).fetchone()
            if row is not None and row[0] > micros(now):
                return instant(row[0])
            _put(connection, channel, now + every)
            return now

        return self._database.write(unit)

    def block(self, channel: str, until: datetime) -> None:
        """The channel asked for no messages until then."""
        self._database.write(lambda connection: _put(connection, channel, until))


def _put(connection: sqlite3.Connection, channel: str, until: datetime) -> None:
    connection.execute(
        "INSERT INTO paces (channel, next_at) VALUES (?, ?)"
        " ON CONFLICT DO UPDATE SET next_at = max(next_at, excluded.next_at)",
        (channel, micros(until)),
    )
