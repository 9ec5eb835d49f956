"""Presence: a missing state file stores nothing, and every writer gets an error."""

import os
import shutil
from concurrent.futures import Future
from pathlib import Path

import pytest

from adapters.sqlite.probes import keys, put
from interlock.adapters.sqlite.database import Database
from interlock.errors import UnavailableError


@pytest.mark.parametrize("name", ["interlock.db", "interlock.db-wal", "interlock.db-shm"])
def test_a_file_that_was_deleted_takes_nothing_more(file: Database, path: Path, name: str) -> None:
    file.write(put("before"))
    assert file.read(keys) == {"before"}
    path.with_name(name).unlink()

    with pytest.raises(UnavailableError, match=rf"{name} was deleted or moved.*the last backup"):
        file.write(put("after"))
    assert file.read(keys) == {"before"}
    assert name in (file.problem() or "")


@pytest.mark.parametrize("name", ["interlock.db", "interlock.db-wal", "interlock.db-shm"])
def test_a_file_that_was_just_opened_knows_all_of_its_parts(path: Path, name: str) -> None:
    """Also one that was made by an earlier process, and has not been written to by this one."""
    Database(path).close()
    with Database(path) as database:
        path.with_name(name).unlink()
        assert database.problem() is not None


def test_a_file_that_was_replaced_takes_nothing_more(file: Database, path: Path) -> None:
    file.write(put("before"))
    copy = path.with_name("copy")
    shutil.copy(path, copy)
    copy.replace(path)

    with pytest.raises(UnavailableError, match="replaced by another file"):
        file.write(put("after"))


def test_a_caller_that_does_not_wait_gets_the_error_too(file: Database, path: Path) -> None:
    heard: Future[BaseException | None] = Future()
    path.unlink()

    file.submit(put("a"), heard.set_result)

    assert isinstance(heard.result(60), UnavailableError)


def test_what_went_into_a_file_that_goes_meanwhile_is_not_said_to_be_kept(
    file: Database, path: Path
) -> None:
    with pytest.raises(UnavailableError, match="deleted or moved"):
        file.write(lambda connection: path.unlink())


def test_a_thread_that_never_read_does_not_read_what_has_taken_its_place(
    file: Database, path: Path
) -> None:
    with Database(path.with_name("other.db")) as other:
        other.write(put("of another"))
    path.with_name("other.db").replace(path)

    with pytest.raises(UnavailableError, match="replaced by another file"):
        file.read(keys)


def test_a_file_that_is_put_back_is_used_again(file: Database, path: Path) -> None:
    aside = path.with_name("aside")
    path.rename(aside)
    with pytest.raises(UnavailableError):
        file.write(put("refused"))
    os.rename(aside, path)

    file.write(put("kept"))
    assert file.read(keys) == {"kept"} and file.problem() is None


def test_further_files_can_be_needed(file: Database, path: Path) -> None:
    lock = path.with_name("interlock.db.lock")
    lock.touch()
    file.needs(lock)
    file.write(put("a"))
    lock.unlink()

    with pytest.raises(UnavailableError, match=r"interlock\.db\.lock was deleted"):
        file.write(put("b"))
