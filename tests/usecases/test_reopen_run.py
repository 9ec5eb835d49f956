"""Reopening a run: give a date its next attempt, and start it."""

from datetime import timedelta

import pytest

from interlock.domain.event import EventType
from interlock.domain.run import OpenedBy, Run, Status
from interlock.errors import NotFoundError
from interlock.usecases.reopen_run import Reopening, reopen_run
from usecases.home import KEY, Home, assert_a_crash_changes_nothing


def fail_for_good(home: Home) -> None:
    home.adopt(
        "sla: {deadline: '10:00'}\njob: {type: command, config: {command: [etl]}, maxCodeRetries: 0}"
    )
    home.launched()
    home.finish("fail", category="PERMANENT")


def reopen(home: Home, may: bool = True) -> Run:
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    reopening = Reopening(
        key=KEY,
        by=OpenedBy.RERUN,
        opened_for="manual",
        may=lambda run: may and run.status is Status.FAILED_FINAL,
    )
    return reopen_run(reopening, config, home.ports)


def test_the_next_attempt_has_its_own_execution_and_the_dates_deadlines(home: Home) -> None:
    fail_for_good(home)
    before = home.armed()
    run = reopen(home)
    assert (run.status, run.attempt, run.opened_by) == (Status.PENDING, 1, OpenedBy.RERUN)
    assert home.started()[-1] == "silver-orders-stream-2026-03-03-rerun-1"
    assert home.armed() == before
    started = home.events(EventType.TRIGGER_STARTED)
    assert [event.attempt for event in started] == [0, 1]
    assert started[1].detail["reason"] == "manual"


def test_a_run_that_may_not_be_opened_is_left_alone(home: Home) -> None:
    fail_for_good(home)
    before = home.run()
    assert reopen(home, may=False) == before == home.run()


def test_a_second_call_finds_the_attempt_and_starts_no_other(home: Home) -> None:
    fail_for_good(home)
    first = reopen(home)
    home.pass_time(minutes=1)
    assert reopen(home) == first
    assert len(home.started()) == 2


def test_a_date_that_has_no_run_can_not_be_opened_again(home: Home) -> None:
    home.adopt()
    with pytest.raises(NotFoundError):
        reopen(home)


def test_a_new_attempt_gets_a_lease_of_its_own(home: Home) -> None:
    fail_for_good(home)
    now = home.pass_time(hours=30)
    assert reopen(home).lease_until == now + timedelta(hours=4, minutes=30)


def test_dying_at_any_line_changes_nothing() -> None:
    home = assert_a_crash_changes_nothing(fail_for_good, reopen)
    assert home.run().attempt == 1
