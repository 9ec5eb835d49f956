"""Retention: removes rows that are no longer needed, a few at a time."""

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
    """How long each kind of row, and the output of commands, is kept after it has done its work."""

    events: timedelta = timedelta(days=90)
    job_log: timedelta = timedelta(days=90)
    reruns: timedelta = timedelta(days=400)
    requests: timedelta = timedelta(days=30)
    backfills: timedelta = timedelta(days=400)
    changes: timedelta = timedelta(days=1)
    timers: timedelta = timedelta(days=7)
    executions: timedelta = timedelta(days=90)
    alerts: timedelta = timedelta(days=35)
    threads: timedelta = timedelta(days=90)
    outputs: timedelta = timedelta(days=30)


class SqliteRetention:
    """Readings and runs stay until an operator prunes them."""

    def __init__(self, database: Database, spans: Spans | None = None) -> None:
        self._database = database
        self._spans = spans or Spans()

    def sweep(self, now: datetime) -> dict[str, int]:
        """Remove what has expired, in short transactions. Returns the number of rows per table."""
        removed = {}
        for table, (condition, span) in _EXPIRED.items():
            before = now - getattr(self._spans, span) if span else now
            removed[table] = self._remove(table, condition, micros(before))
        self._database.write(_give_back_pages)
        return removed

    def prunable(self, runs_before: str) -> int:
        """How many finished runs there are of dates before that one."""
        (count,) = self._database.read(
            lambda connection: connection.execute(
                f"SELECT count(*) FROM runs WHERE {_PRUNABLE}", (runs_before,)
            ).fetchone()
        )
        return int(count)

    def prune(self, runs_before: str, now: datetime) -> int:
        """Remove the finished runs of dates before that one, and return how many. What distinguishes a
        later run of such a date from the old one stays.
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
    """Python's sqlite3 takes one step of this pragma, which is one page."""
    (free,) = connection.execute("PRAGMA freelist_count").fetchone()
    for _ in range(min(free, _PAGES)):
        connection.execute("PRAGMA incremental_vacuum(1)")


#: A failed run with nothing due is finished too, until it is run again.
_PRUNABLE = (
    "(status IN ('COMPLETED', 'FAILED_FINAL', 'SKIPPED') OR (status = 'FAILED' AND watch_at IS NULL))"
    " AND date < ?"
)

#: By table: the condition for expiry, and the span counted back from now (none: the row has its own time).
#: A change is removed once every consumer has passed it; without consumers it stays.
_EXPIRED = {
    "sensors": ("expires_at <= ?", ""),
    "runs": ("expires_at <= ?", ""),
    "marks": ("expires_at <= ?", ""),
    "events": ("at <= ?", "events"),
    "job_log": ("at <= ?", "job_log"),
    "reruns": ("at <= ?", "reruns"),
    "rerun_requests": ("judged = 1 AND requested_at <= ?", "requests"),
    "backfills": ("ended_at <= ?", "backfills"),
    "changes": (
        "at <= ? AND seq <= (SELECT min(seq) FROM cursors WHERE feed = 'changes')",
        "changes",
    ),
    "timers": ("settled_at <= ?", "timers"),
    "timer_log": ("at <= ?", "timers"),
    "executions": ("ended_at <= ?", "executions"),
    "alerts": ("settled_at <= ?", "alerts"),
    "threads": ("created_at <= ?", "threads"),
    "handlings": ("changed_at <= ?", "threads"),
}
