"""Figures: how many rows of each kind there are, for metrics."""

import sqlite3

import msgspec

from interlock.adapters.sqlite.cursors import FeedName, place
from interlock.adapters.sqlite.database import Database


class Figures(msgspec.Struct, frozen=True):
    """Counts of work in progress; history is not counted."""

    active_runs: dict[str, int]
    pipelines: int
    changes: int
    parked: int
    alerts: int


class SqliteFigures:
    """All counts come from one snapshot."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self) -> Figures:
        return self._database.read(_figures)


def _figures(connection: sqlite3.Connection) -> Figures:
    def count(query: str, *given: object) -> int:
        return int(connection.execute(query, given).fetchone()[0])

    active = connection.execute(
        "SELECT status, count(*) FROM runs WHERE status NOT IN ('COMPLETED', 'FAILED_FINAL')"
        " AND status <> 'SKIPPED' GROUP BY status"
    )
    last = count("SELECT coalesce(max(seq), 0) FROM changes")
    return Figures(
        active_runs=dict(active.fetchall()),
        pipelines=count(
            "SELECT count(*) FROM pipelines WHERE active IS NOT NULL AND retired_at IS NULL"
        ),
        changes=max(0, last - place(connection, FeedName.CHANGES, "router")),
        parked=count("SELECT count(*) FROM dead_changes"),
        alerts=count("SELECT count(*) FROM alerts WHERE state IN ('queued', 'sending')"),
    )
