"""Admitting a reading: find out what it means, and do that."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from interlock.domain.admission import (
    Admission,
    Exclude,
    Ignore,
    NoteFirst,
    OpenRun,
    Reject,
    Reopen,
)
from interlock.domain.event import EventType
from interlock.domain.run import OpenedBy, RunKey, Status
from interlock.domain.waiting_for import WaitingFor
from interlock.errors import TransientError, UnavailableError
from interlock.simulation.scenario import Call
from interlock.usecases.admit_reading import admit_reading
from interlock.usecases.pause import pause
from usecases.home import KEY, NOW, Home, assert_a_crash_changes_nothing

WEEKDAYS = "schedule: {trigger: {key: orders, check: exists}, exclude: {weekends: true}}"


def admitted(home: Home, **fields: Any) -> Sequence[Admission]:
    return admit_reading(home.reading(**fields), home.ports)


def kinds(admissions: Sequence[Admission]) -> list[type]:
    return [type(admission) for admission in admissions]


def test_a_passing_reading_opens_its_date(home: Home) -> None:
    home.adopt()
    assert kinds(admitted(home, date="2026-03-03")) == [OpenRun]
    run = home.run()
    assert (run.opened_by, run.opened_for, run.first_sensor_at) == ("sensor", "orders", NOW)
    assert home.event(EventType.TRIGGER_STARTED).detail["key"] == "orders"


@pytest.mark.parametrize("times", [2, 3])
def test_the_same_reading_again_changes_nothing(home: Home, times: int) -> None:
    home.adopt()
    reading = home.admit(count=5)
    before = home.state()
    for _ in range(times):
        admit_reading(reading, home.ports)
    assert home.state() == before


def test_a_reading_of_an_unknown_pipeline_is_kept_and_waits(home: Home) -> None:
    assert admitted(home) == [Ignore("-", "no such pipeline is in force")]
    home.adopt()
    home.take_away()
    assert admitted(home) == [Ignore("-", "no such pipeline is in force")]
    assert home.told() == []


def test_a_reading_of_a_paused_pipeline_is_kept_and_waits(home: Home) -> None:
    home.adopt()
    pause("silver-orders", home.ports)
    assert admitted(home) == [Ignore("-", "the pipeline is paused")]


def test_an_excluded_date_is_reported_once(home: Home) -> None:
    home.adopt(WEEKDAYS)
    for n in range(3):
        assert kinds(admitted(home, date="2026-03-01", n=n)) == [Exclude]
    event = home.event(EventType.PIPELINE_EXCLUDED)
    assert (event.date, event.detail["excludedBy"]) == ("2026-03-01", "weekends")
    assert event.timestamp == NOW


def test_a_holiday_is_reported_with_the_country(home: Home) -> None:
    home.adopt("schedule: {trigger: {key: orders, check: exists}, exclude: {holidays: DE}}")
    assert kinds(admitted(home, date="2026-01-01")) == [Exclude]
    event = home.event(EventType.PIPELINE_EXCLUDED)
    assert (event.detail["excludedBy"], event.detail["name"]) == ("holidays", "DE")
    assert event.message == "2026-01-01 is excluded by holidays DE"


def test_a_reading_that_can_not_be_used_is_reported_once_a_day(home: Home) -> None:
    home.adopt()
    for _ in range(2):
        assert kinds(admitted(home, date="soon")) == [Reject]
    home.pass_time(days=1)
    admitted(home, date="soon")
    first, second = home.events(EventType.SENSOR_REJECTED)
    assert first.detail["problem"] == "date_malformed"
    assert first.detail["value"] == "soon"
    assert (second.timestamp - first.timestamp) == timedelta(days=1)


def test_a_dry_run_is_not_told_what_it_can_not_use(home: Home) -> None:
    home.adopt("dryRun: true\n" + WEEKDAYS)
    admitted(home, date="soon")
    admitted(home, date="2026-03-01")
    assert home.told() == []


def test_changed_data_reopens_a_date_whose_window_closed(home: Home) -> None:
    home.adopt("validation: {rules: [{key: orders, check: gt, field: count, value: 9}]}")
    home.admit(count=1)
    home.pass_time(hours=1)
    home.mode("validation-exhausted")
    assert kinds(admitted(home, date="2026-03-03", count=1)) == [Ignore]  # nothing new
    assert kinds(admitted(home, date="2026-03-03", count=2)) == [Reopen]
    run = home.run()
    assert (run.status, run.attempt, run.opened_by) == (Status.PENDING, 1, OpenedBy.SENSOR)
    assert run.first_sensor_at == NOW  # of the date, not of the attempt
    assert home.started()[-1].endswith("-rerun-1")


def test_the_first_reading_of_a_cron_run_starts_its_relative_deadline(home: Home) -> None:
    home.adopt(
        "schedule: {cron: '0 8 * * *', trigger: {key: orders, check: exists}}\n"
        "sla: {maxDuration: 2h}"
    )
    key = RunKey("silver-orders", "cron", "2026-03-03")
    home.settle()
    home.pass_time(days=1)
    home.settle()
    key = RunKey("silver-orders", "cron", "2026-03-04")
    assert home.run(key).relative_breach_at is None
    now = home.pass_time(minutes=10)
    assert kinds(admitted(home, date="2026-03-04")) == [NoteFirst]
    run = home.run(key)
    assert run.first_sensor_at == now
    assert run.relative_breach_at == now + timedelta(hours=2)
    assert home.armed()["rel-breach.silver-orders.cron.2026-03-04"] == now + timedelta(hours=2)
    home.pass_time(minutes=10)
    admitted(home, date="2026-03-04", n=2)
    assert home.run(key).first_sensor_at == now  # the first stays the first


class Wakes:
    """An engine that notes whom it is asked to wake."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, WaitingFor]] = []

    def start(self, name: str, given: object) -> None: ...

    def wake(self, pipeline_id: str, waiting_for: WaitingFor) -> None:
        self.asked.append((pipeline_id, waiting_for))


