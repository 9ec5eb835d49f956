"""Database: a unit happens whole or not at all, and no caller gets its answer before it is durable."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from adapters.sqlite.probes import Crash, keys, put, wait_until
from contracts.samples import NOW, a_run
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.store import Store
from interlock.adapters.sqlite.writer import GROUP
from interlock.domain.run import Status
from interlock.errors import TransientError, UnavailableError

_FULL = sqlite3.OperationalError("database or disk is full")
_FULL.sqlite_errorcode = sqlite3.SQLITE_FULL


def test_what_a_unit_answers_is_what_its_caller_gets(database: Database) -> None:
    assert database.write(put("a")) == "a"
    assert database.read(keys) == {"a"}


def test_a_unit_that_fails_leaves_nothing_behind(database: Database) -> None:
    def fails(connection: sqlite3.Connection) -> None:
        put("a")(connection)
        raise Crash

    with pytest.raises(Crash):
        database.write(fails)
    assert database.read(keys) == set()
    database.write(put("b"))
    assert database.read(keys) == {"b"}


def test_a_statement_that_is_wrong_is_not_taken_for_a_broken_store(database: Database) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        database.write(lambda connection: connection.execute("DELETE FROM missing"))
    with pytest.raises(sqlite3.OperationalError, match="no such table"):
        database.read(lambda connection: connection.execute("SELECT 1 FROM missing"))


def test_a_unit_cannot_begin_another_one(database: Database) -> None:
    with pytest.raises(RuntimeError, match="can't start another"):
        database.write(lambda connection: database.write(put("a")))
    assert database.read(keys) == set()


def test_who_does_not_wait_hears_of_it_once_it_is_durable(database: Database) -> None:
    heard: Future[BaseException | None] = Future()

    database.submit(put("a"), heard.set_result)

    assert heard.result(60) is None
    assert database.read(keys) == {"a"} and database.commits == 1


def test_who_does_not_wait_hears_the_error_in_our_words(database: Database) -> None:
    heard: Future[BaseException | None] = Future()

    def fails(connection: sqlite3.Connection) -> None:
        put("a")(connection)
        raise _FULL

    database.submit(fails, heard.set_result)

    error = heard.result(60)
    assert isinstance(error, UnavailableError) and "free some space" in str(error)
    assert database.read(keys) == set() and database.commits == 0


def test_who_does_not_wait_hears_of_it_also_when_the_news_break(file: Database) -> None:
    def crash() -> None:
        raise Crash

    heard: Future[BaseException | None] = Future()
    file.after_commit = crash

    file.submit(put("a"), heard.set_result)

    assert heard.result(60) is None and file.read(keys) == {"a"}


def test_a_failing_callback_does_not_stop_the_writer(file: Database) -> None:
    def breaks(error: BaseException | None) -> None:
        raise Crash

    file.submit(put("a"), breaks)

    file.write(put("b"))
    assert file.read(keys) == {"a", "b"}


def test_a_closed_store_takes_nothing_to_be_written_later(path: Path) -> None:
    database = Database(path)
    database.close()

    with pytest.raises(UnavailableError):
        database.submit(put("a"), lambda error: None)


def test_many_threads_write_and_read_their_own_writes(database: Database) -> None:
    def work(number: int) -> bool:
        database.write(put(f"{number}"))
        return f"{number}" in database.read(keys)

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(work, range(200)))
    assert len(database.read(keys)) == 200


def test_a_crash_after_a_commit_loses_nothing_and_a_new_store_goes_on(database: Database) -> None:
    def crash() -> None:
        raise Crash

    run = a_run()
    database.after_commit = crash
    with pytest.raises(Crash):
        Store(database, lambda: NOW).runs.open(run)
    database.after_commit = None

    fresh = Store(database, lambda: NOW)
    assert fresh.runs.get(run.key) == run
    assert fresh.runs.save(run.to(Status.TRIGGERING, NOW))


def test_the_hook_is_called_once_for_each_unit_that_was_committed(database: Database) -> None:
    calls: list[int] = []
    database.after_commit = lambda: calls.append(len(database.read(keys)))
    database.write(put("a"))
    with pytest.raises(Crash):
        database.write(_crash)
    database.write(put("b"))
    assert calls == [1, 2]


def test_a_closed_store_is_unavailable(path: Path) -> None:
    database = Database(path)
    database.read(keys)
    database.close()
    database.close()
    with pytest.raises(UnavailableError, match="closed"):
        database.write(put("a"))
    with pytest.raises(UnavailableError, match="closed"):
        database.read(keys)
    assert [file.name for file in path.parent.iterdir()] == ["interlock.db"]


def test_a_file_is_opened_with_the_promised_settings(file: Database) -> None:
    def settings(connection: sqlite3.Connection) -> dict[str, object]:
        names = ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "auto_vacuum")
        return {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names}

    full, incremental = 2, 2
    assert file.write(lambda connection: "") == ""
    assert _outside_a_unit(file, settings) == {
        "journal_mode": "wal",
        "synchronous": full,
        "foreign_keys": 1,
        "busy_timeout": 5000,
        "auto_vacuum": incremental,
    }


class Blocked:
    """A unit that keeps the writer busy, so that others queue up behind it."""

    def __init__(self, database: Database) -> None:
        self._begun, self._go = threading.Event(), threading.Event()
        self._pool = ThreadPoolExecutor(GROUP + 50)
        self._database = database
        self.statements: list[str] = []
        self.first = self.submit(self._wait)
        assert self._begun.wait(10)

    def submit(self, unit: Callable[[sqlite3.Connection], object]) -> Future[object]:
        return self._pool.submit(self._database.write, unit)

    def let_go(self) -> None:
        self._go.set()
        self._pool.shutdown()

    def commits(self) -> int:
        return sum(statement == "COMMIT" for statement in self.statements)

    def _wait(self, connection: sqlite3.Connection) -> None:
        connection.set_trace_callback(self.statements.append)
        self._begun.set()
        assert self._go.wait(10)


def queued(file: Database, count: int) -> None:
    wait_until(lambda: file._opened_store._writer._queue.qsize() == count)  # type: ignore[attr-defined]


def test_units_that_queue_up_are_committed_together(file: Database) -> None:
    blocked = Blocked(file)
    waiting = [blocked.submit(put(f"{number}")) for number in range(100)]
    queued(file, 100)
    blocked.let_go()
    assert {future.result() for future in waiting} == {f"{number}" for number in range(100)}
    assert blocked.commits() == 2  # the one that kept them waiting, and theirs
    assert len(file.read(keys)) == 100


def test_a_group_has_a_largest_size(file: Database) -> None:
    blocked = Blocked(file)
    waiting = [blocked.submit(put(f"{number}")) for number in range(GROUP + 1)]
    queued(file, GROUP + 1)
    blocked.let_go()
    assert all(future.result() for future in waiting)
    assert blocked.commits() == 3


def test_a_failing_unit_of_a_group_rolls_back_alone(file: Database) -> None:
    def half(connection: sqlite3.Connection) -> None:
        put("half")(connection)
        raise Crash

    blocked = Blocked(file)
    before, failing, after = map(blocked.submit, (put("before"), half, put("after")))
    queued(file, 3)
    blocked.let_go()
    assert (before.result(), after.result()) == ("before", "after")
    assert isinstance(failing.exception(), Crash)
    assert file.read(keys) == {"before", "after"}


def test_no_caller_gets_its_answer_before_the_commit(file: Database) -> None:
    reached, go = threading.Event(), threading.Event()

    def waits(connection: sqlite3.Connection) -> None:
        reached.set()
        assert go.wait(10)

    blocked = Blocked(file)
    first, second = blocked.submit(put("first")), blocked.submit(waits)
    queued(file, 2)
    blocked._go.set()
    assert reached.wait(10)
    assert not first.done()  # its unit has run, in a group that is not committed yet
    assert file.read(keys) == set()
    go.set()
    assert first.result() == "first" and second.result() is None
    blocked.let_go()
    assert file.read(keys) == {"first"}


def test_a_full_disk_fails_the_unit_and_the_store_stays_up(database: Database) -> None:
    large = "x" * 10_000_000
    pages = database.write(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0])
    database.write(lambda c: c.execute(f"PRAGMA max_page_count = {pages + 50}").fetchall())
    with pytest.raises(UnavailableError, match="free some space"):
        database.write(put("large", large))
    assert database.read(keys) == set()
    database.write(put("small"))
    database.write(lambda c: c.execute("PRAGMA max_page_count = 1000000").fetchall())
    database.write(put("large", large))
    assert database.read(keys) == {"small", "large"}


def test_in_a_group_that_fills_the_disk_every_caller_gets_the_true_outcome(file: Database) -> None:
    pages = file.write(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0])
    file.write(lambda c: c.execute(f"PRAGMA max_page_count = {pages + 50}").fetchall())
    blocked = Blocked(file)
    units = {"small": put("small"), "large": put("large", "x" * 10_000_000), "last": put("last")}
    futures = {name: blocked.submit(unit) for name, unit in units.items()}
    queued(file, 3)
    blocked.let_go()
    done = {name for name, future in futures.items() if future.exception() is None}
    assert file.read(keys) == done
    assert isinstance(futures["large"].exception(), UnavailableError)


def test_a_file_that_another_program_is_writing_to_may_work_later(
    file: Database, path: Path
) -> None:
    _outside_a_unit(file, lambda c: c.execute("PRAGMA busy_timeout = 1").fetchall())
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(TransientError, match="in use"):
        file.write(put("a"))
    other.execute("ROLLBACK")
    other.close()
    file.write(put("a"))
    assert file.read(keys) == {"a"}


def test_a_query_sees_one_moment(file: Database) -> None:
    def query(connection: sqlite3.Connection) -> tuple[set[str], set[str]]:
        before = keys(connection)
        file.write(put("meanwhile"))
        return before, keys(connection)

    assert file.read(query) == (set(), set())
    assert file.read(keys) == {"meanwhile"}


def test_a_query_cannot_write(file: Database) -> None:
    with pytest.raises(UnavailableError):
        file.read(put("a"))
    assert file.read(keys) == set()


def test_a_thread_that_ends_takes_its_reader_with_it(file: Database) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: file.read(keys), range(50)))
    readers = file._opened_store._readers._all  # type: ignore[attr-defined]
    wait_until(lambda: len(readers) == 0)


@pytest.mark.parametrize("garbage", [b"not a database" * 100, b"SQLite format 3\x00" + b"x" * 500])
def test_a_file_that_is_no_store_says_what_to_do(path: Path, garbage: bytes) -> None:
    path.write_bytes(garbage)
    with pytest.raises(UnavailableError, match=r"interlock\.db.*replace it with the last backup"):
        Database(path)


def test_a_corrupt_page_says_what_to_do(path: Path) -> None:
    with Database(path) as database:
        for number in range(200):
            database.write(put(f"{number}", "x" * 1000))
    content = bytearray(path.read_bytes())
    pages = len(content) // 4096
    for page in range(pages // 2, pages):  # behind those that hold the schema
        content[page * 4096 : page * 4096 + 100] = b"\xff" * 100
    path.write_bytes(content)
    with Database(path) as broken, pytest.raises(UnavailableError, match="last backup"):
        broken.read(lambda connection: connection.execute("SELECT * FROM meta").fetchall())


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="folder exists"):
        Database(tmp_path / "missing" / "interlock.db")


def test_what_was_answered_survives_a_kill(path: Path) -> None:
    script = (
        "import sys, threading\n"
        "from interlock.adapters.sqlite.database import Database\n"
        "database = Database(sys.argv[1])\n"
        "def work(thread):\n"
        "    for n in range(10**9):\n"
        "        name = f'{thread}-{n}'\n"
        "        database.write(lambda c: c.execute('INSERT INTO meta VALUES (?, ?)', (name, '')))\n"
        "        sys.stdout.write(name + '\\n'); sys.stdout.flush()\n"
        "for thread in range(4):\n"
        "    threading.Thread(target=work, args=(thread,)).start()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, path], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        answered = [process.stdout.readline().strip() for _ in range(100)]
        process.kill()
        answered += [
            line.strip()
            for line in process.stdout.read().splitlines(keepends=True)
            if line.endswith("\n")
        ]
    with Database(path) as database:
        assert set(answered) <= database.read(keys)


def _crash(connection: sqlite3.Connection) -> None:
    raise Crash


def _outside_a_unit(file: Database, look: Callable[[sqlite3.Connection], object]) -> object:
    """On the writing connection itself: some settings can't be seen or set in a transaction."""
    return look(file._opened_store._writer._connection)  # type: ignore[attr-defined]


def _synchronous(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA synchronous").fetchone()[0])


def test_only_a_group_of_lazy_units_does_not_wait_for_the_disk(path: Path) -> None:
    full, normal = 2, 1
    with Database(path) as database:
        assert database.write(_synchronous) == full
        assert database.write(_synchronous, lazy=True) == normal
        assert database.write(_synchronous, lazy=True) == normal
        assert database.write(_synchronous) == full


def test_a_lazy_unit_is_seen_at_once_and_survives_the_process(path: Path) -> None:
    with Database(path) as database:
        database.write(put("a"), lazy=True)
        assert database.read(keys) == {"a"}
    with Database(path) as database:
        assert database.read(keys) == {"a"}
