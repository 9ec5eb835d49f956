"""Families: the homes in which the ports' promises must hold. A new home is a new row."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import pytest

from aws.homes import on_moto, quick
from contracts.home import Home
from contracts.hostile import spoiler_of_file
from interlock.adapters.sqlite.database import MEMORY, Database
from interlock.adapters.sqlite.store import Store
from interlock.adapters.sqlite.workflows import Progress
from interlock.errors import UnavailableError
from interlock.ports.engine import Clock

T = TypeVar("T")


@dataclass(frozen=True)
class Family:
    """How a home is made, empty."""

    name: str
    open: Callable[[Path, Clock], AbstractContextManager[Home]]
    #: How many random sequences of calls are affordable there, and how many rows.
    sequences: int
    rows: int = 1000


@contextmanager
def _in_memory(folder: Path, clock: Clock) -> Iterator[Home]:
    with Database(MEMORY) as database:
        yield _sqlite(database, clock)


@contextmanager
def _in_a_file(folder: Path, clock: Clock) -> Iterator[Home]:
    with Database(folder / "interlock.db") as database:
        yield _sqlite(database, clock)


#: Those in which each call can be broken at each point of it.
BREAKABLE = (
    pytest.param(Family("sqlite memory", _in_memory, 80), id="sqlite-memory"),
    pytest.param(Family("sqlite file", _in_a_file, 20), id="sqlite-file"),
    pytest.param(Family("dynamodb", quick, 40), id="dynamodb"),
)
#: moto is too slow for that, and keeps the quick tables honest in all the rest.
FAMILIES = (
    *BREAKABLE,
    pytest.param(Family("moto", on_moto, 1, rows=150), id="dynamodb-moto"),
)


def _sqlite(database: Database, clock: Clock) -> Home:
    store = Store(database, clock)
    return Home(
        pipelines=store.pipelines,
        sensors=store.sensors,
        runs=store.runs,
        job_log=store.job_log,
        reruns=store.reruns,
        backfills=store.backfills,
        events=store.events,
        outbox=store.outbox,
        claims=store.claims,
        timers=store.timers,
        workflows=store.workflows,
        watch=store.watch,
        deliveries=store.deliveries,
        threads=store.threads,
        handlings=store.handlings,
        paces=store.paces,
        switches=store.switches,
        unreadable=store.unreadable,
        changes=lambda: store.changes.next("test", 10_000),
        armed=lambda: {
            timer.name: timer.due_at for timer in store.timers.due(_END_OF_TIME, 10_000)
        },
        end=lambda name: _end(store, name, clock()),
        spoil=spoiler_of_file(database),
        failing=lambda call: _sqlite(_FailingDatabase(database, call), clock),
    )


def _end(store: Store, name: str, now: datetime) -> None:
    claimed = store.workflows.claim(name, now)
    assert claimed is not None
    store.workflows.define("digest", "{}")
    ended = Progress(
        definition="digest",
        snapshot="{}",
        status="SUCCEEDED",
        state="Done",
        wake_at=now,
        ended_at=now,
    )
    store.workflows.store(claimed, ended)
    store.workflows.let_go(claimed)


class _FailingDatabase(Database):
    """A disk that breaks at the n-th statement, or right after the commit that follows the last."""

    def __init__(self, sound: Database, call: int) -> None:
        self._sound = sound
        self._left = call

    def write(self, unit: Callable[[sqlite3.Connection], T], *, lazy: bool = False) -> T:
        answer = self._sound.write(lambda connection: unit(self._broken(connection)), lazy=lazy)
        if self.is_over():
            raise UnavailableError("the answer was lost")
        return answer

    def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        return self._sound.read(lambda connection: query(self._broken(connection)))

    def is_over(self) -> bool:
        self._left -= 1
        return self._left == 0

    def _broken(self, connection: sqlite3.Connection) -> Any:
        return _FailingConnection(connection, self)


class _FailingConnection:
    def __init__(self, sound: sqlite3.Connection, database: _FailingDatabase) -> None:
        self._sound = sound
        self._database = database

    def execute(self, *given: Any) -> sqlite3.Cursor:
        self._break_if_over()
        return self._sound.execute(*given)

    def executemany(self, *given: Any) -> sqlite3.Cursor:
        self._break_if_over()
        return self._sound.executemany(*given)

    def _break_if_over(self) -> None:
        if self._database.is_over():
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error


_END_OF_TIME = datetime.fromisoformat("9999-01-01T00:00:00Z")
