"""A clock that is set back puts nothing to sleep."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from interlock.domain.budgets import Category
from interlock.domain.job import Running
from interlock.domain.run import Status
from interlock.runtime.clock_rollback import ClockRollback
from interlock.runtime.execution_engine import Engine
from interlock.runtime.loop import Runtime
from interlock.simulation.scenario import JobResult, JobScript
from usecases.home import CADENCE, NOW, Home

AHEAD = timedelta(days=40)


@pytest.fixture
def home() -> Home:
    return Home()


def runtime(home: Home) -> Runtime:
    return Runtime(home.store, home.ports, CADENCE)


def set_back(home: Home, running: Runtime, **span: float) -> None:
    running.settle()
    home.clock.now -= timedelta(**span)
    running.settle()


def until(home: Home, running: Runtime, holds: Callable[[], bool], **limit: float) -> timedelta:
    """How long it took, moving from one due moment to the next."""
    began = home.clock.now
    while not holds() and home.clock.now - began < timedelta(**limit):
        due = running.next_due()
        assert due is not None
        home.clock.now = max(due, home.clock.now + timedelta(milliseconds=1))
        running.settle()
    return home.clock.now - began


def test_a_job_is_polled_as_soon_as_before(home: Home) -> None:
    home.scripts["silver-orders"] = (JobScript(hang=True),)
    home.adopt()
    running = runtime(home)
    home.admit()
    running.settle()
    assert home.run().status is Status.RUNNING

    set_back(home, running, days=1)

    due = running.next_due()
    assert due is not None and due - home.clock.now <= timedelta(minutes=1)


def test_a_run_that_waits_is_judged_again_at_its_interval(home: Home) -> None:
    home.adopt("validation: {rules: [{key: other, check: exists}]}")
    running = runtime(home)
    home.admit()
    set_back(home, running, days=1)
    before = home.run().version

    took = until(home, running, lambda: home.run().version > before, hours=1)

    assert took <= timedelta(minutes=5)


def test_a_retry_comes_within_its_longest_delay(home: Home) -> None:
    failing = JobScript(after="0s", result=JobResult.FAIL, category=Category.TRANSIENT)
    home.scripts["silver-orders"] = (failing, JobScript(after="1h"))
    home.adopt("job: {type: command, config: {command: [etl]}, maxRetries: 1}")
    running = runtime(home)
    home.admit()
    running.settle()
    assert until(home, running, lambda: home.run().status is Status.FAILED, minutes=5)

    set_back(home, running, days=1)

    assert home.run().attempt == 1


def test_the_watchdog_goes_on(home: Home) -> None:
    running = runtime(home)
    set_back(home, running, days=1)
    assert home.store.watch.load().last_pass_at == NOW - timedelta(days=1)
    assert running.next_due() == NOW - timedelta(days=1) + CADENCE


def test_the_next_occurrence_of_a_cron_is_armed_again(home: Home) -> None:
    home.adopt("schedule: {cron: '0 10 * * *'}")
    running = runtime(home)
    set_back(home, running, days=1)
    assert min(home.armed().values()) == NOW - timedelta(days=1) + timedelta(hours=2)


def test_a_new_process_notices_what_was_stored_in_the_future(home: Home) -> None:
    home.adopt("validation: {rules: [{key: other, check: exists}]}")
    running = runtime(home)
    home.admit()
    running.settle()
    home.clock.now -= timedelta(days=1)
    again = runtime(home)
    again.settle()

    verdict = home.run().verdict
    assert verdict is not None and verdict.at == NOW - timedelta(days=1)
    assert home.store.watch.load().last_pass_at == NOW - timedelta(days=1)


def test_a_small_step_is_nothing(home: Home) -> None:
    home.adopt("validation: {rules: [{key: other, check: exists}]}")
    running = runtime(home)
    home.admit()
    running.settle()
    before = home.run()
    set_back(home, running, seconds=4)
    assert home.run() == before


class SetBackMeanwhile:
    """A platform that is asked while the clock is 40 days ahead, and answers when it was set back; the
    caller continues with the time that it had read before.
    """

    def __init__(self, home: Home) -> None:
        self._home, self._set_back = home, ClockRollback(home.store, home.ports)

    def poll(self, metadata: object) -> Running:
        ahead = self._home.clock.now
        assert self._set_back.look(ahead - AHEAD)
        return Running()


def test_what_is_stored_late_by_the_clock_before_does_not_sleep(home: Home) -> None:
    home.scripts["silver-orders"] = (JobScript(hang=True),)
    home.adopt()
    running = runtime(home)
    home.admit()
    running.settle()
    home.clock.now += timedelta(seconds=20)
    (name,) = home.store.workflows.running()
    ports = home.with_ports(jobs=SetBackMeanwhile(home))

    assert Engine(home.store.workflows, ports).advance(name)

    assert home.store.workflows.due(home.clock.now - AHEAD, 1) == [name]


def test_an_unnoticed_delay_is_ended_by_the_next_pass(home: Home) -> None:
    """A process that ran 400 days ahead ended before its first pass was noted."""
    home.adopt("validation: {rules: [{key: other, check: exists}]}")
    running = runtime(home)
    home.admit()
    running.settle()
    home.store.database.write(
        lambda connection: connection.execute(
            "UPDATE executions SET wake_at = wake_at + 400 * 86400 * 1000000"
        )
    )
    before = home.run().version

    took = until(home, running, lambda: home.run().version > before, hours=1)

    assert took <= 2 * CADENCE
