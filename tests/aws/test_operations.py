"""Operations: what a person asks of the local home is answered by the AWS home, by key and by index."""

from datetime import timedelta
from typing import Any

import pytest

from aws.functions import function_home
from aws.homes import Services
from contracts.samples import ManualClock, wanted
from declared import declared
from interlock.domain.run import Status
from interlock.errors import ConfigError
from interlock.lambdas import stream_router
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.aws_settings import Function
from interlock.wiring.operations import Operations
from interlock.wiring.views import Views

DAY = "2026-03-03"


@pytest.fixture
def asked(services: Services, clock: ManualClock, router: AwsBackend) -> Operations:
    """A pipeline with a run that waits for its rules."""
    pipeline = declared("validation: {rules: [{key: orders, check: gte, field: count, value: 10}]}")
    router.store.pipelines.want(wanted(pipeline))
    operations = Operations(None, router.ports, timedelta(minutes=5))
    route(services, router)
    operations.put(pipeline.id, "orders", {"count": 1, "date": DAY})
    route(services, router)
    return operations


def route(services: Services, home: AwsBackend) -> None:
    for name in (home.settings.control_table, home.settings.joblog_table):
        answer = stream_router.handle({"Records": services.records(name)}, None, home)
        assert answer == {"batchItemFailures": []}


def test_a_pipeline_is_shown_at_a_glance(asked: Operations) -> None:
    (state,) = asked.pipelines()
    assert (state.id, state.status, state.date) == ("silver-orders", Status.PENDING, DAY)
    assert state.today == {"PENDING": 1}


def test_why_explains_what_a_date_waits_for(asked: Operations) -> None:
    (why,) = asked.why("silver-orders")
    assert why.date == DAY and why.rules[0].kind is not None


def test_runs_readings_and_events_are_listed(
    asked: Operations, services: Services, clock: ManualClock
) -> None:
    assert [run.key.date for run in asked.runs("silver-orders")] == [DAY]
    assert [run.key.date for run in asked.runs()] == [DAY]
    assert [reading.key for reading in asked.readings("silver-orders")] == ["orders"]
    kinds = {"CONFIG_ADOPTED", "TRIGGER_STARTED"}
    assert {event.type for event in _events(services, clock).newest()} == kinds


def test_pages_are_turned(asked: Operations, router: AwsBackend) -> None:
    views = Views(router.ports, router.store.history, asked)
    assert [run.key.date for run in views.runs("silver-orders", None, None, None, 5).items] == [DAY]
    page = views.pipelines(None, 5)
    assert [state.id for state in page.items] == ["silver-orders"] and page.next is None


def test_a_pause_is_visible_at_once_to_its_caller(asked: Operations) -> None:
    asked.pause("silver-orders")
    assert asked.pipeline("silver-orders").paused
    asked.resume("silver-orders")
    assert not asked.pipeline("silver-orders").paused


def test_a_home_without_a_state_file_says_so(asked: Operations) -> None:
    with pytest.raises(ConfigError, match="no state file"):
        asked.parked()


def _events(services: Services, clock: ManualClock) -> Any:
    return function_home(Function.EVENT_SINK, services, clock).store.event_log
