"""Backup: a sound copy of one moment, while others write."""

from pathlib import Path

import pytest

from adapters.sqlite.probes import keys, put
from interlock.adapters.sqlite.backup import back_up
from interlock.adapters.sqlite.database import Database
from interlock.errors import UnavailableError


def test_a_copy_holds_what_the_store_held(database: Database, tmp_path: Path) -> None:
    database.write(put("a"))
    back_up(database, tmp_path / "copy.db")
    with Database(tmp_path / "copy.db") as copy:
        assert copy.read(keys) == {"a"}


def test_a_copy_is_of_one_moment_and_no_write_makes_it_begin_again(
    file: Database, tmp_path: Path
) -> None:
    for number in range(100):
        file.write(put(f"before-{number}", "x" * 20_000))
    before, left = file.read(keys), []

    def write_meanwhile(pages: int, total: int) -> None:
        left.append(pages)
        file.write(put(f"meanwhile-{pages}"))

    back_up(file, tmp_path / "copy.db", write_meanwhile)
    assert len(left) > 3 and left == sorted(left, reverse=True) and len(set(left)) == len(left)
    with Database(tmp_path / "copy.db") as copy:
        assert copy.read(keys) == before


def test_a_copy_takes_the_place_of_an_older_one(file: Database, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    back_up(file, target)
    file.write(put("a"))
    back_up(file, target)
    with Database(target) as copy:
        assert copy.read(keys) == {"a"}
    assert not [found for found in tmp_path.iterdir() if "unfinished" in found.name]


def test_a_copy_that_cannot_be_made_leaves_the_older_one(file: Database, tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match=r"copy\.db"):
        back_up(file, tmp_path / "missing" / "copy.db")
    target = tmp_path / "copy.db"
    back_up(file, target)
    file.close()
    with pytest.raises(UnavailableError, match="closed"):
        back_up(file, target)
    Database(target).close()
