"""Job log: what happened to jobs, line by line."""

import sqlite3

from interlock.adapters.sqlite import changes
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import Reader, Row, decoder, instant, micros, run_columns
from interlock.domain import canonical
from interlock.domain.change import ChangeKind
from interlock.domain.job_record import JobRecord
from interlock.domain.run import RunKey

_decoded = decoder(JobRecord).decode


class SqliteJobLog:
    """A record without an attempt is identified by its time."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, record: JobRecord) -> None:
        self._database.write(lambda connection: _append(connection, record))

    def of_run(self, key: RunKey) -> list[JobRecord]:
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {JOB_LOG.columns} FROM job_log WHERE pipeline = ? AND schedule = ? AND date = ?"
                " AND dry = ? ORDER BY at, seq",
                run_columns(key),
            ).fetchall()
        )
        return JOB_LOG.all(self._database, rows)


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


def _read(row: Row) -> JobRecord:
    record = _decoded(row[-1])
    if (record.event, record.attempt) != (row[6], row[7]):
        raise ValueError(
            f"its columns say {row[6]} of attempt {row[7]}, but its text says {record.event}"
        )
    return record


def _bare(row: Row) -> JobRecord:
    pipeline, schedule, date, dry, _, at, event, attempt, _ = row
    key = RunKey(pipeline, schedule, date, bool(dry))
    return JobRecord(key=key, at=instant(at), event=event, attempt=attempt)


JOB_LOG = Reader(
    "job_log",
    "pipeline, schedule, date, dry, seq, at, event, attempt, record",
    5,
    _read,
    otherwise=_bare,
)
