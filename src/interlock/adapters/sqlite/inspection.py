"""Inspection: searches the tables for unreadable rows, for the operator of the file."""

import sqlite3
from functools import partial
from typing import Any

from interlock.adapters.sqlite.audit import AUDIT, TOKENS
from interlock.adapters.sqlite.backfills import BACKFILLS
from interlock.adapters.sqlite.changes import CHANGES, PARKED
from interlock.adapters.sqlite.claims import BASELINES, WATCHES
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.deliveries import ALERTS
from interlock.adapters.sqlite.events import EVENTS, is_known
from interlock.adapters.sqlite.handlings import HANDLINGS
from interlock.adapters.sqlite.job_log import JOB_LOG
from interlock.adapters.sqlite.outbox import OUTBOX
from interlock.adapters.sqlite.pipelines import CONFIGS
from interlock.adapters.sqlite.reruns import REQUESTS, RERUNS
from interlock.adapters.sqlite.rows import Reader
from interlock.adapters.sqlite.runs import RUNS
from interlock.adapters.sqlite.sensors import READINGS
from interlock.adapters.sqlite.threads import THREADS
from interlock.adapters.sqlite.timers import TIMERS
from interlock.adapters.sqlite.watch import WATCHDOG
from interlock.adapters.sqlite.workflows import EXECUTIONS
from interlock.domain.unreadable import UnreadableRow

#: How many of a table's newest rows are checked: a person is waiting, so not a year of them.
MOST = 20_000

READERS: tuple[Reader[Any], ...] = (
    CONFIGS, RUNS, READINGS, REQUESTS, RERUNS, BACKFILLS, JOB_LOG, WATCHES, BASELINES, EVENTS, OUTBOX,
    CHANGES, PARKED, TIMERS, EXECUTIONS, ALERTS, THREADS, HANDLINGS, TOKENS, AUDIT, WATCHDOG,
)  # fmt: skip


def inspect(database: Database) -> list[UnreadableRow]:
    """The wholly or partly unreadable rows among the newest of each table."""
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
