"""Runs: run records, each written with everything that must not be stored without it."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from interlock.adapters.local import outbox, reruns
from interlock.adapters.local.database import Database
from interlock.adapters.local.marks import baseline_of, put_baseline
from interlock.adapters.local.rows import decoder, listed, maybe_micros, micros, run_columns
from interlock.domain import canonical
from interlock.domain.event import Event
from interlock.domain.run import Run, RunKey, predecessors
from interlock.domain.watching import TELL_GRACE, expires_at, watch_at
from interlock.errors import NotFoundError
from interlock.ports import Baseline, Clock, RerunRecord, RerunRequest

_run = decoder(Run).decode

#: A character after every character of a date.
_AFTER = "~"
_LIVE = "(expires_at IS NULL OR expires_at > ?)"


class SqliteRuns:
    """A run that has expired is absent: its date can be opened again."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def get(self, key: RunKey) -> Run:
        run = self.find([key]).get(key)
        if run is None:
            raise NotFoundError(f"{key} has no run")
        return run

    def find(self, keys: Collection[RunKey]) -> dict[RunKey, Run]:
        if not keys:
            return {}
        wanted, now = listed(run_columns(key) for key in keys), micros(self._clock())
        rows = self._database.read(lambda connection: _found(connection, wanted, now))
        return {run.key: run for run in map(_run, rows)}

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

    def baseline(self, key: RunKey) -> Baseline | None:
        return baseline_of(self._database, key, self._clock())

    def due(self, now: datetime) -> list[Run]:
        """In the order in which they became due; those with something left to tell come first."""

        def query(connection: sqlite3.Connection) -> list[str]:
            untold = _untold(connection, now)
            watched = connection.execute(
                f"SELECT run FROM runs WHERE watch_at <= ? AND {_LIVE} ORDER BY watch_at",
                (micros(now), micros(now)),
            )
            return [*untold, *(text for (text,) in watched)]

        return list({run.key: run for run in map(_run, self._database.read(query))}.values())

    def active(self) -> list[Run]:
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT run FROM runs WHERE status NOT IN ('COMPLETED', 'FAILED_FINAL')"
                f" AND {_LIVE} ORDER BY opened_at",
                (micros(self._clock()),),
            ).fetchall()
        )
        return [_run(text) for (text,) in rows]

    def of_pipeline(self, pipeline_id: str | None, since: str, until: str, limit: int) -> list[Run]:
        """`until` includes the hours of that day."""
        place, given = ("", ()) if pipeline_id is None else ("pipeline = ? AND", (pipeline_id,))
        rows = self._database.read(
            lambda connection: connection.execute(
                f"SELECT run FROM runs WHERE {place} date BETWEEN ? AND ? AND {_LIVE}"
                " ORDER BY date DESC, pipeline, schedule LIMIT ?",
                (*given, since, until + _AFTER, micros(self._clock()), limit),
            ).fetchall()
        )
        return [_run(text) for (text,) in rows]


def owner_of(key: RunKey) -> str:
    """The name under which a run's events wait to be told."""
    return f"{key}/dry" if key.dry else str(key)


def _found(connection: sqlite3.Connection, wanted: str, now: int) -> list[str]:
    rows = connection.execute(
        "SELECT run FROM json_each(?) AS wanted CROSS JOIN runs"
        " ON pipeline = wanted.value ->> 0 AND schedule = wanted.value ->> 1"
        f" AND date = wanted.value ->> 2 AND dry = wanted.value ->> 3 WHERE {_LIVE}",
        (wanted, now),
    )
    return [text for (text,) in rows]


def _untold(connection: sqlite3.Connection, now: datetime) -> list[str]:
    owners = connection.execute(
        "SELECT DISTINCT owner FROM outbox WHERE of_run AND at <= ? ORDER BY at",
        (micros(now - TELL_GRACE),),
    ).fetchall()
    return _found(connection, listed(_columns_of(owner) for (owner,) in owners), micros(now))


def _columns_of(owner: str) -> tuple[str, str, str, int]:
    pipeline, schedule, date, *dry = owner.split("/")
    return pipeline, schedule, date, len(dry)


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
