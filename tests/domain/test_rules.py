"""Rules judged against readings: what holds, what does not, and the word for why."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from declared import declared
from interlock.domain.check import Check, number
from interlock.domain.pipeline import Mode, Rule, Validation
from interlock.domain.reasons import REASONS
from interlock.domain.rule_text import explain
from interlock.domain.rules import Result, field_value, judge, judge_date, judge_one
from interlock.domain.sensor import Reading, unreadable_reading

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
    (Check.AGE_LT, "2026-03-03T11:30:00Z", 3600, "value_not_duration"),  # a row that no file has
    (Check.NOT_EQUALS, 4, 5, None),
    (Check.NOT_EQUALS, "5", 5, "equal"),  # as `equals` compares
    (Check.IN, "b", ["a", "b"], None),
    (Check.IN, "c", ["a", "b"], "not_in"),
    (Check.IN, "c", "abc", "not_in"),  # no list, nothing in it
    (Check.BETWEEN, 1, [1, 3], None),
    (Check.BETWEEN, 3, [1, 3], None),
    (Check.BETWEEN, 4, [1, 3], "out_of_range"),
    (Check.BETWEEN, "many", [1, 3], "not_numeric"),
    (Check.BETWEEN, 1, [1], "not_numeric"),
    (Check.MATCHES, "abc", "[a-c]+", None),
    (Check.MATCHES, "abcd", "[a-c]+", "no_match"),
    (Check.MATCHES, 5, "5", "not_text"),
    (Check.MATCHES, "a", "(", "no_match"),
    (Check.ABSENT, 0, None, "present"),
    (Check.CHANGED_BY, 1, "20%", "previous_missing"),
    (Check.CHANGED_BY, "x", "20%", "not_numeric"),
]


@pytest.mark.parametrize(("check", "actual", "value", "expected"), CASES)
def test_a_check_holds_or_says_what_is_wrong(
    check: Check, actual: Any, value: Any, expected: str | None
) -> None:
    assert kind(check, actual, value) == expected


def test_the_kinds_are_those_that_checks_tell() -> None:
    told = {expected for _, _, _, expected in CASES if expected is not None}
    of_receipt = {"received_too_old", "received_unknown"}
    of_row = {"sensor_missing", "sensor_unreadable", "field_missing"}
    of_value = {"value_missing", "value_sensor_missing", "value_sensor_unreadable"}
    of_other_receipt = {f"value_{kind}" for kind in of_receipt}
    of_previous = {"previous_unreadable", "previous_not_numeric", "changed_too_much"}
    of_stability = {"not_stable_yet", "since_unknown"}
    assert set(REASONS) == set().union(
        told, of_receipt, of_row, of_value, of_other_receipt, of_previous, of_stability
    )
    assert {check for check, _, _, _ in CASES} == set(Check) - {Check.EXISTS}


@pytest.mark.parametrize(
    ("age", "timed", "kind"),
    [
        (timedelta(hours=2), True, None),
        (timedelta(hours=2, microseconds=1), True, "received_too_old"),
        (timedelta(0), False, "received_unknown"),
        (timedelta(hours=-1), True, None),  # a clock that was set back
    ],
)
def test_a_reading_is_used_only_within_its_max_age(
    age: timedelta, timed: bool, kind: str | None
) -> None:
    came = Reading("p", "s", {"n": 5}, NOW - age, timed=timed)
    for check in (Check.EXISTS, Check.GT):
        assert judge_one(Rule("s", check, "n", 1, "2h"), came, NOW).kind == kind
        assert judge_one(Rule("s", check, "n", 1), came, NOW).passed


def test_a_reading_that_is_too_old_is_explained_by_its_receipt() -> None:
    rule = Rule("s", Check.GT, "n", 1, "2h")
    old = judge_one(rule, Reading("p", "s", {"n": 5}, NOW - timedelta(hours=9)), NOW)
    assert old.expected == "2h"
    assert explain(old, NOW) == "s was received 9h ago, needs one received within 2h"
    untimed = judge_one(rule, Reading("p", "s", {"n": 5}, NOW, timed=False), NOW)
    assert explain(untimed, NOW) == (
        "s has a reading that does not say when it came, needs one received within 2h"
    )


def test_the_age_of_a_validation_is_that_of_its_rules() -> None:
    rules = (Rule("a", Check.EXISTS), Rule("b", Check.EXISTS, max_age="3d"))
    assert Validation(rules).bounded_rules == rules
    bounded = Validation(rules, max_age="12h").bounded_rules
    assert [rule.max_age for rule in Validation(bounded).every_rule] == ["12h", "3d"]


BOTH = declared(
    "schedule: {cron: '0 6 * * *', trigger: {key: landed, check: gte, field: n, value: 10}}\n"
    "validation: {trigger: ANY, rules: [{key: landed, check: exists}, {key: other, check: exists}]}"
)


@pytest.mark.parametrize(
    ("readings", "ready"),
    [
        ({"landed": 10}, True),
        ({"landed": 9}, False),
        ({"other": 1}, False),  # a rule holds, the trigger does not
        ({}, False),
    ],
)
def test_a_date_that_a_cron_opened_needs_its_trigger(readings: dict[str, int], ready: bool) -> None:
    there = {key: reading({"n": n}, key) for key, n in readings.items()}
    verdict = judge_date(BOTH, BOTH.schedules[0], there, NOW)
    assert verdict.ready is ready
    assert [result.rule.key for result in verdict.results] == ["landed", "landed", "other"]


def test_a_trigger_that_is_a_rule_too_is_judged_once() -> None:
    pipeline = declared("schedule: {cron: '0 6 * * *', trigger: {key: orders, check: exists}}")
    assert len(judge_date(pipeline, pipeline.schedules[0], {}, NOW).results) == 1


def test_a_date_that_a_reading_opened_needs_its_rules() -> None:
    pipeline = declared("validation: {rules: [{key: stock, check: exists}]}")
    stock = {"stock": reading({}, "stock")}
    assert judge_date(pipeline, pipeline.schedules[0], stock, NOW).ready


def test_a_sensor_must_be_there_before_anything_is_compared() -> None:
    assert judge_one(Rule("s", Check.EXISTS), None, NOW).kind == "sensor_missing"
    assert judge_one(Rule("s", Check.GT, "n", 1), None, NOW).kind == "sensor_missing"


@pytest.mark.parametrize("rule", [Rule("s", Check.EXISTS), Rule("s", Check.GT, "count", 0)])
def test_no_rule_holds_on_a_reading_that_cannot_be_read(rule: Rule) -> None:
    given = unreadable_reading("p", "s", NOW, "JSON is truncated")
    result = judge_one(rule, given, NOW)
    assert (result.kind, result.passed) == ("sensor_unreadable", False)
    assert explain(result, NOW) == "the stored reading of s can't be read: JSON is truncated"


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
