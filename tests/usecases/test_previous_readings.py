"""The previous date: its stored reading, or what its run was judged on, in both homes alike."""

import logging
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from contracts.samples import a_run
from declared import declared
from interlock.domain.pipeline import Pipeline
from interlock.domain.rules import judge_date
from interlock.domain.run import Evidence, RunKey, Status
from interlock.domain.sensor import Reading, UnreadableReading
from interlock.usecases.evidence import judged_readings
from usecases.home import KEY
from usecases.two_homes import STAGES, Stage

YESTERDAY = msgspec.structs.replace(KEY, date="2026-03-02")
PREVIOUS = "previous:orders"
STRICT = declared(
    "schedule: {id: stream, cron: '0 9 * * *'}\n"
    "validation: {rules: [{key: orders, check: changed_by, field: n, value: 20%}]}"
)
LENIENT = declared(
    "schedule: {id: stream, cron: '0 9 * * *'}\n"
    "validation: {rules: [{key: orders, check: changed_by, field: n,"
    " value: {down: 20%, up: 20%, first: pass}}]}"
)
TRIGGERED = declared(
    "schedule: {id: stream, trigger: {key: orders, check: exists}}\n"
    "validation: {rules: [{key: orders, check: changed_by, field: n, value: 20%}]}"
)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """What fails here fails on purpose, and need not be shown."""
    logging.getLogger("interlock").setLevel(logging.CRITICAL + 1)
    yield
    logging.getLogger("interlock").setLevel(logging.NOTSET)


@pytest.fixture(params=STAGES)
def stage(request: pytest.FixtureRequest) -> Stage:
    made: Stage = STAGES[request.param]()
    made.adopt("schedule: {id: stream, cron: '0 9 * * *'}")
    return made


def put(stage: Stage, key: str, days_ago: int = 0, **fields: Any) -> None:
    came = stage.clock() - timedelta(days=days_ago)
    stage.ports.sensors.put(Reading(KEY.pipeline_id, key, fields, came))


def found(stage: Stage, pipeline: Pipeline = STRICT, key: RunKey = KEY) -> dict[str, Reading]:
    return judged_readings(key, pipeline, stage.fresh(), None)


def kind(stage: Stage, pipeline: Pipeline = STRICT) -> str | None:
    readings = found(stage, pipeline)
    verdict = judge_date(pipeline, pipeline.schedules[0], readings, stage.clock())
    return verdict.results[0].kind


def ran(stage: Stage, **changes: Any) -> None:
    assert stage.ports.runs.open(a_run(YESTERDAY, stage.clock() - timedelta(days=1), **changes))


@pytest.mark.parametrize("period", ["2026-03-02", "20260302"])
def test_a_row_of_the_previous_date_is_its_reading(stage: Stage, period: str) -> None:
    put(stage, "orders#2026-03-03", n=110)
    put(stage, f"orders#{period}", n=100)
    assert found(stage)[PREVIOUS].fields == {"n": 100}
    assert kind(stage) is None
    put(stage, f"orders#{period}", n=10)
    assert kind(stage) == "changed_too_much"


def test_an_overwritten_reading_is_what_the_run_was_judged_on(stage: Stage) -> None:
    ran(stage, evidence={"orders": Evidence("orders", "v", {"n": 100})}, status=Status.COMPLETED)
    put(stage, "orders", n=110, date="2026-03-03")
    assert found(stage)[PREVIOUS].fields == {"n": 100}
    assert kind(stage) is None


def test_a_row_that_was_corrected_since_counts_before_what_the_run_saw(stage: Stage) -> None:
    ran(stage, evidence={"orders": Evidence("orders", "v", {"n": 1})}, status=Status.COMPLETED)
    put(stage, "orders#2026-03-03", n=110)
    put(stage, "orders#2026-03-02", n=100)
    assert kind(stage) is None


def test_a_reading_without_a_date_is_not_taken_for_yesterdays(stage: Stage) -> None:
    """It serves every date: compared with itself, it would always pass."""
    put(stage, "orders", 1, n=100)
    assert PREVIOUS not in found(stage)
    assert kind(stage) == "previous_missing"


def test_a_trigger_reading_without_a_date_belongs_to_the_day_of_its_arrival(stage: Stage) -> None:
    put(stage, "orders", 1, n=100)
    put(stage, "orders#2026-03-03", n=110)
    assert found(stage, TRIGGERED)[PREVIOUS].fields == {"n": 100}


def test_only_a_date_without_a_reading_and_without_a_run_is_a_first_one(stage: Stage) -> None:
    put(stage, "orders#2026-03-03", n=100)
    assert kind(stage, STRICT) == "previous_missing"
    assert kind(stage, LENIENT) is None
    ran(stage)  # yesterday had a run, which was judged on nothing
    assert kind(stage, LENIENT) == "previous_missing"


def test_an_unreadable_run_of_the_previous_date_is_no_absence(stage: Stage) -> None:
    today = msgspec.structs.replace(KEY, date="2026-03-04")
    assert stage.ports.runs.open(a_run(KEY, stage.clock()))
    assert stage.spoil("run", 0)
    stage.clock.now += timedelta(days=1)
    put(stage, "orders#2026-03-04", n=100)
    readings = found(stage, LENIENT, today)
    assert isinstance(readings[PREVIOUS], UnreadableReading)
    verdict = judge_date(LENIENT, LENIENT.schedules[0], readings, stage.clock())
    assert [each.kind for each in verdict.results] == ["previous_unreadable"]


def test_an_unreadable_reading_of_the_previous_date_is_no_absence(stage: Stage) -> None:
    put(stage, "orders#2026-03-02", n=100)
    assert stage.spoil("reading", 0)
    put(stage, "orders#2026-03-03", n=100)
    assert kind(stage, LENIENT) == "previous_unreadable"


def test_a_pipeline_whose_rules_do_not_look_back_reads_no_more(stage: Stage) -> None:
    put(stage, "orders#2026-03-02", n=100)
    plain = declared("schedule: {id: stream, cron: '0 9 * * *'}")
    assert PREVIOUS not in found(stage, plain)


def test_the_first_listed_date_has_no_predecessor(stage: Stage) -> None:
    listed = declared(
        "schedule: {id: stream, include: {dates: ['2026-03-03']}}\n"
        "validation: {rules: [{key: orders, check: changed_by, field: n, value: 20%}]}"
    )
    put(stage, "orders#2026-03-02", n=100)
    assert PREVIOUS not in found(stage, listed)
