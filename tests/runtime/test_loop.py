"""The runtime: what goes wrong in one piece of work holds nothing else up."""

import logging
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from interlock.domain.event import EventType
from interlock.domain.timer import Timer
from interlock.domain.watchdog_state import WatchdogState
from interlock.errors import UnavailableError
from interlock.ports.stores import Watch
from interlock.runtime.loop import PAUSE, Runtime
from interlock.simulation.scenario import Call
from usecases.home import CADENCE, Home


@pytest.fixture
def home() -> Home:
    return Home()


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What fails here fails on purpose, and need not be shown."""
    logging.getLogger("interlock").setLevel(logging.CRITICAL + 1)
    yield
    logging.getLogger("interlock").setLevel(logging.NOTSET)


def test_a_change_given_up_while_the_bus_is_down_is_reported_later(home: Home) -> None:
    home.adopt()
    home.settle()
    home.fails(Call.START, 4)
    home.reading(date="2026-03-03")
    runtime = Runtime(home.store, home.ports, CADENCE)
    for seconds in (1, 5, 30):
        runtime.settle()
        home.pass_time(seconds=seconds)
    home.fails(Call.PUBLISH, 2)
    runtime.settle()  # the fourth try fails too, and so does telling of it
    home.pass_time(seconds=2)
    runtime.settle()
    assert home.event(EventType.INFRA_FAILURE).detail["state"] == "route_change"


def test_a_timer_that_fails_is_looked_at_again_after_a_pause_and_the_next_one_on_time(
    home: Home,
) -> None:
    home.adopt("schedule: {cron: '10 8 * * *'}")
    home.adopt("pipeline: {id: gold}\nschedule: {cron: '10 8 * * *'}")
    home.settle()
    runtime = Runtime(home.store, home.ports, CADENCE)
    runtime.settle()
    home.pass_time(minutes=10)
    later = timer(home.clock() + timedelta(seconds=3))
    home.store.timers.arm([later])
    home.fails(Call.START, 2)
    runtime.settle()
    assert runtime.next_due() == later.due_at  # and not at once, nor after the pause
    home.pass_time(seconds=3)
    runtime.settle()
    assert later.name not in home.armed()
    assert runtime.next_due() == home.clock() + timedelta(seconds=2)
    home.pass_time(seconds=2)
    runtime.settle()
    assert len(home.started()) == 2


class NoRoomAtTheEnd:
    """Passes can be claimed and not concluded, as on a disk that fills up meanwhile."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self.full = True

    def load(self) -> WatchdogState:
        return self._watch.load()

    def save(self, state: WatchdogState) -> bool:
        if self.full and state.pass_until is None:
            raise UnavailableError("no room")
        return self._watch.save(state)


def test_a_pass_that_broke_off_at_its_end_does_not_hold_up_the_next(home: Home) -> None:
    watch = NoRoomAtTheEnd(home.store.watch)
    runtime = Runtime(home.store, replace(home.ports, watch=watch), CADENCE)
    runtime.settle()
    assert home.store.watch.load().last_pass_at is None
    watch.full = False
    home.pass_time(seconds=PAUSE.total_seconds())
    runtime.settle()
    assert home.store.watch.load().last_pass_at == home.clock()
    watch.full = True
    home.pass_time(seconds=CADENCE.total_seconds())
    runtime.settle()
    watch.full = False
    assert runtime.next_due() == home.clock() + PAUSE


def timer(due_at: datetime) -> Timer:
    given = {"pipelineId": "silver-orders", "scheduleId": "cron", "date": "2026-03-03"}
    return Timer("breach.silver-orders.cron.2026-03-03", "breach", due_at, given)
