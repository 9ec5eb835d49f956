"""Rules judged against readings: what holds, what does not, and the word for why."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from interlock.domain.pipeline import Check, Mode, Rule
from interlock.domain.rules import (
    KINDS,
    Result,
    explain,
    field_value,
    judge,
    judge_one,
    number,
)
from interlock.domain.sensor import Reading

NOW = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)
EPOCH = 1772539200  # of NOW


def reading(fields: dict[str, Any], key: str = "s") -> Reading:
    return Reading("p", key, fields, NOW)


def kind(check: Check, actual: Any, value: Any) -> str | None:
    return judge_one(Rule("s", check, "n", value), reading({"n": actual}), NOW).kind


CASES: list[tuple[Check, Any, Any, str | None]] = [
    (Check.EQUALS, 5, 5, None),
    (Check.EQUALS, Decimal("5.0"), 5, None),  # by value
    (Check.EQUALS, "5.0", 5, None),  # a text that is the same plain number
    (Check.EQUALS, 5, "+5e0", None),
    (Check.EQUALS, "5", "5.0", "not_equal"),  # two texts are texts, whatever they look like
    (Check.EQUALS, " 5", 5, "not_equal"),
    (Check.EQUALS, "true", True, None),
    (Check.EQUALS, False, "false", None),
    (Check.EQUALS, "True", True, "not_equal"),  # these texts only
    (Check.EQUALS, 1, True, "not_equal"),  # a boolean is never a number
    (Check.EQUALS, [1], [True], "not_equal"),  # at no depth
    (Check.EQUALS, [1, 2], (Decimal(1), 2), None),
    (Check.EQUALS, [1], [1, 2], "not_equal"),
    (Check.EQUALS, [1], ["1"], "not_equal"),  # inside lists types are strict
    (Check.EQUALS, {"a": [1]}, {"a": [Decimal("1.0")]}, None),
    (Check.EQUALS, {"a": 1}, {"b": 1}, "not_equal"),
    (Check.EQUALS, {"a": 1}, [1], "not_equal"),
    (Check.EQUALS, {"a": 1}, "a", "not_equal"),
    (Check.GT, 11, 10, None),
    (Check.GT, 10, 10, "not_greater"),
    (Check.GTE, 10, 10, None),
    (Check.GTE, Decimal("9.999"), 10, "not_greater_or_equal"),
    (Check.LT, 9, 10, None),
    (Check.LT, 10, 10, "not_less"),
    (Check.LTE, 10, 10, None),
    (Check.LTE, 11, 10, "not_less_or_equal"),
    (Check.GT, 2**53 + 1, 2**53, None),  # exact
    (Check.GT, "1e1000000", 5, None),  # compared, never written out
    (Check.GT, True, 0, "not_numeric"),
    (Check.GT, Decimal("NaN"), 0, "not_numeric"),
    (Check.LT, Decimal("Infinity"), 0, "not_numeric"),
    (Check.GT, "ten", 0, "not_numeric"),
    (Check.GT, "1e99999999999999999999", 0, "not_numeric"),  # more than a Decimal can hold
    (Check.GT, [1], 0, "not_numeric"),
    (Check.GT, 1, "ten", "not_numeric"),  # the rule's own side
    (Check.AGE_LT, "2026-03-03T11:00:01Z", "1h", None),
    (Check.AGE_LT, "2026-03-03T11:00:00Z", "1h", "too_old"),  # as old as that is too old
    (Check.AGE_LT, "2026-03-03T12:01:00Z", "1h", None),  # a minute ahead is now
    (Check.AGE_LT, "2026-03-03T12:01:01Z", "1h", "timestamp_in_future"),
    (Check.AGE_LT, "yesterday", "1h", "timestamp_invalid"),
    (Check.AGE_GT, EPOCH - 3601, "1h", None),
    (Check.AGE_GT, EPOCH - 3600, "1h", "too_young"),
    (Check.AGE_GT, EPOCH + 61, "1h", "timestamp_in_future"),
    (Check.AGE_GT, True, "1h", "timestamp_invalid"),
]


@pytest.mark.parametrize(("check", "actual", "value", "expected"), CASES)
def test_a_check_holds_or_says_what_is_wrong(
    check: Check, actual: Any, value: Any, expected: str | None
) -> None:
    assert kind(check, actual, value) == expected


def test_the_kinds_are_those_that_checks_tell() -> None:
    told = {expected for _, _, _, expected in CASES if expected is not None}
    assert set(KINDS) == told | {"sensor_missing", "field_missing"}
    assert {check for check, _, _, _ in CASES} == set(Check) - {Check.EXISTS}


def test_a_sensor_must_be_there_before_anything_is_compared() -> None:
    assert judge_one(Rule("s", Check.EXISTS), None, NOW).kind == "sensor_missing"
    assert judge_one(Rule("s", Check.GT, "n", 1), None, NOW).kind == "sensor_missing"


def test_existing_is_enough_whatever_the_fields() -> None:
    assert judge_one(Rule("s", Check.EXISTS, "nope", 1), reading({}), NOW).passed


def test_a_null_field_counts_as_missing() -> None:
    for fields in ({}, {"n": None}):
        assert judge_one(Rule("s", Check.EQUALS, "n", None), reading(fields), NOW).kind == (
            "field_missing"
        )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a", {"b": {"c": 1}}),
        ("a.b.c", 1),
        ("x.y", 2),  # a literal name with dots wins
        ("x.z", None),
        ("a.b.c.d", None),  # there is no way into a number
        ("nope.b", None),
    ],
)
def test_a_path_leads_into_maps(path: str, value: Any) -> None:
    fields = {"a": {"b": {"c": 1}}, "x.y": 2, "x": {"y": 3}}
    assert field_value(fields, path) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3),
        (Decimal("0.1"), Decimal("0.1")),
        ("-.5e1", Decimal(-5)),
        ("5.", Decimal(5)),
        ("", None),
        ("5\n", None),
        ("٥", None),  # digits of other scripts are no digits here
        (None, None),
        (1.5, None),  # readings hold no binary fractions: they are read as decimals
    ],
)
def test_a_number_is_exact_or_none(value: Any, expected: Any) -> None:
    assert number(value) == expected


RULES = (Rule("a", Check.EXISTS), Rule("b", Check.EXISTS))


@pytest.mark.parametrize(
    ("present", "mode", "ready"),
    [
        ("ab", Mode.ALL, True),
        ("a", Mode.ALL, False),
        ("a", Mode.ANY, True),
        ("", Mode.ANY, False),
    ],
)
def test_all_rules_or_any_must_hold(present: str, mode: Mode, ready: bool) -> None:
    verdict = judge(RULES, {key: reading({}, key) for key in present}, NOW, mode)
    assert verdict.ready is ready
    assert [r.rule.key for r in verdict.passing] == list(present)
    assert len(verdict.results) == len(verdict.passing) + len(verdict.failing) == 2


@pytest.mark.parametrize("mode", Mode)
def test_no_rules_are_never_ready(mode: Mode) -> None:
    assert not judge((), {}, NOW, mode).ready


def result(check: Check, kind: str | None, actual: Any = None, value: Any = None) -> Result:
    return Result(Rule("orders", check, "count", value), kind, actual)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            result(Check.GTE, "not_greater_or_equal", 940, 1000),
            "orders.count is 940, needs >= 1000",
        ),
        (result(Check.GT, "sensor_missing"), "no reading of orders"),
        (result(Check.GT, "field_missing"), "orders.count is missing"),
        (
            result(Check.GT, "not_greater", Decimal("0.10"), Decimal("1.5")),
            "orders.count is 0.10, needs > 1.5",  # decimals as they are written
        ),
        (
            result(Check.LT, "not_numeric", "many", 5),
            "orders.count is many, which is not a number, needs < 5",
        ),
        (
            result(Check.AGE_LT, "timestamp_invalid", "soon", "1h"),
            "orders.count is soon, which is not a timestamp, needs to be younger than 1h",
        ),
        (
            result(Check.AGE_LT, "too_old", (NOW - timedelta(hours=2)).isoformat(), "1h"),
            "orders.count is 2h old, needs to be younger than 1h",
        ),
        (
            result(Check.AGE_GT, "timestamp_in_future", "2026-03-04T12:00:00Z", "1h"),
            "orders.count lies in the future, needs to be older than 1h",
        ),
        (
            result(Check.EQUALS, "not_equal", "x" * 61, {"a": Decimal("0.10")}),
            f'orders.count is {"x" * 59}…, needs {{"a":0.10}}',  # a long value is cut
        ),
    ],
)
def test_a_result_reads_as_what_is_and_what_should_be(given: Result, line: str) -> None:
    assert explain(given, NOW) == line
