"""Writer: memory that runs out fails a group of writes, and never the thread that makes them."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from adapters.sqlite.probes import keys, put
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.writer import Writer
from interlock.errors import UnavailableError


class Starved(sqlite3.Connection):
    """A connection for which memory runs out at a statement, this many times."""

    statement, times = "", 0

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        if self.times and sql.startswith(self.statement):
            self.times -= 1
            raise MemoryError
        return super().execute(sql, parameters)


@pytest.fixture
def connection(path: Path) -> Iterator[Starved]:
    with Database(path):
        pass
    opened = sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=Starved)
    yield opened
    opened.close()


@pytest.fixture
def writer(connection: Starved) -> Iterator[Writer]:
    writer = Writer(connection)
    yield writer
    writer.close()


@pytest.mark.parametrize("statement", ["BEGIN", "SAVEPOINT", "INSERT", "RELEASE", "COMMIT"])
def test_memory_that_runs_out_fails_the_write_and_the_next_one_succeeds(
    connection: Starved, writer: Writer, statement: str
) -> None:
    connection.statement, connection.times = statement, 1

    with pytest.raises(MemoryError):
        writer.write(put("lost"))

    assert writer.write(put("kept")) == "kept"
    assert writer.write(keys) == {"kept"}


def test_a_transaction_is_rolled_back_however_often_that_fails(
    connection: Starved, writer: Writer
) -> None:
    def starve(used: sqlite3.Connection) -> None:
        put("lost")(used)
        connection.statement, connection.times = "RO", 4  # ROLLBACK TO, and ROLLBACK
        raise MemoryError

    with pytest.raises(MemoryError):
        writer.write(starve)

    writer.write(put("kept"))
    assert writer.write(keys) == {"kept"}


def test_memory_that_runs_out_is_reported_in_our_words(file: Database) -> None:
    def starve(connection: sqlite3.Connection) -> None:
        raise MemoryError

    with pytest.raises(UnavailableError, match="out of memory; free some memory"):
        file.write(starve)
    with pytest.raises(UnavailableError, match="out of memory"):
        file.read(starve)

    file.write(put("kept"))
    assert file.read(keys) == {"kept"}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_ends_fails_its_callers_and_all_later_ones(
    connection: Starved,
) -> None:
    class Fatal(BaseException):
        pass

    class Deadly(Writer):
        def _abandon(self, group: Any, error: BaseException) -> None:
            raise Fatal

    writer = Deadly(connection)
    connection.statement, connection.times = "BEGIN", 1

    with pytest.raises(UnavailableError, match="the writer thread of the state file has ended"):
        writer.write(put("lost"))
    writer.thread.join(60)

    with pytest.raises(UnavailableError):
        writer.write(put("lost"))
