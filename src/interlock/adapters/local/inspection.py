"""Inspection: looks through the tables for rows that can't be read, for people who look after the file."""

import sqlite3
from functools import partial
from typing import Any

from interlock.adapters.local.audit import AUDIT, TOKENS
from interlock.adapters.local.changes import CHANGES, PARKED
from interlock.adapters.local.database import Database
from interlock.adapters.local.deliveries import ALERTS
from interlock.adapters.local.events import EVENTS, is_known
from interlock.adapters.local.job_log import JOB_LOG
from interlock.adapters.local.marks import BASELINES, WATCHES
from interlock.adapters.local.outbox import OUTBOX
from interlock.adapters.local.pipelines import CONFIGS
from interlock.adapters.local.reruns import REQUESTS, RERUNS
from interlock.adapters.local.rows import Reader
from interlock.adapters.local.runs import RUNS
from interlock.adapters.local.sensors import READINGS
from interlock.adapters.local.threads import THREADS
from interlock.adapters.local.timers import TIMERS
from interlock.adapters.local.watch import WATCHDOG
from interlock.adapters.local.workflows import EXECUTIONS
from interlock.domain.unreadable import UnreadableRow

#: So many rows of a table are looked at, the newest: a person who waits does not wait for a year of them.
MOST = 20_000

READERS: tuple[Reader[Any], ...] = (
    CONFIGS, RUNS, READINGS, REQUESTS, RERUNS, JOB_LOG, WATCHES, BASELINES, EVENTS, OUTBOX, CHANGES,
    PARKED, TIMERS, EXECUTIONS, ALERTS, THREADS, TOKENS, AUDIT, WATCHDOG,
)  # fmt: skip


def inspect(database: Database) -> list[UnreadableRow]:
    """The rows among the newest of each table that can't be read, or only in part."""
    for reader in READERS:
        database.read(partial(_look_through, reader, database))
    return database.unreadable.met()


def _look_through(reader: Reader[Any], database: Database, connection: sqlite3.Connection) -> None:
    newest = "" if reader is WATCHDOG else "ORDER BY rowid DESC"  # its table has no numbers
    rows = connection.execute(
        f"SELECT {reader.columns} FROM {reader.table} WHERE {reader.where} {newest} LIMIT {MOST}"
    )
    for row in rows:
        if reader is not EVENTS or is_known(row):
            reader.read(database, row)
