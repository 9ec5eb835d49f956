"""Readings, the periods in their keys, and the dates they speak of."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from interlock.domain.partition import Label
from interlock.domain.sensor import (
    Reading,
    Rejection,
    carried_label,
    content_version,
    period_keys,
    reading_label,
    serving,
    split_key,
    unreadable_reading,
)
from interlock.domain.zones import zone

UTC_ZONE, BERLIN, TOKYO = zone("UTC"), zone("Europe/Berlin"), zone("Asia/Tokyo")
NOW = datetime(2026, 3, 3, 20, 0, tzinfo=UTC)
DAY, HOUR = Label(date(2026, 3, 3)), Label(date(2026, 3, 3), 10)
MINUTE = Label(date(2026, 3, 3), 10, 15)


@pytest.mark.parametrize(
    ("key", "base", "period"),
    [
        ("orders", "orders", None),
        ("orders#2026-03-03", "orders", "2026-03-03"),
        ("orders#20260303T10", "orders", "20260303T10"),
        ("orders#2026-03-03T10:15", "orders", "2026-03-03T10:15"),
        ("a#b#2026-03-03", "a#b", "2026-03-03"),  # a key may hold the mark itself
        ("orders#eu", "orders#eu", None),  # no period: part of the key
        ("#2026-03-03", "#2026-03-03", None),  # a period of nothing
        ("orders#", "orders#", None),
        ("orders#2026-13-99", "orders", "2026-13-99"),  # wants to be a period, and is refused later
        ("pipeline:silver#2026-03-03", "pipeline:silver", "2026-03-03"),
    ],
)
def test_a_key_may_carry_its_period(key: str, base: str, period: str | None) -> None:
    assert split_key(key) == (base, period)


@pytest.mark.parametrize(
    ("label", "keys"),
    [
        (DAY, ("orders#2026-03-03", "orders#20260303", "orders")),
        (HOUR, ("orders#2026-03-03T10", "orders#20260303T10", "orders")),
        (MINUTE, ("orders#2026-03-03T10:15", "orders#20260303T1015", "orders")),
    ],
)
def test_the_best_key_of_a_date_comes_first(label: Label, keys: tuple[str, ...]) -> None:
    assert period_keys("orders", label) == keys


@pytest.mark.parametrize(
    ("fields", "period", "label"),
    [
        ({}, None, "2026-03-03"),  # the day it was received
        ({"date": "2026-03-01"}, None, "2026-03-01"),
        ({"date": "20260301"}, None, "2026-03-01"),
        ({"date": "2026-03-01", "hour": 7}, None, "2026-03-01T07"),
        ({"date": "2026-03-01", "hour": "07"}, None, "2026-03-01T07"),
        ({"date": "2026-03-01", "hour": "7"}, None, "2026-03-01T07"),
        ({"date": "2026-03-01", "hour": Decimal("7.0")}, None, "2026-03-01T07"),
        ({"hour": 7}, None, "2026-03-03T07"),  # an hour without a date belongs to today
        ({"date": None, "hour": None}, None, "2026-03-03"),
        ({}, "2026-03-01T10", "2026-03-01T10"),
        ({}, "20260301T1015", "2026-03-01T10:15"),
        ({"date": "2026-03-01"}, "2026-03-01", "2026-03-01"),
        ({"date": "2026-03-01"}, "20260301T10", "2026-03-01T10"),  # the finer one, of that day
        ({"date": "2026-03-01", "hour": 10}, "2026-03-01T10:15", "2026-03-01T10:15"),
    ],
)
def test_a_reading_speaks_of_a_date(fields: dict[str, Any], period: str, label: str) -> None:
    assert reading_label(fields, UTC_ZONE, NOW, period) == Label.parse(label)


def test_today_is_the_day_in_the_zone_of_the_schedule() -> None:
    assert reading_label({}, TOKYO, NOW) == Label(date(2026, 3, 4))
    assert reading_label({"hour": 5}, TOKYO, NOW) == Label(date(2026, 3, 4), 5)


@pytest.mark.parametrize(
    ("fields", "period", "problem"),
    [
        ({"date": "yesterday"}, None, "date_malformed"),
        ({"date": 20260303}, None, "date_malformed"),  # a date is text
        ({"date": "2026-02-30"}, None, "date_malformed"),
        ({"date": "2026-03-03T10"}, None, "date_malformed"),  # an hour has a field of its own
        ({"date": "2026-03-03", "hour": 24}, None, "hour_malformed"),
        ({"date": "2026-03-03", "hour": -1}, None, "hour_malformed"),
        ({"date": "2026-03-03", "hour": "ten"}, None, "hour_malformed"),
        ({"date": "2026-03-03", "hour": "007"}, None, "hour_malformed"),
        ({"date": "2026-03-03", "hour": True}, None, "hour_malformed"),
        ({"date": "2026-03-03", "hour": Decimal("7.5")}, None, "hour_malformed"),
        ({"date": "2026-03-03", "hour": [7]}, None, "hour_malformed"),
        ({}, "2026-13-01", "period_malformed"),
        ({}, "2026-03-03T25", "period_malformed"),
        ({}, "2026-03-03T1015", "period_malformed"),  # half of either spelling
        ({"date": "2026-03-03"}, "2026-13-01", "period_malformed"),
        ({"date": "2026-03-02"}, "2026-03-03", "date_disagrees"),
        ({"date": "2026-03-03", "hour": 11}, "2026-03-03T10", "date_disagrees"),
        ({"date": "2026-03-03", "hour": 11}, "2026-03-03T10:15", "date_disagrees"),
        ({"date": "2026-03-03", "hour": 10}, "2026-03-03", "date_disagrees"),  # the key says less
        ({"date": "nope"}, "2026-03-03", "date_malformed"),  # the fields are looked at first
    ],
)
def test_a_date_is_never_guessed(fields: dict[str, Any], period: str, problem: str) -> None:
    found = reading_label(fields, UTC_ZONE, NOW, period)
    assert isinstance(found, Rejection)
    assert found.problem == problem
    assert found.allowed


@pytest.mark.parametrize(
    ("fields", "period", "field"),
    [
        ({"date": "2026-03-29", "hour": 2}, None, "hour"),
        ({}, "2026-03-29T02", "key"),
        ({}, "2026-03-29T02:30", "key"),
    ],
)
def test_an_hour_that_the_clocks_skip_is_refused(
    fields: dict[str, Any], period: str | None, field: str
) -> None:
    found = reading_label(fields, BERLIN, NOW, period)
    assert isinstance(found, Rejection)
    assert (found.problem, found.field) == ("hour_skipped", field)
    assert "Europe/Berlin" in found.allowed


def test_an_hour_that_the_clocks_repeat_is_one_hour() -> None:
    fields = {"date": "2026-10-25", "hour": 2}
    assert reading_label(fields, BERLIN, NOW) == Label(date(2026, 10, 25), 2)


def test_a_reading_may_name_no_date_at_all() -> None:
    assert carried_label({"count": 5}, UTC_ZONE, NOW) is None


def reading(key: str, **fields: Any) -> Reading:
    return Reading("p", key, fields, NOW)


@pytest.mark.parametrize(
    ("rows", "label", "serves"),
    [
        ([reading("orders")], DAY, "orders"),  # it names no date: it serves every one
        ([reading("orders", date="2026-03-03")], DAY, "orders"),
        ([reading("orders", date="2026-03-02")], DAY, None),
        ([reading("orders", date="2026-03-03")], HOUR, None),  # a day does not serve an hour
        ([reading("orders", date="2026-03-03", hour=10)], HOUR, "orders"),
        ([reading("orders"), reading("orders#20260303")], DAY, "orders#20260303"),
        (
            [reading("orders#20260303"), reading("orders#2026-03-03")],
            DAY,
            "orders#2026-03-03",  # of both spellings the dashed one
        ),
        # a period's own row that contradicts itself applies to no date, and the plain one may
        ([reading("orders#2026-03-03", date="2026-03-01"), reading("orders")], DAY, "orders"),
        ([reading("orders", date="nope")], DAY, None),
        ([reading("orders-eu#2026-03-03")], DAY, None),  # a mere prefix
        ([], DAY, None),
    ],
)
def test_one_reading_serves_a_key_for_a_date(
    rows: list[Reading], label: Label, serves: str | None
) -> None:
    found = serving(frozenset({"orders"}), {row.key: row for row in rows}, label, UTC_ZONE)
    assert {key: row.key for key, row in found.items()} == ({"orders": serves} if serves else {})


def test_a_reading_that_cannot_be_read_serves_before_one_that_can() -> None:
    """Whatever stands there is about the date, and what a plain reading says is not that."""
    label = Label.parse("2026-03-03")
    unreadable = unreadable_reading("p", "orders#2026-03-03", NOW, "?")
    readings = {"orders#2026-03-03": unreadable, "orders": reading("orders")}
    assert serving(frozenset({"orders"}), readings, label, zone("UTC")) == {"orders": unreadable}


def test_a_plain_reading_of_an_hour_serves_the_day_it_was_received() -> None:
    row = reading("orders", hour=10)
    found = serving(frozenset({"orders"}), {"orders": row}, HOUR, UTC_ZONE)
    assert found == {"orders": row}


@pytest.mark.parametrize(
    ("row", "serves"),
    [
        (Reading("p", "orders", {}, NOW), True),
        (Reading("p", "orders", {}, NOW - timedelta(days=1)), False),  # yesterday's
        (Reading("p", "orders", {}, datetime(2026, 3, 3, tzinfo=UTC)), True),
        (Reading("p", "orders", {"date": "2026-03-03"}, NOW - timedelta(days=9)), True),
        (Reading("p", "orders", {"n": 1}, NOW, timed=False), False),  # it could be of any day
        (Reading("p", "orders", {"n": 2}, NOW, timed=False), True),  # the one that opened the run
    ],
)
def test_a_trigger_reading_without_a_date_serves_the_day_it_came(
    row: Reading, serves: bool
) -> None:
    opened_with = content_version({"n": 2})
    keys, rows = frozenset({"orders"}), {"orders": row}
    found = serving(keys, rows, DAY, UTC_ZONE, own=keys, opened_with=opened_with)
    assert bool(found) is serves
    assert serving(keys, rows, DAY, UTC_ZONE)  # of another key it serves every date


def test_a_trigger_reading_without_a_date_serves_the_hours_of_its_day() -> None:
    row = Reading("p", "orders", {}, NOW)
    keys = frozenset({"orders"})
    assert serving(keys, {"orders": row}, HOUR, UTC_ZONE, own=keys)
    assert not serving(keys, {"orders": row}, HOUR, TOKYO, own=keys)  # the next day there


def test_a_version_leaves_out_when_it_was_said() -> None:
    version = content_version({"count": 5, "updatedAt": "a", "ttl": 1, "receivedAt": 2})
    assert version == content_version({"count": 5})
    assert version != content_version({"count": 6})
    assert reading("orders", count=5).version == version
    assert len(version) == 16


def test_a_version_that_is_known_is_kept() -> None:
    assert Reading("p", "orders", {"count": 5}, NOW, "known").version == "known"


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1772539200, datetime(2026, 3, 3, 12, 0, tzinfo=UTC)), ("soon", None), (None, None)],
)
def test_the_producers_time_is_read_or_unknown(value: Any, expected: datetime | None) -> None:
    assert reading("orders", updatedAt=value).updated_at == expected


def test_a_version_does_not_hang_on_how_a_number_is_spelt() -> None:
    for spelt, same in (("0.00", 0), ("-0", 0), ("5.0", 5), ("1E+2", 100)):
        assert content_version({"n": [Decimal(spelt)]}) == content_version({"n": [same]})
    assert content_version({"n": Decimal("0.5")}) != content_version({"n": 0})
