"""What people and producers ask for: what is wrong with it is said at the door."""

from typing import Any

import pytest

from interlock.errors import ConfigError, NotFoundError
from interlock.usecases.pause import foresee_resume, pause
from interlock.usecases.put_reading import put_reading
from interlock.usecases.request_rerun import (
    RerunOrder,
    chosen_schedule,
    request_rerun,
)
from usecases.home import KEY, NOW, Home

TWO = "schedules: [{id: a, cron: '30 * * * *'}, {id: b, trigger: {key: orders, check: exists}}]"


def test_a_reading_is_one_durable_write(home: Home) -> None:
    home.adopt()
    reading = put_reading("silver-orders", "orders#2026-03-03", {"count": 5}, home.ports)
    assert reading.received_at == NOW
    assert home.store.sensors.of_pipeline("silver-orders") == [reading]


@pytest.mark.parametrize(
    ("key", "fields", "problem"),
    [
        ("", {}, "printable characters"),
        ("x" * 513, {}, "printable characters"),
        ("a\nb", {}, "printable characters"),
        ("SENSOR#orders", {}, "without SENSOR#"),
        ("pipeline:bronze#2026-03-03", {}, "only Interlock writes keys"),
        ("orders", {"date": "soon"}, "date is 'soon', needs YYYY-MM-DD"),
        ("orders#2026-13-01", {}, "needs a date such as"),
        ("orders", {"date": "2027-03-03"}, "date is '2027-03-03', needs a date up to 2026-03-05"),
        ("orders", {"text": "x" * 300_000}, "at most 256 KiB"),
        ("orders", {"what": object()}, "not JSON"),
    ],
)
def test_a_reading_that_can_not_be_used_is_not_stored(
    home: Home, key: str, fields: dict[str, Any], problem: str
) -> None:
    home.adopt()
    with pytest.raises(ConfigError, match=problem):
        put_reading("silver-orders", key, fields, home.ports)
    assert home.store.sensors.of_pipeline("silver-orders") == []


@pytest.mark.parametrize("taken_away", [True, False])
def test_nothing_is_taken_for_a_pipeline_that_is_not_there(home: Home, taken_away: bool) -> None:
    if taken_away:
        home.adopt()
        home.take_away()
    with pytest.raises(NotFoundError):
        put_reading("silver-orders", "orders", {}, home.ports)
    with pytest.raises(NotFoundError):
        request_rerun(RerunOrder("silver-orders", "2026-03-03"), home.ports)
    with pytest.raises(NotFoundError):
        foresee_resume("silver-orders", home.ports)


def test_a_date_that_one_schedule_believes_is_taken(home: Home) -> None:
    home.adopt(TWO)
    reading = put_reading("silver-orders", "orders#2026-03-05", {}, home.ports)
    assert home.store.sensors.of_pipeline("silver-orders") == [reading]


def test_a_rerun_of_a_date_that_can_not_be_yet_is_refused(home: Home) -> None:
    home.adopt()
    with pytest.raises(ConfigError, match="2027-03-03 is too far ahead: 2026-03-05 is the last"):
        request_rerun(RerunOrder("silver-orders", "2027-03-03"), home.ports)
    assert home.store.reruns.unjudged() == []


def test_a_request_is_stored_and_judged_from_its_record(home: Home) -> None:
    home.adopt()
    order = RerunOrder("silver-orders", "20260303", requested_by="ada")
    request = request_rerun(order, home.ports)
    assert request.key == KEY
    assert home.store.reruns.unjudged() == [request]


def test_a_request_of_no_date_is_refused(home: Home) -> None:
    home.adopt()
    with pytest.raises(ConfigError, match="is not a date"):
        request_rerun(RerunOrder("silver-orders", "yesterday"), home.ports)


def test_of_several_schedules_one_must_be_named(home: Home) -> None:
    config = home.adopt(TWO)
    for name in (None, "c"):
        with pytest.raises(ConfigError, match="choose one of the schedules a, b"):
            chosen_schedule(config, name)
    assert chosen_schedule(config, "b").id == "b"


def test_what_a_resume_would_start_can_be_asked_before(home: Home) -> None:
    home.adopt(TWO)
    assert foresee_resume("silver-orders", home.ports) == []
    pause("silver-orders", home.ports)
    home.pass_time(minutes=35)
    home.reading(date="2026-03-02")
    home.request(key=KEY.__class__("silver-orders", "b", "2026-03-01"))
    foreseen = foresee_resume("silver-orders", home.ports)
    assert [(each.schedule_id, each.date) for each in foreseen] == [
        ("b", "2026-03-01"),
        ("b", "2026-03-02"),
        ("a", "2026-03-03T08"),
    ]
    assert home.store.runs.of_pipeline("silver-orders", "0000", "9999", 10) == []
