"""Runs: run records, each written together with everything that depends on it."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

import msgspec

from interlock.adapters.sqlite import outbox, reruns
from interlock.adapters.sqlite.claims import baseline_of, put_baseline, put_watch
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import (
    Reader,
    Row,
    decoder,
    listed,
    maybe_micros,
    micros,
    run_columns,
)
from interlock.domain import canonical
from interlock.domain.baseline import Baseline
from interlock.domain.event import Event
from interlock.domain.partition import Label
from interlock.domain.rerun_request import RerunRecord, RerunRequest
from interlock.domain.run import (
    Run,
    RunKey,
    Status,
    finished_run,
    predecessors,
    unreadable_run,
)
from interlock.domain.sla import SlaWatch
from interlock.domain.unreadable import RowKind, UnreadableRow, unreadable_error
from interlock.domain.watching import TELL_GRACE, expires_at, watch_at
from interlock.errors import NotFoundError
from interlock.ports.engine import Clock

_decoded = decoder(Run).decode

#: A character after every character of a date.
_AFTER = "~"
_LIVE = "(expires_at IS NULL OR expires_at > ?)"
#: The owner key of a run's events begins with pipeline, schedule and date.
_PLACE = 3


class SqliteRuns:
    """An expired run counts as absent: its date can be opened again."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def get(self, key: RunKey) -> Run:
        run = self.find([key]).get(key)
        if run is None:
            raise NotFoundError(f"{key} has no run")
        if run.status is Status.UNREADABLE:
            problem = "" if run.failure is None else run.failure.message
            raise unreadable_error(f"the stored row of {key}", problem)
        return run

    def find(self, keys: Collection[RunKey]) -> dict[RunKey, Run]:
        if not keys:
            return {}
        wanted, now = listed(run_columns(key) for key in keys), micros(self._clock())
        rows = self._database.read(lambda connection: _found(connection, wanted, now))
        return {run.key: run for run in runs_of(self._database, rows)}

    def open(self, run: Run, events: Sequence[Event] = ()) -> bool:
        now = micros(self._clock())

        def unit(connection: sqlite3.Connection) -> bool:
            won = _open(connection, run, now)
            if won:
                _put_outbox(connection, run, events)
            return won

        return self._database.write(unit)

    def save(
        self,
        run: Run,
        events: Sequence[Event] = (),
        *,
        baseline: Baseline | None = None,
        rerun: RerunRecord | None = None,
        request: RerunRequest | None = None,
    ) -> bool:
        def unit(connection: sqlite3.Connection) -> bool:
            if not _save(connection, run):
                return False
            if baseline is not None:
                put_baseline(connection, run.key, baseline, run.changed_at)
            if rerun is not None:
                reruns.grant(connection, rerun)
            if request is not None:
                reruns.put_request(connection, request)
            _put_outbox(connection, run, events)
            return True

        return self._database.write(unit)

    def remove(self, run: Run, watch: SlaWatch, events: Sequence[Event] = ()) -> bool:
        now = self._clock()

        def unit(connection: sqlite3.Connection) -> bool:
            if not _is_stored(connection, run) or not put_watch(connection, watch, events, now):
                return False
            connection.execute(f"DELETE FROM runs WHERE {_EXACTLY}", _exactly(run))
            return True

        return self._database.write(unit)

    def baseline(self, key: RunKey) -> Baseline | None:
        return baseline_of(self._database, key, self._clock())

    def due(self, now: datetime) -> list[Run]:
        """In the order in which they became due; runs with unpublished events come first."""

        def query(connection: sqlite3.Connection) -> list[Row]:
            untold = _untold(connection, now)
            watched = connection.execute(
                f"SELECT {RUNS.columns} FROM runs WHERE watch_at <= ? AND {_LIVE} ORDER BY watch_at",
                (micros(now), micros(now)),
            )
            return [*untold, *watched]

        rows = self._database.read(query)
        return list({run.key: run for run in RUNS.all(self._database, rows)}.values())

    def failed_since(self, key: RunKey) -> list[Run]:
        pipeline, schedule, date, dry = run_columns(key)
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {RUNS.columns} FROM runs WHERE pipeline = ? AND schedule = ?"
                f" AND date >= ? AND dry = ? AND status = 'FAILED' AND {_LIVE}",
                (pipeline, schedule, date, dry, micros(self._clock())),
            ).fetchall()
        )
        return RUNS.all(self._database, rows)

    def active(self) -> list[Run]:
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {RUNS.columns} FROM runs WHERE status NOT IN ('COMPLETED', 'FAILED_FINAL')"
                f" AND status <> 'SKIPPED' AND {_LIVE} ORDER BY opened_at",
                (micros(self._clock()),),
            ).fetchall()
        )
        return RUNS.all(self._database, rows)

    def open_executions(self) -> dict[str, RunKey]:
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT execution_name, pipeline, schedule, date, dry FROM runs"
                " WHERE status NOT IN ('COMPLETED', 'FAILED_FINAL')"  # as its index has it
                f" AND status IN ('PENDING', 'TRIGGERING', 'RUNNING') AND {_LIVE}",
                (micros(self._clock()),),
            ).fetchall()
        )
        return {name: _key(place) for name, *place in rows}

    def of_pipeline(self, pipeline_id: str | None, since: str, until: str, limit: int) -> list[Run]:
        """`until` includes the hours of that day."""
        place, given = ("", ()) if pipeline_id is None else ("pipeline = ? AND", (pipeline_id,))
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT {RUNS.columns} FROM runs WHERE {place} date BETWEEN ? AND ? AND {_LIVE}"
                " ORDER BY date DESC, pipeline, schedule LIMIT ?",
                (*given, since, until + _AFTER, micros(self._clock()), limit),
            ).fetchall()
        )
        return runs_of(self._database, rows)


