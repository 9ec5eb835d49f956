"""Forms of rules: values in other fields, the previous date, absence, and groups; and their lines."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from interlock.domain import canonical
from interlock.domain.check import Check, in_symbols
from interlock.domain.pipeline import Mode, Rule, RuleGroup, Validation
from interlock.domain.previous_date import previous_key
from interlock.domain.rule_text import explain, needed, obstacle_lines
from interlock.domain.rules import Verdict, judge
from interlock.domain.run import Judgement, RuleRecord
from interlock.domain.sensor import Reading, unreadable_reading
from interlock.domain.sla import explain_record, failing_lines
from interlock.usecases.evidence import rule_records

NOW = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)
HOUR_AGO = NOW - timedelta(hours=1)
OTHER = {"field": "rows", "key": "manifest"}


def reading(key: str, at: datetime = NOW, **fields: Any) -> Reading:
    return Reading("p", key, fields, at)


def judged(rule: Rule, *readings: Reading, previous: Reading | None = None) -> Verdict:
    found = {each.key: each for each in readings}
    if previous is not None:
        found[previous_key(previous.key)] = previous
    return judge([rule], found, NOW)


def line(rule: Rule, *readings: Reading, previous: Reading | None = None) -> str:
    (result,) = judged(rule, *readings, previous=previous).results
    said = explain(result, NOW)
    (record,) = rule_records([result], NOW)
    assert explain_record(record, NOW) == said  # a stored result reads as it was judged
    return said


GTE_OTHER = Rule("orders", Check.GTE, "count", OTHER)
FRESH = Rule("orders", Check.GTE, "count", OTHER, "30m")
NEAR = Rule("orders", Check.CHANGED_BY, "count", "20%")
ORDERS = reading("orders", count=940)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            line(GTE_OTHER, ORDERS, reading("manifest", rows=1000)),
            "orders.count is 940, needs >= manifest.rows (1000)",
        ),
        (
            line(
                Rule("orders", Check.GTE, "count", {"field": "due"}),
                reading("orders", count=9, due=10),
            ),
            "orders.count is 9, needs >= field due (10)",
        ),
        (
            line(GTE_OTHER, ORDERS),
            "orders.count is 940, and there is no reading of manifest to compare with",
        ),
        (
            line(GTE_OTHER, ORDERS, unreadable_reading("p", "manifest", NOW, "damaged")),
            "orders.count is 940, and the reading of manifest can't be read to compare with",
        ),
        (
            line(GTE_OTHER, ORDERS, reading("manifest")),
            "orders.count is 940, and manifest.rows is missing",
        ),
        (
            line(Rule("orders", Check.EQUALS, "count", {"field": "due"}), ORDERS),
            "orders.count is 940, and orders.due is missing",
        ),
        (
            line(FRESH, ORDERS, reading("manifest", HOUR_AGO, rows=1)),
            "manifest was received 1h ago, needs one received within 30m",
        ),
        (
            line(FRESH, ORDERS, Reading("p", "manifest", {"rows": 1}, NOW, timed=False)),
            "manifest has a reading that does not say when it came, needs one received within 30m",
        ),
        (
            line(NEAR, ORDERS, previous=reading("orders", count=1200)),
            "orders.count is 940, was 1200 on the previous date, may change by at most"
            " 20% up or down",
        ),
        (
            line(NEAR, ORDERS),
            "orders.count is 940, and the previous date has no reading to compare with",
        ),
        (
            line(NEAR, ORDERS, previous=unreadable_reading("p", "orders", NOW, "damaged")),
            "orders.count is 940, and the previous date has a row that can't be read to compare with",
        ),
        (
            line(NEAR, ORDERS, previous=reading("orders", other=1)),
            "orders.count is 940, was nothing on the previous date, may change by at most"
            " 20% up or down",
        ),
        (
            line(Rule("orders", Check.IN, "count", [1, 2]), ORDERS),
            "orders.count is 940, needs one of 1, 2",
        ),
        (
            line(Rule("orders", Check.BETWEEN, "count", [1, 2]), ORDERS),
            "orders.count is 940, needs to lie between 1 and 2",
        ),
        (
            line(Rule("orders", Check.MATCHES, "count", "[0-9]+"), ORDERS),
            "orders.count is 940, which is not a text, needs to match [0-9]+",
        ),
        (
            line(Rule("orders", Check.NOT_EQUALS, "count", 940), ORDERS),
            "orders.count is 940, needs anything but 940",
        ),
        (
            line(Rule("orders", Check.ABSENT, "count"), ORDERS),
            "orders.count is 940, must be absent",
        ),
        (
            line(Rule("orders", Check.ABSENT), ORDERS),
            "there is a reading of orders, which must be absent",
        ),
        (
            line(
                Rule("orders", Check.CHANGED_BY, "count", {"down": "10%", "up": 5}),
                ORDERS,
                previous=reading("orders", count=1200),
            ),
            "orders.count is 940, was 1200 on the previous date, may change by at most"
            " 10% down and 5 up",
        ),
        (
            line(
                Rule("orders", Check.CHANGED_BY, "count", {"down": "10%"}),
                ORDERS,
                previous=reading("orders", count=1200),
            ),
            "orders.count is 940, was 1200 on the previous date, may change by at most"
            " 10% down, any distance the other way",
        ),
    ],
)
def test_a_result_names_both_sides(said: str, expected: str) -> None:
    assert said == expected


def test_a_rule_looks_at_its_own_key_and_at_the_one_that_its_value_names() -> None:
    assert GTE_OTHER.keys == ("orders", "manifest")
    assert Rule("orders", Check.GTE, "count", {"field": "due"}).keys == ("orders",)
    assert Rule("orders", Check.EQUALS, "count", {"field": "a", "more": 1}).keys == ("orders",)


A, B, C = (Rule(key, Check.EXISTS) for key in "abc")


def test_a_failing_member_of_a_group_that_holds_is_no_obstacle() -> None:
    verdict = judge([RuleGroup(any_of=(A, B)), C], {"b": reading("b")}, NOW)
    assert not verdict.ready
    assert [(each.rule.key, each.group, each.passed) for each in verdict.results] == [
        ("a", "anyOf[0]", False),
        ("b", "anyOf[0]", True),
        ("c", None, False),
    ]
    assert [each.rule.key for each in verdict.failing] == ["c"]
    assert [each.text for each in obstacle_lines(verdict.results, NOW)] == ["no reading of c"]


def test_a_group_of_which_no_member_holds_is_one_line() -> None:
    groups = [RuleGroup(any_of=(A, B)), RuleGroup(all_of=(B, C))]
    verdict = judge(groups, {}, NOW)
    lines = obstacle_lines(verdict.results, NOW)
    assert [each.text for each in lines] == [
        "none of anyOf[0] holds: no reading of a; no reading of b",
        "no reading of b",
        "no reading of c",
    ]
    records = rule_records(verdict.results, NOW)
    assert failing_lines(Judgement(NOW, False, records), NOW) == [each.text for each in lines]


def test_a_line_of_a_group_says_as_of_when_if_a_member_tells_an_age() -> None:
    old = Rule("a", Check.EXISTS, max_age="30m")
    verdict = judge([RuleGroup(any_of=(old, B))], {"a": reading("a", HOUR_AGO)}, NOW)
    records = rule_records(verdict.results, NOW)
    later = NOW + timedelta(minutes=5)
    (said,) = failing_lines(Judgement(NOW, False, records), later)
    assert said.endswith("no reading of b, as of 12:00:00Z")


@pytest.mark.parametrize(("mode", "ready"), [(Mode.ALL, False), (Mode.ANY, True)])
def test_a_group_counts_as_one_entry(mode: Mode, ready: bool) -> None:
    there = {key: reading(key) for key in "ab"}
    assert judge([RuleGroup(all_of=(A, B)), C], there, NOW, mode).ready is ready


def test_groups_get_the_age_of_all_rules_and_survive_a_store() -> None:
    absent = Rule("z", Check.ABSENT)
    own = Rule("c", Check.EXISTS, max_age="1h")
    declared = Validation(
        (RuleGroup(any_of=(A, own)), RuleGroup(all_of=(B,)), absent, C), max_age="2h"
    )
    stored = msgspec.json.decode(canonical.encode(declared), type=Validation)
    assert stored == declared
    assert [rule.key for rule in stored.every_rule] == ["a", "c", "b", "z", "c"]
    ages = [rule.max_age for rule in Validation(stored.bounded_rules).every_rule]
    assert ages == ["2h", "1h", "2h", None, "2h"]  # a rule that wants no reading gets none
    assert [type(each) for each in stored.bounded_rules] == [RuleGroup, RuleGroup, Rule, Rule]


@pytest.mark.parametrize("entry", [5, "a", None, [], True, {"key": "a"}, {"anyOf": 5}])
def test_a_row_with_something_else_for_a_rule_is_refused(entry: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"rules": [entry]}, Validation)


def test_an_empty_group_never_holds_even_if_a_store_has_one() -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"rules": [{"anyOf": []}]}, Validation)
    assert not judge([RuleGroup(any_of=())], {}, NOW).ready
    assert not judge([RuleGroup()], {}, NOW).ready


def test_what_a_rule_asks_stands_in_a_table() -> None:
    asked = RuleRecord("s", "gte", "n", OTHER, 4, None, NOW, against=5, stable_for="10m")
    assert needed(asked) == ">= manifest.rows (5) for 10m"
    assert needed(RuleRecord("s", "exists")) == "exists"
    assert (
        needed(RuleRecord("s", "gte", "n", "2h", kind="received_too_old")) == "received within 2h"
    )
    assert in_symbols("changed_by", {"down": 5}) == (
        "changed by at most 5 down, any distance the other way"
    )
    assert in_symbols("changed_by", "odd") == "changed by at most odd"
    assert in_symbols("changed_by", 5, 100) == "changed by at most 5 up or down from 100"
    assert in_symbols("between", 5) == "between 5" and in_symbols("in", "x") == "in x"
    assert in_symbols("between", [1, 2]) == "between 1 and 2"