@pytest.mark.parametrize(
    ("key", "wakes"),
    [("orders", 1), ("orders#2026-03-03", 1), ("stock", 1), ("weather", 0), ("stock-eu", 0)],
)
def test_a_reading_that_the_rules_use_wakes_the_waiting_executions(
    home: Home, key: str, wakes: int
) -> None:
    home.adopt("validation: {rules: [{key: orders, check: exists}, {key: stock, check: exists}]}")
    engine = Wakes()
    admit_reading(home.reading(key), home.with_ports(workflows=engine))
    assert engine.asked == [("silver-orders", WaitingFor.RULES)] * wakes


def test_a_start_that_fails_is_made_up_for_by_the_repeat(home: Home) -> None:
    home.adopt()
    reading = home.reading(date="2026-03-03")
    home.fails(Call.START)
    with pytest.raises(TransientError):
        admit_reading(reading, home.ports)
    assert home.started() == []
    admit_reading(reading, home.ports)
    assert home.started() == ["silver-orders-stream-2026-03-03"]
    assert home.told() == ["TRIGGER_STARTED"]


def test_a_refusal_that_could_not_be_published_is_published_by_the_repeat(home: Home) -> None:
    home.adopt(WEEKDAYS)
    reading = home.reading(date="2026-03-01")
    home.fails(Call.PUBLISH)
    with pytest.raises(TransientError):
        admit_reading(reading, home.ports)
    assert home.told() == []
    admit_reading(reading, home.ports)
    assert home.told() == ["PIPELINE_EXCLUDED"]


class Broken:
    """A store that can't be reached."""

    def __getattr__(self, name: str) -> Any:
        raise UnavailableError("the store can't be reached")


def test_a_store_that_can_not_be_read_is_no_answer(home: Home) -> None:
    home.adopt()
    reading = home.reading(date="2026-03-03")
    with pytest.raises(UnavailableError):
        admit_reading(reading, home.with_ports(runs=Broken()))
    assert home.told() == []


@pytest.mark.parametrize(
    "fields", [{"date": "2026-03-03"}, {"date": "2026-03-01"}, {"date": "soon"}]
)
def test_dying_at_any_line_changes_nothing(fields: dict[str, Any]) -> None:
    assert_a_crash_changes_nothing(
        lambda home: home.adopt(WEEKDAYS + "\nsla: {deadline: '10:00'}"),
        lambda home: admit_reading(home.reading(**fields), home.ports),
    )


def test_the_run_is_of_the_date_that_the_reading_names(home: Home) -> None:
    home.adopt()
    admitted(home, key="orders#2026-03-01T05")
    assert home.run(RunKey("silver-orders", "stream", "2026-03-01T05")).status is Status.PENDING
    assert KEY not in home.store.runs.find([KEY])