def runs_of(database: Database, rows: Iterable[Row]) -> list[Run]:
    """The runs of these rows; an unreadable one with a valid date has the status UNREADABLE."""
    found = ((row, RUNS.read(database, row)) for row in rows)
    return [
        unreadable_run(_key(row), each.problem) if isinstance(each, UnreadableRow) else each
        for row, each in found
        if not isinstance(each, UnreadableRow) or has_date(row)
    ]


def owner_of(key: RunKey) -> str:
    """The owner key of a run's waiting events."""
    return f"{key}/dry" if key.dry else str(key)


def _found(connection: sqlite3.Connection, wanted: str, now: int) -> list[Row]:
    return connection.execute(
        f"SELECT {RUNS.columns} FROM json_each(?) AS wanted CROSS JOIN runs"
        " ON pipeline = wanted.value ->> 0 AND schedule = wanted.value ->> 1"
        f" AND date = wanted.value ->> 2 AND dry = wanted.value ->> 3 WHERE {_LIVE}",
        (wanted, now),
    ).fetchall()


def _untold(connection: sqlite3.Connection, now: datetime) -> list[Row]:
    owners = connection.execute(
        "SELECT DISTINCT owner FROM outbox WHERE of_run AND at <= ? ORDER BY at",
        (micros(now - TELL_GRACE),),
    ).fetchall()
    parts = (owner.split("/") for (owner,) in owners)
    wanted = listed((*each[:_PLACE], len(each) - _PLACE) for each in parts if len(each) >= _PLACE)
    return _found(connection, wanted, micros(now))


def _read(row: Row) -> Run:
    """Raises ValueError if the text contradicts the columns that writes are conditional on."""
    run = _full_or_finished(row)
    key = run.key
    Label.parse(key.date)
    told = (run.status, run.version, run.attempt)
    if (key.pipeline_id, key.schedule_id, key.date, key.dry, *told) != row[:7]:
        columns = " ".join(map(str, row[4:7]))
        raise ValueError(
            f"its columns say {columns}, but its text says {key} {' '.join(map(str, told))}"
        )
    if run.status is Status.UNREADABLE:
        raise ValueError(f"{run.status} is not the status of a stored run")
    return run


def _full_or_finished(row: Row) -> Run:
    try:
        return _decoded(row[7])
    except msgspec.ValidationError:
        said = canonical.decode(row[7])
        if "executionName" in said:
            raise
        return finished_run(_key(row), Status(said["status"]), row[5], row[6])


def _key(row: Row) -> RunKey:
    pipeline, schedule, date, dry = row[:4]
    return RunKey(pipeline, schedule, date, bool(dry))


def has_date(row: Row) -> bool:
    """Whether the third column, the date of a run, is valid."""
    try:
        Label.parse(row[2])
    except ValueError:
        return False
    return True


RUNS = Reader(
    "runs",
    "pipeline, schedule, date, dry, status, version, attempt, run",
    4,
    _read,
    kind=RowKind.RUN,
)


def _open(connection: sqlite3.Connection, run: Run, now: int) -> bool:
    done = connection.execute(
        "INSERT INTO runs (pipeline, schedule, date, dry,"
        " status, version, attempt, execution_name, opened_at, watch_at, expires_at, run)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (pipeline, schedule, date, dry) DO UPDATE SET"
        " status = excluded.status, version = excluded.version, attempt = excluded.attempt,"
        " execution_name = excluded.execution_name, opened_at = excluded.opened_at,"
        " watch_at = excluded.watch_at, expires_at = excluded.expires_at, run = excluded.run"
        " WHERE runs.expires_at <= ?",
        (*run_columns(run.key), *_values(run), now),
    )
    return done.rowcount == 1


def _save(connection: sqlite3.Connection, run: Run) -> bool:
    before = listed(sorted(predecessors(run)))
    done = connection.execute(
        "UPDATE runs SET status = ?, version = ?, attempt = ?, execution_name = ?, opened_at = ?,"
        " watch_at = ?, expires_at = ?, run = ?"
        " WHERE pipeline = ? AND schedule = ? AND date = ? AND dry = ? AND version = ? AND EXISTS"
        " (SELECT 1 FROM json_each(?) WHERE value ->> 0 = attempt AND value ->> 1 = status)",
        (*_values(run), *run_columns(run.key), run.version - 1, before),
    )
    return done.rowcount == 1


_EXACTLY = "pipeline = ? AND schedule = ? AND date = ? AND dry = ? AND version = ? AND status = ?"


def _exactly(run: Run) -> tuple[object, ...]:
    return (*run_columns(run.key), run.version, run.status)


def _is_stored(connection: sqlite3.Connection, run: Run) -> bool:
    """Whether this version of a run is the last, and nothing of it waits to be published."""
    found = connection.execute(f"SELECT 1 FROM runs WHERE {_EXACTLY}", _exactly(run)).fetchone()
    waits = connection.execute("SELECT 1 FROM outbox WHERE owner = ?", (owner_of(run.key),))
    return found is not None and waits.fetchone() is None


def _values(run: Run) -> Iterable[object]:
    return (
        run.status,
        run.version,
        run.attempt,
        run.execution_name,
        micros(run.opened_at),
        maybe_micros(watch_at(run, has_outbox=False)),  # the outbox keeps its own times
        maybe_micros(expires_at(run)),
        canonical.encode(run),
    )


def _put_outbox(connection: sqlite3.Connection, run: Run, events: Sequence[Event]) -> None:
    outbox.put_in(connection, owner_of(run.key), events, run.changed_at, of_run=True)
