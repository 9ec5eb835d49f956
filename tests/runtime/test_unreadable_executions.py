"""Executions and timers whose rows can't be read: they end, and the watchdog does what they were for."""

import logging
from collections.abc import Iterator
from datetime import timedelta

import pytest

from contracts.hostile import spoiler_of_file
from interlock.domain.event import EventType
from interlock.domain.run import Status, execution_name
from interlock.domain.unreadable import RowKind
from interlock.runtime.loop import Runtime
from interlock.simulation.scenario import Call
from usecases.home import CADENCE, KEY, Home


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    logging.getLogger("interlock").setLevel(logging.CRITICAL + 1)
    yield
    logging.getLogger("interlock").setLevel(logging.NOTSET)


@pytest.fixture
def home() -> Home:
    return Home()


def pass_hours(home: Home, runtime: Runtime, hours: int) -> None:
    for _ in range(hours * 12):
        home.pass_time(minutes=5)
        runtime.settle()


@pytest.mark.parametrize("kind", ["given", "snapshot"])
def test_an_execution_that_cannot_be_read_ends_and_its_date_is_closed_by_the_watchdog(
    kind: str,
) -> None:
    for number in range(20):
        home = Home()
        home.adopt("validation: {rules: [{key: never, check: exists}]}")
        home.admit()
        if kind != "given":
            Runtime(home.store, home.ports, CADENCE).settle()
        if not spoiler_of_file(home.database)(kind, number):
            assert number > 3
            return
        runtime = Runtime(home.store, home.ports, CADENCE)  # it remembers nothing
        pass_hours(home, runtime, 1)
        if home.store.workflows.describe(execution_name(KEY, 0)) == "running":
            continue  # a form from which it can go on
        pass_hours(home, runtime, 5)
        assert home.run().status in (Status.FAILED_FINAL, Status.FAILED)
        told = home.told()
        assert EventType.SFN_TIMEOUT in told or EventType.INFRA_FAILURE in told
        rows = home.events(EventType.ROW_UNREADABLE)
        assert [row.detail["kind"] for row in rows] in ([], [RowKind.EXECUTION])


def test_an_execution_whose_definition_cannot_be_read_ends(home: Home) -> None:
    home.adopt("validation: {rules: [{key: never, check: exists}]}")
    home.admit()
    home.settle()
    for statement in (
        "INSERT INTO definitions (hash, text) VALUES ('of-an-older-version', '{')",
        "UPDATE executions SET definition = 'of-an-older-version'",
    ):
        home.database.write(lambda connection: connection.execute(statement))  # noqa: B023
    home.pass_time(minutes=5)
    home.settle()
    (name,) = home.started()
    assert home.store.workflows.describe(name) == "ended"
    (event,) = home.events(EventType.ROW_UNREADABLE)
    assert event.detail["problem"].startswith("ConfigError: not a state machine")


def test_a_cut_off_execution_is_reported_with_its_name(home: Home) -> None:
    home.adopt()
    home.admit()
    assert spoiler_of_file(home.database)("given", 0)
    home.pass_time(minutes=1)
    home.settle()
    (event,) = home.events(EventType.ROW_UNREADABLE)
    assert "silver-orders-stream-2026-03-03" in event.detail["key"]
    assert event.pipeline_id == KEY.pipeline_id
    (entry,) = home.store.workflows.history("silver-orders-stream-2026-03-03")
    assert entry.kind == "Unreadable"


def test_what_a_timer_was_for_is_done_by_the_watchdog(home: Home) -> None:
    home.adopt("schedule: {cron: '0 9 * * *', evaluation: {window: 1h}}")
    runtime = Runtime(home.store, home.ports, CADENCE)
    runtime.settle()
    for number in range(20):
        if not spoiler_of_file(home.database)("timer", number):
            break
    home.pass_time(hours=1)
    runtime.settle()
    for _ in range(3):
        home.pass_time(minutes=5)
        runtime.settle()
    (opened,) = home.events(EventType.TRIGGER_STARTED)
    assert opened.date == "2026-03-03"
    assert runtime.next_due() is not None
    assert home.clock() - timedelta(minutes=1) < max(
        runtime.next_due() or home.clock(), home.clock()
    )


@pytest.mark.parametrize("payload", ['{"pipelineId": 5}', "{}", '{"pipelineId": "p", "date": "x"}'])
def test_a_timer_that_names_nothing_is_dropped_and_reported(home: Home, payload: str) -> None:
    home.adopt("schedule: {cron: '0 9 * * *', evaluation: {window: 1h}}")
    runtime = Runtime(home.store, home.ports, CADENCE)
    runtime.settle()
    home.database.write(
        lambda connection: connection.execute("UPDATE timers SET payload = ?", (payload,))
    )
    home.pass_time(hours=1)
    runtime.settle()
    (event,) = home.events(EventType.ROW_UNREADABLE)
    assert event.detail["table"] == "timers"
    assert runtime.next_due() is not None


def test_a_report_that_fails_stops_no_round_and_is_made_later(home: Home) -> None:
    home.adopt("validation: {rules: [{key: never, check: exists}]}")
    runtime = Runtime(home.store, home.ports, CADENCE)
    runtime.settle()
    home.reading(count=5)
    home.database.write(lambda connection: connection.execute("UPDATE sensors SET reading = '{'"))
    home.store.sensors.of_pipeline(KEY.pipeline_id)
    home.fails(Call.PUBLISH, 20)
    runtime.settle()
    assert home.events(EventType.ROW_UNREADABLE) == []
    for _ in range(40):
        home.pass_time(seconds=10)
        runtime.settle()
    assert len(home.events(EventType.ROW_UNREADABLE)) == 1
