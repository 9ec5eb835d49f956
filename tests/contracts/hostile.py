"""Hostile rows: what other hands, other versions and damage leave in a store, kind by kind.

A spoiler changes the stored rows of one kind, those of the usual run alone where a row is of a run, into its
n-th hostile form. It answers whether there is such a form.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from contracts.samples import KEY
from interlock.adapters.sqlite.database import Database

#: Every kind of row that a file may hold.
KINDS = (
    "run", "reading", "config", "wanted", "armed", "watch", "baseline", "outbox", "request", "grant",
    "backfill", "job record", "event", "delivery", "thread", "handling", "watchdog", "timer", "change",
    "parked", "given",
    "snapshot", "definition", "token", "audit",
)  # fmt: skip

Spoil = Callable[[str, int], bool]
Statement = tuple[str, tuple[str | bytes, ...]]

_OF_KEY = (
    f"pipeline = '{KEY.pipeline_id}' AND schedule = '{KEY.schedule_id}' AND date = '{KEY.date}'"
)
_DEEP = "[" * 3000 + "]" * 3000

#: Texts that are not what a row of ours holds: cut off, of another shape, empty, from a later version.
_TEXTS = ('{"key": {"pipel', "", "[]", "5", "null", '"text"', "{}", '{"status": "LATER"}', _DEEP)
#: A byte that no text has; SQLite stores it all the same.
_NO_TEXT = b'{"status": "\xff"}'

#: By kind: the table, the column of its text, and which of its rows.
_COLUMNS: dict[str, tuple[str, str, str]] = {
    "run": ("runs", "run", _OF_KEY),
    "reading": ("sensors", "reading", "TRUE"),
    "config": ("pipelines", "active", "TRUE"),
    "wanted": ("pipelines", "wanted", "TRUE"),
    "armed": ("pipelines", "armed", "TRUE"),
    "watch": ("marks", "body", "name GLOB 'sla#*'"),
    "baseline": ("marks", "body", "name GLOB 'postrun-baseline#*'"),
    "outbox": ("outbox", "body", "TRUE"),
    "request": ("rerun_requests", "request", "TRUE"),
    "grant": ("reruns", "record", "TRUE"),
    "backfill": ("backfills", "body", "TRUE"),
    "job record": ("job_log", "record", "TRUE"),
    "event": ("events", "body", "TRUE"),
    "delivery": ("alerts", "body", "TRUE"),
    "thread": ("threads", "state", "TRUE"),
    "handling": ("handlings", "body", "TRUE"),
    "watchdog": ("meta", "value", "key = 'watchdog'"),
    "timer": ("timers", "payload", "TRUE"),
    "change": ("changes", "body", "body IS NOT NULL"),
    "parked": ("dead_changes", "change", "TRUE"),
    "given": ("executions", "given", "TRUE"),
    "snapshot": ("executions", "snapshot", "TRUE"),
    "definition": ("definitions", "text", "TRUE"),
    "token": ("tokens", "token", "TRUE"),
    "audit": ("audit", "entry", "TRUE"),
}


def _finished(status: str) -> str:
    text = f'{{"status": "{status}"}}'
    return (
        f"UPDATE runs SET status = '{status}', watch_at = NULL, expires_at = NULL, run = '{text}'"
    )


#: What else a row may say that this version does not understand, by kind.
_STATEMENTS: dict[str, tuple[str, ...]] = {
    "run": (
        f"UPDATE runs SET status = 'LATER' WHERE {_OF_KEY}",
        f"UPDATE runs SET version = version + 7 WHERE {_OF_KEY}",
        f"UPDATE runs SET run = json_set(run, '$.status', 'LATER') WHERE {_OF_KEY}",
        f"UPDATE runs SET run = json_set(run, '$.openedAt', 5) WHERE {_OF_KEY}",
        f"UPDATE runs SET run = json_remove(run, '$.leaseUntil') WHERE {_OF_KEY}",
        "UPDATE runs SET version = 9223372036854775807,"
        f" run = json_set(run, '$.version', 9223372036854775807) WHERE {_OF_KEY}",
    ),
    "run COMPLETED": (_finished("COMPLETED"),),
    "run FAILED_FINAL": (_finished("FAILED_FINAL"),),
    "backfill": (
        "UPDATE backfills SET version = version + 7",
        "UPDATE backfills SET pipeline = 'another'",
        "UPDATE backfills SET body = json_set(body, '$.state', 'LATER')",
        "UPDATE backfills SET body = json_set(body, '$.ended', 'CCCCCCCCC')",
        "UPDATE backfills SET body = json_set(body, '$.ended', 'Q...')",
        "UPDATE backfills SET body = json_set(body, '$.dates', '2026-02-30')",
        "UPDATE backfills SET body = json_set(body, '$.dates', '2026-03-02;2026-03-01')",
        "UPDATE backfills SET body = json_set(body, '$.maxConcurrent', 0)",
        "UPDATE backfills SET body = json_set(body, '$.state', 'DONE')",
        "UPDATE backfills SET body = json_set(body, '$.begun', json('{\"2020-01-01\": {}}'))",
        "UPDATE backfills SET body = json_remove(body, '$.requestedAt')",
    ),
    "thread": (
        "UPDATE threads SET severity = 'later', created_at = 9000000000000000000",
        "UPDATE threads SET claim_until = -9000000000000000000",
    ),
    "delivery": ("UPDATE alerts SET state = 'later'",),
    "job record": ("UPDATE job_log SET record = json_set(record, '$.event', 'fail')",),
    "timer": ("UPDATE timers SET due_at = -9000000000000000000, payload = '{'",),
}


def spoiler_of_file(database: Database, runs: str = _OF_KEY) -> Spoil:
    """What can't be written into the file at all, such as text that an index refuses, is passed over.
    `runs` says which of the runs.
    """

    def spoil(kind: str, number: int) -> bool:
        forms = ((text.replace(_OF_KEY, runs), given) for text, given in _forms(kind))
        usable = (form for form in forms if _fits(database, form))
        chosen = next(islice(usable, number, None), None)
        if chosen is not None:
            done = database.write(lambda connection: connection.execute(*chosen))
            assert done.rowcount, f"there is no {kind} to spoil"
        return chosen is not None

    return spoil


def _forms(kind: str) -> Iterator[Statement]:
    if kind in _COLUMNS:
        table, column, where = _COLUMNS[kind]
        for text in _TEXTS:
            yield f"UPDATE {table} SET {column} = ? WHERE {where}", (text,)
        yield f"UPDATE {table} SET {column} = CAST(? AS TEXT) WHERE {where}", (_NO_TEXT,)
    for statement in _STATEMENTS.get(kind, ()):
        yield statement, ()


def _fits(database: Database, form: Statement) -> bool:
    def attempt(connection: sqlite3.Connection) -> None:
        connection.execute(*form)
        raise _TriedError

    try:
        database.write(attempt)
    except sqlite3.Error:
        return False
    except _TriedError:
        return True
    raise AssertionError("an attempt always ends")


class _TriedError(Exception):
    """Nothing was to be kept."""


Attributes = dict[str, Any]
Form = Callable[[Attributes], Attributes]


def only(**kept: Any) -> Form:
    """The keys of a row, and these attributes."""
    return lambda row: {"PK": row["PK"], "SK": row["SK"], **kept}


def without(*names: str) -> Form:
    return lambda row: {name: value for name, value in row.items() if name not in names}


def having(**changed: Any) -> Form:
    return lambda row: {**row, **changed}


def _s(text: str) -> Attributes:
    return {"S": text}


def _n(number: int | str) -> Attributes:
    return {"N": str(number)}


_CUT = _s('{"key": {"pipel')
_LIST: Attributes = {"L": []}
_NULL: Attributes = {"NULL": True}

#: By kind: the table, how the sort keys of its rows begin, and its hostile forms.
_ITEMS: dict[str, tuple[str, str, tuple[Form, ...]]] = {
    "run": (
        "control",
        f"TRIGGER#{KEY.schedule_id}#{KEY.date}",
        (
            only(),
            only(status=_s("RUNNING")),
            only(status=_s("RUNNING"), watchShard=_s("RUN#0"), watchAt=_s("0")),  # it is listed
            only(status=_LIST, watchShard=_s("RUN#0"), watchAt=_s("0")),
            only(status=_s("LATER")),
            only(status=_n(5)),
            only(status=_s("COMPLETED"), version=_s("two")),
            without("executionName"),
            without("status"),
            without("attempt"),
            without("status", "openedAt"),
            without("leaseUntil"),
            having(status=_s("LATER")),
            having(openedAt=_n(5)),
            having(version=_s("two")),
            having(version=_n("1.5")),
            having(version=_n("9" * 38)),
            having(attempt=_n("1e100")),
            having(attempt=_n(-1)),
            having(attempt=_LIST),
            having(verdict=_CUT),
            having(evidence=_LIST),
            having(slaArmed=_s("5")),
            having(outbox=_s("text")),
            having(status=_NULL),
        ),
    ),
    "run COMPLETED": ("control", "TRIGGER#", (only(status=_s("COMPLETED")),)),
    "run FAILED_FINAL": ("control", "TRIGGER#", (only(status=_s("FAILED_FINAL")),)),
    "reading": (
        "control",
        "SENSOR#",
        (only(fieldsText=_CUT), only(fieldsText=_s("[]")), only(fieldsText=_s("5"))),
    ),
    "config": (
        "control",
        "CONFIG#ACTIVE",
        (
            having(config=_CUT),
            having(config=_s("{}")),
            having(config=_LIST),
            having(version=_s("two")),
            having(adoptedAt=_s("yesterday")),
            without("configHash"),
        ),
    ),
    "wanted": ("control", "CONFIG", (having(config=_CUT), without("config"), having(config=_NULL))),
    "armed": ("control", "CONFIG#ACTIVE", (having(armed=_CUT), having(armed=_LIST))),
    "watch": (
        "control",
        "MARK#sla#",
        (
            only(),
            only(version=_s("two")),
            without("version"),
            having(slaArmed=_CUT),
            having(slaTold=_LIST),
            having(slaVerdict=_s("LATER")),
        ),
    ),
    "baseline": (
        "control",
        "MARK#postrun-baseline#",
        (only(), having(baseline=_CUT), having(attempt=_s("x"))),
    ),
    "outbox": (
        "control",
        "",
        (
            lambda row: {**row, "outbox": {"L": [_CUT]}} if "outbox" in row else row,
            lambda row: {**row, "outbox": {"L": [_n(5)]}} if "outbox" in row else row,
            lambda row: {**row, "outboxAt": _n(5)} if "outbox" in row else row,
        ),
    ),
    "request": ("control", "RERUN_REQUEST#", (having(SK=_s("RERUN_REQUEST#stream#never")),)),
    "backfill": (
        "control",
        "BACKFILL#",
        (
            only(),
            only(version=_n(1)),
            having(backfill=_CUT),
            having(backfill=_s("{}")),
            having(backfill=_s("[]")),
            having(backfill=_LIST),
            having(backfill=_NULL),
            having(version=_s("two")),
            having(version=_n(7)),
            having(version=_n("9" * 38)),
            without("backfill"),
            without("version"),
        ),
    ),
    "grant": ("rerun", "RERUN#", (only(), having(triggeredAt=_n(5), request=_NULL, reason=_LIST))),
    "job record": (
        "joblog",
        "JOB#",
        (
            only(event=_s("success"), attempt=_n(0)),
            having(at=_LIST, category=_LIST, duration=_s("x")),
            having(runId=_n(5), error=_LIST),
        ),
    ),
    "event": (
        "events",
        "1",
        (
            lambda row: {name: value for name, value in row.items() if name in ("PK", "SK")},
            having(detail=_CUT),
            having(severity=_s("later")),
            having(tags=_LIST, attempt=_s("x")),
            without("eventId", "severity", "message"),
        ),
    ),
    "delivery": (
        "events",
        "ALERTED#",
        (only(), having(event=_CUT), having(state=_s("later")), having(version=_s("two"))),
    ),
    "thread": (
        "events",
        "THREAD#",
        (
            only(),
            only(threadTs=_LIST),
            having(state=_s("later")),
            having(createdAt=_n("1.5")),
            having(version=_s("two")),
            having(channelId=_n(5)),
        ),
    ),
    "handling": (
        "events",
        "HANDLING#",
        (
            only(),
            having(body=_CUT),
            having(body=_s("{}")),
            having(body=_LIST),
            having(version=_s("two")),
            having(version=_n("1.5")),
        ),
    ),
    "watchdog": (
        "control",
        "WATCHDOG",
        (
            only(),
            only(version=_s("two")),
            having(lagging=_CUT),
            having(passUntil=_LIST),
            having(version=_n("1.5")),
            having(version=_n("9" * 38)),
        ),
    ),
}


def spoiler_of_tables(tables: Any, names: Mapping[str, str], forget: Callable[[], None]) -> Spoil:
    """Rows are put as another program would put them; what was noted of them before is forgotten."""

    def spoil(kind: str, number: int) -> bool:
        forget()
        if kind not in _ITEMS:
            return False
        table, prefix, forms = _ITEMS[kind]
        if number >= len(forms):
            return False
        rows = [
            row
            for row in _rows_of(tables, names[table])
            if row["SK"]["S"].startswith(prefix) and (kind != "wanted" or row["SK"]["S"] == prefix)
        ]
        assert rows, f"there is no {kind} to spoil"
        for row in rows:
            tables.put_item(TableName=names[table], Item=forms[number](row))
        return True

    return spoil


def _rows_of(tables: Any, name: str) -> list[Attributes]:
    found = tables.scan(TableName=name)["Items"]
    return [dict(row) for row in found]
