"""Sensors: exact readings, found by exact keys."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from contracts.home import Home
from contracts.samples import KEY, NOW, ManualClock, a_reading, many
from interlock.domain.change import Change, ChangeKind
from interlock.domain.sensor import Reading

PIPELINE = KEY.pipeline_id


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"count": 4200, "complete": True, "note": None}, id="plain"),
        pytest.param({"count": Decimal("12345678901234567890.123456789012345678")}, id="38 digits"),
        pytest.param({"count": 10**37, "small": Decimal("1E-20")}, id="far from zero, and near"),
        pytest.param({"price": Decimal("1.10"), "zero": 0, "off": False}, id="zero is not false"),
        pytest.param({"text": "", "": "no name"}, id="empty texts"),
        pytest.param({"deep": {"list": [1, {"a": [Decimal("0.5")]}], "map": {}}}, id="nested"),
        pytest.param({"text": "ünï \u202e 'quoted' \x00 \n"}, id="odd characters"),
        pytest.param({}, id="no fields"),
    ],
)
def test_a_reading_comes_back_exactly(home: Home, fields: dict[str, Any]) -> None:
    reading = Reading(PIPELINE, "orders", fields, NOW)
    home.sensors.put(reading)
    (found,) = home.sensors.find(PIPELINE, ["orders"]).values()
    assert found == reading
    assert [type(value) for value in found.fields.values()] == [
        type(fields[name]) for name in found.fields
    ]


def test_a_newer_reading_takes_the_place_of_an_older_one(home: Home) -> None:
    home.sensors.put(a_reading(count=1))
    home.sensors.put(a_reading(count=2))
    assert home.sensors.of_pipeline(PIPELINE) == [a_reading(count=2)]


def test_a_producer_that_only_moves_its_clock_has_said_nothing_new(home: Home) -> None:
    home.sensors.put(a_reading(count=1, updatedAt="2026-03-03T10:00:00Z"))
    before = home.sensors.of_pipeline(PIPELINE)[0].version
    home.sensors.put(a_reading(count=1, updatedAt="2026-03-03T11:00:00Z"))
    assert home.sensors.of_pipeline(PIPELINE)[0].version == before
    home.sensors.put(a_reading(count=2))
    assert home.sensors.of_pipeline(PIPELINE)[0].version != before


def test_exactly_the_keys_asked_for_are_read(home: Home) -> None:
    keys = [
        "orders",
        "orders-eu",
        "orders#2026-03-03",
        "orders#20260303",
        "a#b#2026-03-03",
        "Orders",
    ]
    for key in keys:
        home.sensors.put(a_reading(key))
    home.sensors.put(a_reading("orders", "other-pipeline"))
    assert set(home.sensors.find(PIPELINE, ["orders", "order", "missing"])) == {"orders"}
    assert set(home.sensors.find(PIPELINE, keys)) == set(keys)
    assert home.sensors.find(PIPELINE, []) == {}
    assert [reading.key for reading in home.sensors.of_pipeline(PIPELINE)] == sorted(keys)


def test_many_keys_are_read_at_once(home: Home) -> None:
    readings = many(250, lambda number: a_reading(f"orders#{number}"))
    for reading in readings:
        home.sensors.put(reading)
    keys = [reading.key for reading in readings]
    assert home.sensors.find(PIPELINE, keys) == dict(zip(keys, readings, strict=True))


def periods(home: Home, first: str, last: str, key: str = "orders") -> list[str]:
    found = home.sensors.between(PIPELINE, key, first, last)
    return [reading.key.removeprefix(f"{key}#") for reading in found]


def test_a_range_of_periods_has_both_spellings_and_the_hours_of_its_last_day(home: Home) -> None:
    inside = ["2026-03-01", "20260301T10", "2026-03-02T00", "2026-03-02T10:15", "20260302T2359"]
    outside = ["2026-02-28", "20260228T23", "2026-03-03", "20260303", "2025-03-01", "latest"]
    for period in [*inside, *outside]:
        home.sensors.put(a_reading(f"orders#{period}"))
    for key in ("orders", "orders-eu#2026-03-01", "orders#eu#2026-03-01"):
        home.sensors.put(a_reading(key))
    assert periods(home, "2026-03-01", "2026-03-02") == inside
    assert periods(home, "2026-03-01", "2026-03-02", "orders#eu") == ["2026-03-01"]


def test_a_range_over_the_turn_of_a_year_has_nothing_of_the_rest_of_either(home: Home) -> None:
    inside = ["2025-12-31", "20260101"]
    for period in [*inside, "20250601", "2025-06-01", "20260601", "2026-06-01"]:
        home.sensors.put(a_reading(f"orders#{period}"))
    assert periods(home, "2025-12-31", "2026-01-01") == inside


def test_a_range_of_hours_has_nothing_of_other_hours(home: Home) -> None:
    for period in ("2026-03-01T09", "2026-03-01T10", "20260301T11", "2026-03-01T12"):
        home.sensors.put(a_reading(f"orders#{period}"))
    assert periods(home, "2026-03-01T10", "2026-03-01T11") == ["2026-03-01T10", "20260301T11"]


def test_a_reading_whose_ttl_has_passed_is_gone(home: Home, clock: ManualClock) -> None:
    seconds = int(NOW.timestamp()) + 60
    home.sensors.put(a_reading("orders#2026-03-03", ttl=seconds))
    home.sensors.put(a_reading("other", ttl="soon"))  # no time at all: it stays
    clock.now = NOW + timedelta(seconds=59)
    assert len(home.sensors.of_pipeline(PIPELINE)) == 2
    clock.advance(seconds=1)
    assert [reading.key for reading in home.sensors.of_pipeline(PIPELINE)] == ["other"]
    assert home.sensors.find(PIPELINE, ["orders#2026-03-03"]) == {}
    assert periods(home, "2026-03-01", "2026-03-05") == []


def test_each_write_is_followed_by_its_change(home: Home) -> None:
    first, second = a_reading(count=1), a_reading(count=2)
    home.sensors.put(first)
    home.sensors.put(second)
    home.sensors.remove(PIPELINE, first.key, NOW + timedelta(seconds=5))
    assert [change.reading for change in home.changes()] == [first, second, None]
    assert [change.removed for change in home.changes()] == [False, False, True]
    gone = home.changes()[-1]
    assert msgspec.structs.replace(gone, id="") == Change(
        id="",
        kind=ChangeKind.SENSOR,
        pipeline_id=PIPELINE,
        key=first.key,
        at=NOW + timedelta(seconds=5),
        removed=True,
    )


def test_removing_what_is_not_there_is_no_change(home: Home) -> None:
    home.sensors.remove(PIPELINE, "orders", NOW)
    assert home.changes() == []


def test_a_removed_reading_is_gone(home: Home) -> None:
    home.sensors.put(a_reading())
    home.sensors.remove(PIPELINE, a_reading().key, NOW)
    assert home.sensors.of_pipeline(PIPELINE) == []
