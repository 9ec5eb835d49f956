"""Who watches the watchdog: a controller that has hung ends itself, one that works or can't run does not."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest

from interlock.adapters.sqlite.clock_trail import SqliteClockTrail
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.writer import Settled
from interlock.errors import UnavailableError
from interlock.runtime.hang_detector import HangDetector, Probe, Vitals

EVERY = timedelta(seconds=30)
INTERVAL = 2.0
HOUR = 3600.0


class World:
    """A process whose time passes as the test says."""

    def __init__(self, store: Probe, threads: list[Thread] | None = None) -> None:
        self.now = 0.0
        self.beats = 0
        self.said: list[str] = []
        self.overdue = HangDetector(
            Vitals(store, lambda: self.beats, lambda: threads or []),
            EVERY,
            end=self.said.append,
            monotonic=lambda: self.now,
        )

    def pass_time(self, seconds: float, then: Callable[[], None] = lambda: None) -> list[str]:
        """While the process runs, it looks at its interval."""
        until = self.now + seconds
        while self.now < until and not self.said:
            self.now += INTERVAL
            then()
            self.overdue.look()
        return self.said

    def beat(self) -> None:
        self.beats += 1


class Answers:
    """A store whose writer says what it is told to say: None hangs."""

    def __init__(self, error: Exception | None = None, hangs: bool = False) -> None:
        self.error, self.hangs = error, hangs
        self.asked = 0

    def probe(self, settled: Settled) -> None:
        self.asked += 1
        if not self.hangs:
            settled(self.error)


def test_a_loop_that_moves_on_is_left_alone() -> None:
    world = World(Answers())
    assert world.pass_time(24 * HOUR, world.beat) == []


def test_a_pass_that_is_slow_but_works_is_left_alone() -> None:
    """It beats with every pipeline: once in a minute, and no pass in an hour."""
    world = World(Answers())

    def now_and_then() -> None:
        if world.now % 60 == 0:
            world.beat()

    assert world.pass_time(HOUR, now_and_then) == []


def test_a_loop_that_sleeps_for_its_longest_is_left_alone() -> None:
    world = World(Answers())
    assert world.pass_time(60) == []


def test_a_loop_that_has_hung_ends_the_process() -> None:
    said = World(Answers()).pass_time(HOUR)
    assert said and "makes no progress" in said[0]


def test_a_writer_that_has_hung_ends_the_process() -> None:
    said = World(Answers(hangs=True)).pass_time(HOUR)
    assert said and "writer" in said[0]


def test_a_store_that_refuses_to_be_written_to_has_not_hung() -> None:
    assert World(Answers(UnavailableError("full"))).pass_time(24 * HOUR) == []


def test_once_such_a_store_is_well_a_loop_that_still_hangs_ends_the_process() -> None:
    store = Answers(UnavailableError("full"))
    world = World(store)
    world.pass_time(HOUR)

    store.error = None

    assert world.pass_time(HOUR)


def test_time_in_which_the_process_did_not_run_says_nothing_of_its_threads() -> None:
    """SIGSTOP, a suspended machine, a starved one: the loop gets its turn before anything is concluded."""
    world = World(Answers())
    for _ in range(20):
        world.now += HOUR
        world.overdue.look()
        world.beat()
        assert world.pass_time(60) == []


def test_a_writer_is_not_said_to_hang_because_the_process_was_stopped_meanwhile() -> None:
    store = Answers(hangs=True)
    world = World(store)
    while not store.asked:
        world.pass_time(INTERVAL)

    world.now += HOUR
    world.overdue.look()

    assert world.said == []


def test_a_thread_that_has_ended_ends_the_process() -> None:
    ended = Thread(target=lambda: None, name="interlock-alerts")
    ended.start()
    ended.join()

    said = World(Answers(), [ended]).pass_time(INTERVAL)

    assert said and "interlock-alerts" in said[0]


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database(tmp_path / "interlock.db") as database:
        yield database


def test_the_probe_touches_the_disk(database: Database) -> None:
    """An empty transaction succeeds on a disk that is full."""
    trail, answered = SqliteClockTrail(database), threading.Event()
    before = database.read(_probes)

    trail.probe(lambda error: answered.set())

    assert answered.wait(60)
    assert database.read(_probes) != before


def _probes(connection: sqlite3.Connection) -> object:
    return connection.execute("SELECT value FROM meta WHERE key = 'probe'").fetchone()


def test_a_writer_at_work_for_long_is_noticed_by_a_real_probe(database: Database) -> None:
    release = threading.Event()
    hung = threading.Thread(target=database.write, args=(lambda connection: release.wait(60),))
    hung.start()

    said = World(SqliteClockTrail(database)).pass_time(HOUR)

    release.set()
    hung.join()
    assert said and "writer" in said[0]
