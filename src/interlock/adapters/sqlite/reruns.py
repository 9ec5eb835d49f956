"""Reruns: requests to run a date again, and the granted attempts."""

import sqlite3
from collections.abc import Collection
from datetime import datetime

from interlock.adapters.sqlite import changes
from interlock.adapters.sqlite.changes import NewChange
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import (
    Reader,
    Row,
    decoder,
    instant,
    listed,
    micros,
    run_columns,
)
from interlock.domain import canonical
from interlock.domain.change import ChangeKind
from interlock.domain.partition import Label
from interlock.domain.rerun_request import RequestAnswer, RerunRecord, RerunRequest
from interlock.domain.run import RunKey

_request = decoder(RerunRequest).decode
_record = decoder(RerunRecord).decode

_PLACE = "pipeline, schedule, date, dry"

_OF_DATE = "pipeline = ? AND schedule = ? AND date = ? AND dry = ?"


class SqliteReruns:
    """A date has one request at a time: a newer one replaces it, and both are in the feed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def request(self, request: RerunRequest) -> None:
        self._database.write(lambda connection: put_request(connection, request))

    def unjudged(self) -> list[RerunRequest]:
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {REQUESTS.columns} FROM rerun_requests WHERE judged = 0 ORDER BY requested_at"
            ).fetchall()
        )
        return REQUESTS.all(self._database, rows)

    def unlisted(self, pipeline_ids: Collection[str]) -> list[RerunRequest]:
        """Always empty: only Interlock writes to this file."""
        return []

    def judged(self, request: RerunRequest, refused: str = "") -> None:
        """Marks only this request: a newer one still waits."""
        self._database.write(
            lambda connection: connection.execute(
                "UPDATE rerun_requests SET judged = 1, refused = coalesce(refused, ?)"
                f" WHERE {_OF_DATE} AND requested_at = ?",
                (refused or None, *run_columns(request.key), micros(request.requested_at)),
            )
        )

    def answers(self, keys: Collection[RunKey]) -> dict[RunKey, RequestAnswer]:
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {_PLACE}, requested_at, judged, refused FROM json_each(?) AS wanted"
                " CROSS JOIN rerun_requests ON pipeline = wanted.value ->> 0"
                " AND schedule = wanted.value ->> 1 AND date = wanted.value ->> 2"
                " AND dry = wanted.value ->> 3",
                (listed(run_columns(key) for key in keys),),
            ).fetchall()
        )
        return {
            RunKey(pipeline, schedule, date, bool(dry)): RequestAnswer(
                instant(at), bool(judged), refused or ""
            )
            for pipeline, schedule, date, dry, at, judged, refused in rows
        }

    def withdraw(self, key: RunKey, at: datetime) -> None:
        self._database.write(lambda connection: _withdraw(connection, key, at))

    def granted(self, key: RunKey) -> list[RerunRecord]:
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {RERUNS.columns} FROM reruns WHERE {_OF_DATE} ORDER BY attempt",
                run_columns(key),
            ).fetchall()
        )
        return RERUNS.all(self._database, rows)


def put_request(connection: sqlite3.Connection, request: RerunRequest) -> None:
    """Repeating the same request changes nothing, whether or not it was judged."""
    text = canonical.encode(request)
    done = connection.execute(
        "INSERT INTO rerun_requests (pipeline, schedule, date, dry, requested_at, request)"
        " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
        " requested_at = excluded.requested_at, judged = 0, refused = NULL,"
        " request = excluded.request"
        " WHERE requested_at <> excluded.requested_at",
        (*run_columns(request.key), micros(request.requested_at), text),
    )
    if done.rowcount:
        _tell(connection, request.key, request.requested_at, text)


def grant(connection: sqlite3.Connection, record: RerunRecord) -> None:
    """Runs in the unit that opens the attempt. Only one can, so an existing record is of a removed row."""
    connection.execute(
        "INSERT OR REPLACE INTO reruns (pipeline, schedule, date, dry, attempt, at, record)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            *run_columns(record.key),
            record.attempt,
            micros(record.triggered_at),
            canonical.encode(record),
        ),
    )


def _withdraw(connection: sqlite3.Connection, key: RunKey, at: datetime) -> None:
    gone = connection.execute(f"DELETE FROM rerun_requests WHERE {_OF_DATE}", run_columns(key))
    if gone.rowcount:
        _tell(connection, key, at, None)


def _tell(connection: sqlite3.Connection, key: RunKey, at: datetime, text: str | None) -> None:
    place, gone = f"{key.schedule_id}#{key.date}", text is None
    change = NewChange(ChangeKind.RERUN, key.pipeline_id, place, at, text, gone)
    changes.append(connection, change)


def _asked(row: Row) -> RerunRequest:
    request = _request(row[-1])
    Label.parse(request.key.date)
    if run_columns(request.key) != tuple(row[:4]) or micros(request.requested_at) != row[4]:
        raise ValueError(f"its text belongs to {request.key}, requested at {request.id}")
    return request


def _bare_record(row: Row) -> RerunRecord:
    pipeline, schedule, date, dry, attempt, at, _ = row
    key = RunKey(pipeline, schedule, date, bool(dry))
    return RerunRecord(key=key, attempt=attempt, source="", reason="", triggered_at=instant(at))


REQUESTS = Reader(
    "rerun_requests", f"{_PLACE}, requested_at, request", 4, _asked, where="judged = 0"
)
RERUNS = Reader(
    "reruns",
    f"{_PLACE}, attempt, at, record",
    5,
    lambda row: _record(row[-1]),
    otherwise=_bare_record,
)
