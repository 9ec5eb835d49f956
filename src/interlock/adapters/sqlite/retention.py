"""Retention: remove data that is no longer needed, a little at a time."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from interlock.adapters.sqlite.claims import put_pruned
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import micros
from interlock.adapters.sqlite.runs import RUNS
from interlock.domain.run import Run
from interlock.domain.sla import pruned

SLICE = 500
_PAGES = 1000


@dataclass(frozen=True)
class Spans:
    """How long each kind of row is kept after it has done its work."""

    events: timedelta = timedelta(days=90)
    job_log: timedelta = timedelta(days=90)
    reruns: timedelta = timedelta(days=400)
    requests: timedelta = timedelta(days=30)
    changes: timedelta = timedelta(days=1)
    timers: timedelta = timedelta(days=7)
    executions: timedelta = timedelta(days=90)
    alerts: timedelta = timedelta(days=35)
    threads: timedelta = timedelta(days=90)


class SqliteRetention:
    """Readings and runs stay until an operator prunes them."""

    def __init__(self, database: Database, spans: Spans | None = None) -> None:
        self._database = database
        self._spans = spans or Spans()

    def sweep(self, now: datetime) -> dict[str, int]:
        """Remove expired rows, in short transactions. Returns how many, by table."""
        removed = {}
        for table, (condition, span) in _EXPIRED.items():
            before = now - getattr(self._spans, span) if span else now
            removed[table] = self._remove(table, condition, micros(before))
        self._database.write(_give_back_pages)
        return removed

    def prunable(self, runs_before: str) -> int:
        """How many finished runs of dates before that one there are."""
        (count,) = self._database.read(
            lambda connection: connection.execute(
                f"SELECT count(*) FROM runs WHERE {_PRUNABLE}", (runs_before,)
            ).fetchone()
        )
        return int(count)

    def prune(self, runs_before: str, now: datetime) -> int:
        """Remove the finished runs of dates before that one. Returns how many. Keeps what distinguishes a
        later run of such a date from the old one.
        """
        return self._in_slices(lambda connection: self._prune(connection, runs_before, now))

    def _prune(self, connection: sqlite3.Connection, runs_before: str, now: datetime) -> int:
        rows = connection.execute(
            f"SELECT rowid, {RUNS.columns} FROM runs WHERE {_PRUNABLE} LIMIT {SLICE}",
            (runs_before,),
        ).fetchall()
        for rowid, *row in rows:
            run = RUNS.read(self._database, tuple(row))
            if isinstance(run, Run):
                put_pruned(connection, pruned(run, now), now)
            connection.execute("DELETE FROM runs WHERE rowid = ?", (rowid,))
        return len(rows)

    def _remove(self, table: str, condition: str, bound: object) -> int:
        def unit(connection: sqlite3.Connection) -> int:
            return connection.execute(
                f"DELETE FROM {table} WHERE rowid IN"
                f" (SELECT rowid FROM {table} WHERE {condition} LIMIT {SLICE})",
                (bound,),
            ).rowcount

        return self._in_slices(unit)

    def _in_slices(self, unit: Callable[[sqlite3.Connection], int]) -> int:
        total = gone = self._database.write(unit)
        while gone == SLICE:
            gone = self._database.write(unit)
            total += gone
        return total


def _give_back_pages(connection: sqlite3.Connection) -> None:
    """The sqlite3 module runs one step of this pragma, which frees one page."""
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    for _ in range(min(free, _PAGES)):
        connection.execute("PRAGMA incremental_vacuum(1)")


#: A failed run with nothing pending is finished too, until a rerun.
_PRUNABLE = (
    "(status IN ('COMPLETED', 'FAILED_FINAL') OR (status = 'FAILED' AND watch_at IS NULL))"
    " AND date < ?"
)

#: By table: what has expired, and the span it is counted from (empty: the row has its own expiry).
#: A change is removed once every consumer has passed it; a change without a consumer stays.
_EXPIRED = {
    "sensors": ("expires_at <= ?", ""),
    "runs": ("expires_at <= ?", ""),
    "marks": ("expires_at <= ?", ""),
    "events": ("at <= ?", "events"),
    "job_log": ("at <= ?", "job_log"),
    "reruns": ("at <= ?", "reruns"),
    "rerun_requests": ("judged = 1 AND requested_at <= ?", "requests"),
    "changes": (
        "at <= ? AND seq <= (SELECT min(seq) FROM cursors WHERE feed = 'changes')",
        "changes",
    ),
    "timers": ("settled_at <= ?", "timers"),
    "timer_log": ("at <= ?", "timers"),
    "executions": ("ended_at <= ?", "executions"),
    "alerts": ("settled_at <= ?", "alerts"),
    "threads": ("created_at <= ?", "threads"),
}
