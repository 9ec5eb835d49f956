"""Private files: however the folder and the mask are set, no other user can read the store."""

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from adapters.sqlite.probes import keys, put
from interlock.adapters.sqlite.backup import back_up
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.lock import serving
from interlock.adapters.sqlite.tables import SCRIPTS


@pytest.fixture(autouse=True)
def _the_most_generous_mask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def open_to_others(folder: Path) -> list[str]:
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and stat.S_IMODE(path.stat().st_mode) & 0o077
    ]


def test_a_new_store_and_everything_beside_it_are_its_owners(path: Path) -> None:
    with serving(path), Database(path) as database:
        database.write(put("a"))
        back_up(database, path.with_name("copy.db"))

        assert {each.suffix for each in path.parent.iterdir()} >= {".db", ".db-wal", ".db-shm"}
        assert open_to_others(path.parent) == []


def test_a_store_that_others_could_read_loses_that(path: Path) -> None:
    with Database(path) as database:
        database.write(put("a"))
    path.chmod(0o644)
    with Database(path) as left_open:
        path.with_name(f"{path.name}-wal").chmod(0o666)
        with closing(Database(path)) as again:
            assert open_to_others(path.parent) == []
            assert again.read(keys) == left_open.read(keys) == {"a"}


def test_the_copy_before_a_migration_is_its_owners_too(path: Path) -> None:
    Database(path, scripts=SCRIPTS[:1]).close()

    Database(path).close()

    assert list(path.parent.glob("*.bak"))
    assert open_to_others(path.parent) == []


def test_a_copy_over_a_file_that_others_could_read_is_its_owners(path: Path) -> None:
    target = path.with_name("copy.db")
    target.write_text("older")
    target.chmod(0o644)

    with Database(path) as database:
        back_up(database, target)

    assert open_to_others(path.parent) == []
