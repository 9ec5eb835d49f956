"""Bytes that a disk has changed: what was text is none, and its row can still be told and removed."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from contracts.samples import KEY, NOW, a_key, a_run, an_event
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.inspection import inspect
from interlock.adapters.sqlite.retention import SqliteRetention
from interlock.adapters.sqlite.store import Store
from interlock.adapters.sqlite.tables import SCRIPTS
from interlock.domain.run import Status

OTHER = a_key(date="2026-03-04")
_WITH_THESE_COLUMNS_FIRST = 2


def damage(path: Path, text: str) -> None:
    """The quote before that piece of JSON becomes an x, wherever it stands in the file."""
    held, sound = path.read_bytes(), f'"{text}'.encode()
    assert sound in held
    path.write_bytes(held.replace(sound, f"x{text}".encode()))


def fill(path: Path, scripts: tuple[str, ...] = SCRIPTS) -> None:
    """A run and an event that are damaged, and a run that is sound."""
    with Database(path, scripts=scripts) as database:
        store = Store(database, lambda: NOW)
        store.runs.open(a_run(attempt=7))
        store.runs.open(a_run(OTHER))
        store.events.publish([an_event(8)])
    damage(path, 'attempt":7')
    damage(path, "told of 8")


@pytest.fixture(params=[len(SCRIPTS), _WITH_THESE_COLUMNS_FIRST], ids=["new", "migrated"])
def database(request: pytest.FixtureRequest, path: Path) -> Iterator[Database]:
    fill(path, SCRIPTS[: request.param])
    with Database(path) as opened:
        yield opened


def test_the_rows_are_named_and_the_file_is_sound(database: Database) -> None:
    assert sorted(row.table for row in inspect(database)) == ["events", "runs"]
    (answer,) = database.read(
        lambda connection: connection.execute("PRAGMA quick_check").fetchone()
    )
    assert answer == "ok"


def test_what_the_doctor_advises_gives_the_date_back(database: Database) -> None:
    store = Store(database, lambda: NOW)
    assert store.runs.find([KEY])[KEY].status is Status.UNREADABLE
    (row,) = (row for row in inspect(database) if row.table == "runs")
    database.write(lambda connection: connection.execute(f"DELETE FROM runs WHERE {row.key}"))
    assert store.runs.find([KEY, OTHER]).keys() == {OTHER}
    assert store.runs.open(a_run())


def test_what_has_expired_goes_with_them(database: Database) -> None:
    database.write(lambda connection: connection.execute("UPDATE runs SET expires_at = 0"))
    removed = SqliteRetention(database).sweep(NOW + timedelta(days=4000))
    assert (removed["runs"], removed["events"]) == (2, 1)
