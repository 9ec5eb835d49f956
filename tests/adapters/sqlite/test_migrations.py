"""Migrations: a file of any past version opens, and one that can't is refused unharmed."""

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from contracts.samples import KEY, NOW, ManualClock, a_key, a_pipeline, a_reading, a_run, a_timer
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.store import Store
from interlock.adapters.sqlite.tables import SCRIPTS
from interlock.domain.run import RunKey, Status
from interlock.errors import ConfigError

STORED = Path(__file__).parent / "stored"
VERSIONS = range(1, len(SCRIPTS) + 1)

ADDS = "CREATE TABLE added (name TEXT) STRICT; INSERT INTO added VALUES ('new')"
FAILS = "CREATE TABLE half (name TEXT) STRICT; INSERT INTO nowhere VALUES (1)"


def version(path: Path) -> int:
    return int(_ask(path, "PRAGMA user_version"))


def test_a_new_file_has_the_newest_version_and_no_copy(path: Path) -> None:
    Database(path).close()
    assert version(path) == len(SCRIPTS)
    assert [file.name for file in path.parent.iterdir()] == ["interlock.db"]


@pytest.mark.parametrize("number", VERSIONS)
def test_a_stored_file_of_every_past_version_opens_with_all_it_holds(
    number: int, path: Path
) -> None:
    _restore(STORED / f"v{number}.sql", path)
    assert version(path) == number
    with Database(path) as database:
        store = Store(database, lambda: NOW)
        assert store.runs.get(KEY) == a_run()
        assert store.sensors.of_pipeline(KEY.pipeline_id) == [a_reading()]
        assert [config.pipeline for config in store.pipelines.in_force()] == [a_pipeline()]
        assert store.timers.due(a_timer().due_at, 10) == [a_timer()]
    assert version(path) == len(SCRIPTS)


@pytest.mark.parametrize(
    ("key", "status", "expires"),
    [
        (KEY, Status.FAILED, False),
        (KEY, Status.RUNNING, False),
        (a_key(dry=True), Status.RUNNING, False),
        (a_key(dry=True), Status.COMPLETED, True),
    ],
)
def test_runs_of_an_older_file_that_were_to_expire_stay(
    path: Path, key: RunKey, status: Status, expires: bool
) -> None:
    with Database(path, scripts=SCRIPTS[:4]) as old:
        Store(old, lambda: NOW).runs.open(a_run(key, status=status))
        week = timedelta(days=7) // timedelta(microseconds=1)
        soon = f"UPDATE runs SET expires_at = opened_at + {week}"
        old.write(lambda connection: connection.execute(soon))
    with Database(path) as database:
        for days, is_there in ((90, True), (92, not expires)):
            clock = ManualClock(NOW + timedelta(days=days))
            assert bool(Store(database, clock).runs.find([key])) is is_there


def test_an_older_file_is_copied_aside_before_it_is_migrated(path: Path) -> None:
    with Database(path) as database:
        Store(database, lambda: NOW).runs.open(a_run())
    before = len(SCRIPTS)
    with Database(path, scripts=(*SCRIPTS, ADDS)) as database:
        assert Store(database, lambda: NOW).runs.get(KEY) == a_run()
    assert version(path) == before + 1
    copy = path.with_name(f"interlock.db.v{before}.bak")
    assert version(copy) == before
    with Database(copy) as old:
        assert Store(old, lambda: NOW).runs.get(KEY) == a_run()


def test_a_script_that_fails_leaves_the_file_as_it_was(path: Path) -> None:
    Database(path).close()
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        Database(path, scripts=(*SCRIPTS, ADDS, FAILS))
    assert version(path) == len(SCRIPTS) + 1  # what came before it stays done
    assert _ask(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'half'") == 0
    with Database(path, scripts=(*SCRIPTS, ADDS)):
        pass


def test_a_newer_file_is_refused_with_both_versions_named(path: Path) -> None:
    Database(path, scripts=(*SCRIPTS, ADDS)).close()
    newer, known = len(SCRIPTS) + 1, len(SCRIPTS)
    with pytest.raises(ConfigError, match=rf"version {newer}, .* up to {known}"):
        Database(path)
    assert version(path) == newer


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE theirs (name TEXT)")
    other.close()
    with pytest.raises(ConfigError, match="the database of another program"):
        Database(path)
    assert _ask(path, "SELECT count(*) FROM sqlite_schema") == 1


def _ask(path: Path, statement: str) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute(statement).fetchone()[0])
    finally:
        connection.close()


def _restore(dump: Path, path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(dump.read_text("utf-8"))
    connection.close()
