"""Late data: the trigger reading changed after completion."""

from datetime import timedelta

import pytest

from interlock.domain.event import EventType
from interlock.domain.run import Status
from interlock.domain.sensor import Reading
from interlock.errors import TransientError
from interlock.simulation.scenario import Call
from interlock.usecases.note_late_data import note_late_data
from usecases.home import KEY, Home, assert_a_crash_changes_nothing


def late(home: Home, count: int = 2) -> Reading:
    home.pass_time(hours=1)
    return home.admit(count=count)


def note(home: Home, reading: Reading) -> None:
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    note_late_data(KEY, reading, config.pipeline, home.ports)


def test_other_content_after_completion_is_reported_and_asks_for_a_rerun(home: Home) -> None:
    home.adopt()
    home.completed(count=1)
    late(home)
    event = home.event(EventType.LATE_DATA_ARRIVAL)
    assert event.detail["changed"] == [{"field": "count", "before": 1, "after": 2}]
    assert event.detail["lateBy"] == "1h"
    assert event.detail["rerunRequested"] is True
    (request,) = home.store.reruns.unjudged()
    assert (request.reason, request.key) == ("late-data", KEY)


def test_one_content_is_reported_once_however_often_it_comes(home: Home) -> None:
    home.adopt()
    home.completed(count=1)
    late(home, count=2)
    late(home, count=2)
    assert len(home.events(EventType.LATE_DATA_ARRIVAL)) == 1
    late(home, count=3)
    assert len(home.events(EventType.LATE_DATA_ARRIVAL)) == 2


def test_content_that_the_job_saw_is_not_late(home: Home) -> None:
    home.adopt()
    home.completed(count=1)
    late(home, count=1)
    assert home.events(EventType.LATE_DATA_ARRIVAL) == []
    assert home.store.reruns.unjudged() == []


@pytest.mark.parametrize("status", ["launched", "failed"])
def test_a_run_that_is_not_done_has_no_late_data(home: Home, status: str) -> None:
    home.adopt()
    home.launched(count=1)
    if status == "failed":
        home.finish("fail", category="PERMANENT")
    note(home, home.reading(date="2026-03-03", count=2))
    assert home.events(EventType.LATE_DATA_ARRIVAL) == []


def test_a_change_while_the_job_ran_is_judged_at_completion(home: Home) -> None:
    home.adopt()
    home.launched(count=1)
    home.admit(count=2)
    assert home.events(EventType.LATE_DATA_ARRIVAL) == []
    home.pass_time(minutes=10)
    home.finish()
    event = home.event(EventType.LATE_DATA_ARRIVAL)
    assert event.detail["lateBy"] == "0s"  # it came before the end
    assert home.run().status is Status.COMPLETED


def test_a_run_that_never_saw_the_trigger_reading_has_all_of_it_to_tell(home: Home) -> None:
    home.adopt("validation: {rules: [{key: stock, check: exists}]}")
    home.reading("stock")
    home.request()
    home.settle()
    home.pass_time(minutes=1)
    home.settle()
    home.pass_time(minutes=5)
    home.admit(count=7)
    event = home.event(EventType.LATE_DATA_ARRIVAL)
    assert {"field": "count", "before": None, "after": 7} in event.detail["changed"]


def test_what_comes_after_the_window_is_reported_and_reruns_nothing(home: Home) -> None:
    home.adopt()
    home.completed(count=1)
    home.pass_time(days=3)
    home.admit(count=2)
    event = home.event(EventType.LATE_DATA_ARRIVAL)
    assert (
        event.message == "orders changed after the job completed: too late for an automatic rerun"
    )
    assert event.detail["rerunRequested"] is False
    assert home.store.reruns.unjudged() == []


@pytest.mark.parametrize(("hours", "reruns"), [(4, 1), (6, 0)])
def test_the_file_says_for_how_long_late_data_reruns(home: Home, hours: int, reruns: int) -> None:
    home.adopt(
        "postRun: {rules: [{key: audit, check: exists}], evaluation: {window: 1h}, lateWindow: 5h}"
    )
    home.completed(count=1)
    home.pass_time(hours=hours)
    home.admit(count=2)
    assert len(home.events(EventType.LATE_DATA_ARRIVAL)) == 1
    assert len(home.store.reruns.unjudged()) == reruns


def test_a_rule_that_measures_nothing_leaves_late_data_on(home: Home) -> None:
    home.adopt("postRun: {rules: [{key: orders, check: equals, field: complete, value: true}]}")
    home.completed(count=100, complete=True)
    late(home, count=900)
    assert len(home.events(EventType.LATE_DATA_ARRIVAL)) == 1
    assert home.events(EventType.POST_RUN_PASSED) == []
    assert len(home.store.reruns.unjudged()) == 1


def test_a_request_is_stored_with_the_event_or_not_at_all(home: Home) -> None:
    home.adopt()
    home.completed(count=1)
    home.pass_time(hours=1)
    home.fails(Call.PUBLISH)
    with pytest.raises(TransientError):
        home.admit(count=2)
    assert len(home.store.reruns.unjudged()) == 1  # in the write that the event waits in
    home.admit(count=2)
    assert len(home.events(EventType.LATE_DATA_ARRIVAL)) == 1
    assert len(home.store.reruns.unjudged()) == 1


def test_the_request_is_named_after_the_write_it_is_stored_with(home: Home) -> None:
    home.adopt()
    home.completed(count=1)
    late(home)
    (request,) = home.store.reruns.unjudged()
    assert request.requested_at == home.run().changed_at
    assert request.requested_at - home.run().opened_at == timedelta(hours=1, minutes=10)


def test_dying_at_any_line_changes_nothing() -> None:
    def scene(home: Home) -> None:
        home.adopt()
        home.completed(count=1)

    home = assert_a_crash_changes_nothing(scene, lambda home: home.admit(count=2))
    assert len(home.events(EventType.LATE_DATA_ARRIVAL)) == 1
