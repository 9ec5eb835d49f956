"""House: what has expired goes, unless it may be the clock that is wrong."""

from datetime import datetime, timedelta

import pytest

from contracts.samples import NOW, ManualClock, an_event
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.store import Store
from interlock.domain.clock_trail import LOOK, STEADY
from interlock.domain.watchdog_state import WatchdogState
from interlock.runtime.housekeeping import Housekeeping

YEAR = timedelta(days=400)


class World:
    """A store with one event of long ago, and a server that comes and goes."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = Store(Database(), self.clock)
        self.store.events.publish([an_event()])
        self.ran = 0.0
        self.swept: list[datetime] = []

    def serve(self, span: timedelta = timedelta(hours=2)) -> Housekeeping:
        house = Housekeeping(self.store, self.clock, lambda: self.ran, self.swept.append)
        house.look()
        while span > timedelta(0):
            span -= LOOK
            self.clock.now += LOOK
            self.ran += LOOK.total_seconds()
            house.look()
        return house

    def has_history(self) -> bool:
        return bool(self.store.events.newest())


@pytest.fixture
def world() -> World:
    return World()


def test_what_is_old_goes(world: World) -> None:
    for _ in range(91):
        world.serve()
        world.clock.now += timedelta(days=1)
    assert not world.has_history()


def test_a_start_with_a_clock_a_year_ahead_removes_nothing(world: World) -> None:
    world.serve()
    world.clock.now += YEAR

    house = world.serve()

    assert world.has_history()
    assert world.swept[-1] < world.clock.now - YEAR
    assert "expired data is kept until" in (house.notice() or "")


def test_a_clock_that_jumps_while_it_serves_removes_nothing(world: World) -> None:
    house = world.serve()
    world.clock.now += YEAR
    world.ran += 7200
    house.look()
    assert world.has_history()


def test_after_a_day_of_work_the_clock_is_believed(world: World) -> None:
    world.serve()
    world.clock.now += YEAR

    house = world.serve(STEADY + timedelta(hours=2))

    assert not world.has_history() and house.notice() is None


def test_a_clock_that_is_put_right_leaves_everything_as_it_was(world: World) -> None:
    world.serve()
    right = world.clock.now
    world.clock.now += YEAR
    world.serve()
    world.clock.now = right + timedelta(hours=2)

    house = world.serve()

    assert world.has_history() and house.notice() is None


def test_a_store_of_an_older_version_was_last_seen_by_the_watchdog(world: World) -> None:
    world.store.watch.save(WatchdogState(version=1, last_pass_at=NOW))
    world.clock.now += YEAR
    world.serve()
    assert world.has_history()


def test_an_operator_may_prune_meanwhile(world: World) -> None:
    world.serve()
    world.clock.now += YEAR
    world.serve()

    world.store.retention.sweep(world.clock())

    assert not world.has_history()
