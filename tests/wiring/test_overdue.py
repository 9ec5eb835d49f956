"""Who watches the watchdog: a controller that has hung ends itself, one that works does not."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from interlock.adapters.local.database import Database
from interlock.adapters.local.watch import SqliteWatch
from interlock.errors import UnavailableError
from interlock.ports import WatchdogState
from interlock.wiring.home import utc_now
from interlock.wiring.overdue import Overdue

EVERY = timedelta(0)
PATIENCE = timedelta(milliseconds=100)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "interlock.db") as database:
        yield database


def test_a_watchdog_in_time_is_left_alone(database: Database) -> None:
    _pass(database, ago=timedelta(0))
    assert _look(database, every=timedelta(hours=1)) == []


def test_a_writer_that_has_hung_ends_the_process(database: Database) -> None:
    _pass(database, ago=timedelta(hours=1))
    release = threading.Event()
    hung = threading.Thread(target=database.write, args=(lambda connection: release.wait(20),))
    hung.start()

    said = _look(database)

    release.set()
    hung.join()
    assert said and "writer" in said[0]


def test_a_loop_that_has_hung_ends_the_process_too(database: Database) -> None:
    _pass(database, ago=timedelta(hours=1))

    said = _look(database)

    assert said and "nothing moves it on" in said[0]


def test_lateness_must_last(database: Database) -> None:
    """As after a sleep of the whole machine: the next pass comes at once."""
    said: list[str] = []
    overdue = Overdue(
        database, SqliteWatch(database), utc_now, EVERY, said.append, timedelta(minutes=1)
    )
    _pass(database, ago=timedelta(hours=1))

    overdue.look()
    overdue.look()

    assert said == []


def _look(database: Database, every: timedelta = EVERY) -> list[str]:
    said: list[str] = []
    overdue = Overdue(database, SqliteWatch(database), utc_now, every, said.append, PATIENCE)
    waiting = threading.Event()
    for _ in range(100):
        overdue.look()
        if said:
            break
        waiting.wait(0.01)
    return said[:1]


def _pass(database: Database, ago: timedelta) -> None:
    watch = SqliteWatch(database)
    state: WatchdogState = watch.load()
    watch.save(
        msgspec.structs.replace(state, version=state.version + 1, last_pass_at=utc_now() - ago)
    )


def test_a_store_that_refuses_to_be_written_to_has_not_hung(database: Database) -> None:
    _pass(database, ago=timedelta(hours=1))

    assert _look(_Full(database)) == []


class _Full(Database):
    """A disk on which nothing more fits."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.read = database.read  # type: ignore[method-assign]

    def write(self, unit: Callable[[sqlite3.Connection], Any], *, lazy: bool = False) -> Any:
        raise UnavailableError("the disk is full")
