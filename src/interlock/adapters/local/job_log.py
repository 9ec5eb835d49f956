"""Job log: what happened to jobs, line by line."""

import sqlite3

from interlock.adapters.local import changes
from interlock.adapters.local.database import Database
from interlock.adapters.local.rows import decoder, micros, run_columns
from interlock.domain import canonical
from interlock.domain.run import RunKey
from interlock.ports import ChangeKind, JobRecord

_record = decoder(JobRecord).decode


class SqliteJobLog:
    """A record without an attempt is told from others by its time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, record: JobRecord) -> None:
        self._database.write(lambda connection: _append(connection, record))

    def of_run(self, key: RunKey) -> list[JobRecord]:
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT record FROM job_log WHERE pipeline = ? AND schedule = ? AND date = ?"
                " AND dry = ? ORDER BY at, seq",
                run_columns(key),
            ).fetchall()
        )
        return [_record(text) for (text,) in rows]


def _append(connection: sqlite3.Connection, record: JobRecord) -> None:
    key, text = record.key, canonical.encode(record)
    done = connection.execute(
        "INSERT INTO job_log (pipeline, schedule, date, dry, at, attempt, event, record)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (*run_columns(key), micros(record.at), record.attempt, record.event, text),
    )
    if done.rowcount:
        place = f"{key.schedule_id}#{key.date}"
        changes.append(connection, ChangeKind.JOB, key.pipeline_id, place, record.at, text)
