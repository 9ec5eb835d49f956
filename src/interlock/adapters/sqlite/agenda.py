"""Agenda: what there is to do and when, in one query of the store.

Each part has its own index, so the query costs the same however much history there is.
"""

import sqlite3
from datetime import datetime

import msgspec

from interlock.adapters.sqlite.cursors import FeedName
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import maybe_instant
from interlock.adapters.sqlite.workflows import ClaimedExecutions
from interlock.domain import canonical

_LOOK = f"""
SELECT
  (SELECT max(seq) FROM changes) >
    coalesce((SELECT seq FROM cursors WHERE feed = '{FeedName.CHANGES}' AND consumer = ?), 0),
  (SELECT min(next_try_at) FROM dead_changes WHERE consumer = ? AND next_try_at IS NOT NULL),
  (SELECT min(wake_at) FROM executions
    WHERE status = 'RUNNING' AND name NOT IN (SELECT value FROM json_each(?))),
  (SELECT min(due_at) FROM timers WHERE state = 'armed'),
  EXISTS (SELECT 1 FROM outbox),
  (SELECT max(seq) FROM events) >
    coalesce((SELECT seq FROM cursors WHERE feed = '{FeedName.EVENTS}' AND consumer = ?), 0),
  (SELECT min(due_at) FROM alerts WHERE state IN ('queued', 'sending', 'given_up', 'waiting')),
  (SELECT min(due_at) FROM alerts WHERE state = 'held')
"""


class Agenda(msgspec.Struct, frozen=True):
    """What waits, and until when."""

    has_changes: bool
    next_try: datetime | None
    next_wake: datetime | None
    next_timer: datetime | None
    has_untold: bool
    has_unqueued: bool
    next_alert: datetime | None
    next_mute_end: datetime | None


class SqliteAgenda:
    """Looks on behalf of the consumers of the local backend's two feeds."""

    def __init__(
        self,
        database: Database,
        held: ClaimedExecutions,
        router: str = "router",
        alerts: str = "alerts",
    ) -> None:
        self._database = database
        self._held = held
        self._router, self._alerts = router, alerts

    def look(self) -> Agenda:
        """What a worker has claimed is not waiting."""
        return self._database.read(self._look)

    def stamp(self) -> tuple[int, int]:
        """While this is unchanged, so is the agenda."""
        return self._database.commits, self._held.changes

    def _look(self, connection: sqlite3.Connection) -> Agenda:
        held = canonical.encode(self._held.names())
        consumers = (self._router, self._router, held, self._alerts)
        row = connection.execute(_LOOK, consumers).fetchone()
        changes, again, wake, timer, untold, unqueued, alert, mute_end = row
        return Agenda(
            bool(changes),
            maybe_instant(again),
            maybe_instant(wake),
            maybe_instant(timer),
            bool(untold),
            bool(unqueued),
            maybe_instant(alert),
            maybe_instant(mute_end),
        )
