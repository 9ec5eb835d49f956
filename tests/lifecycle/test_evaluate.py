"""Evaluating rules that look back, that must be stable, and that stand in groups."""

from typing import Any

import pytest

from interlock.domain.event import EventType
from interlock.domain.run import RunKey, Status
from interlock.queries.why import Why, explain
from usecases.home import KEY, NOW, Home, assert_a_crash_changes_nothing

STABLE = """
schedule: {id: stream, trigger: {key: orders, check: exists}, evaluation: {window: 2h, interval: 1h}}
validation: {rules: [{key: lag, check: lt, field: s, value: 5, stableFor: 10m}]}
"""
NEAR = """
validation: {rules: [{key: orders, check: changed_by, field: count, value: 20%}]}
"""
GROUPED = """
validation:
  rules:
    - anyOf:
        - {key: load, check: exists}
        - {key: check, check: equals, field: n, value: {field: n, key: orders}}
    - allOf: [{key: orders, check: gte, field: n, value: 5}]
"""


@pytest.fixture
def home() -> Home:
    return Home()


def why(home: Home) -> Why:
    (answer,) = explain(KEY.pipeline_id, home.ports, KEY.date)
    return answer


def test_it_looks_again_when_the_time_of_a_rule_is_up(home: Home) -> None:
    home.adopt(STABLE)
    home.reading("lag", s=3)
    home.pass_time(minutes=3)
    home.admit()
    answer = home.mode("evaluate")
    assert (answer["passed"], answer["waitSeconds"]) == (False, 7 * 60)
    assert answer["failing"] == ["lag.s has held for 3m, needs 10m"]
    home.pass_time(minutes=7)
    assert home.mode("evaluate")["passed"]
    (record,) = home.run().verdict.results  # type: ignore[union-attr]
    assert record.since == NOW


def test_a_reading_that_flips_and_flips_back_between_two_looks_begins_again(home: Home) -> None:
    home.adopt(STABLE)
    home.reading("lag", s=3)
    home.admit()
    home.mode("evaluate")
    home.pass_time(minutes=8)
    home.reading("lag", s=9)
    home.pass_time(minutes=1)
    home.reading("lag", s=3)
    home.pass_time(minutes=1)
    answer = home.mode("evaluate")
    assert (answer["passed"], answer["waitSeconds"]) == (False, 9 * 60)


def test_the_end_of_the_window_comes_before_the_time_of_a_rule(home: Home) -> None:
    home.adopt(STABLE)
    home.admit()
    home.pass_time(minutes=115)
    home.reading("lag", s=3)
    assert home.mode("evaluate")["waitSeconds"] == 5 * 60
    home.pass_time(minutes=5)
    assert home.mode("evaluate")["exhausted"]


def test_an_evaluation_of_a_stable_rule_may_die_at_any_write() -> None:
    def scene(home: Home) -> None:
        home.adopt(STABLE)
        home.reading("lag", s=3)
        home.admit()
        home.mode("evaluate")
        home.pass_time(minutes=10)

    assert_a_crash_changes_nothing(scene, lambda home: home.mode("evaluate"))


def test_the_reading_of_the_previous_date_stays_in_the_evidence(home: Home) -> None:
    home.adopt(NEAR)
    home.reading("orders#2026-03-02", count=100)
    home.launched(count=110)
    seen = home.run().evidence["previous:orders"]
    assert (seen.key, seen.fields) == ("orders#2026-03-02", {"count": 100})
    (rule,) = why(home).rules
    assert (rule.actual, rule.against, rule.kind) == (110, 100, None)
    assert home.event(EventType.VALIDATION_PASSED).detail["results"][0]["against"] == 100


def test_a_first_date_is_started_by_hand_or_by_a_reading_of_the_date_before(home: Home) -> None:
    home.adopt(NEAR)
    home.admit(count=100)
    assert home.mode("evaluate")["failing"] == [
        "orders.count is 100, and the previous date has no reading to compare with"
    ]
    assert why(home).unblock == (
        "a reading of orders for the previous date, or `first: pass` in its rule",
    )
    home.reading("orders#2026-03-02", count=95)
    assert home.mode("evaluate")["passed"]


def test_the_run_of_a_date_is_what_the_next_is_compared_with(home: Home) -> None:
    home.adopt(NEAR)
    home.reading("orders#2026-03-02", count=100)
    home.completed(count=110)
    home.pass_time(days=1)
    later = RunKey(KEY.pipeline_id, KEY.schedule_id, "2026-03-04")
    home.admit(date="2026-03-04", count=150)  # the plain key is overwritten
    answer = home.mode("evaluate", later)
    assert answer["failing"] == [
        "orders.count is 150, was 110 on the previous date, may change by at most 20% up or down"
    ]


def test_a_rerun_compares_the_readings_of_its_own_date_only(home: Home) -> None:
    home.adopt(NEAR)
    home.reading("orders#2026-03-02", count=100)
    home.completed(count=110)
    home.reading("orders#2026-03-02", count=105)
    home.request()
    home.settle()
    assert home.run().attempt == 0 and home.run().status is Status.COMPLETED  # nothing is new


def test_a_group_shows_each_member_and_what_stands_in_the_way(home: Home) -> None:
    home.adopt(GROUPED)
    home.admit(n=4)
    home.reading("check", date=KEY.date, n=3)
    assert home.mode("evaluate")["failing"] == [
        "none of anyOf[0] holds: no reading of load; check.n is 3, needs orders.n (4)",
        "orders.n is 4, needs >= 5",
    ]
    answer = why(home)
    assert [(each.group, each.key, each.blocks) for each in answer.rules] == [
        ("anyOf[0]", "load", True),
        ("anyOf[0]", "check", True),
        ("allOf[1]", "orders", True),
    ]
    home.reading("load", date=KEY.date)
    home.mode("evaluate")
    answer = why(home)
    assert [each.blocks for each in answer.rules] == [False, False, True]
    assert answer.blocked_by == ("orders.n is 4, needs >= 5",)
    assert answer.unblock == ("a reading of orders with n >= 5",)


@pytest.mark.parametrize(
    ("rule", "readings", "remedy"),
    [
        ("{key: e, check: absent}", {"e": {}}, "the removal of the reading of e"),
        ("{key: e, check: absent, field: n}", {"e": {"n": 1}}, "the removal of e.n"),
        (
            "{key: e, check: gte, field: n, value: {field: n, key: f}}",
            {"e": {"n": 1}},
            "a reading of the key that e is compared with",
        ),
        (
            "{key: e, check: gte, field: n, value: {field: m}}",
            {"e": {"n": 1}},
            "a reading with the field that e is compared with",
        ),
        (
            "{key: e, check: gte, field: n, value: {field: m}}",
            {"e": {"n": 1, "m": 2}},
            "a reading of e with n >= field m (2)",
        ),
        (
            "{key: e, check: exists, stableFor: 10m}",
            {"e": {}},
            "no new reading of e for a while: it must hold for 10m",
        ),
        (
            "{key: e, check: between, field: n, value: [1, 2]}",
            {"e": {"n": 3}},
            "a reading of e with n between 1 and 2",
        ),
    ],
)
def test_why_says_what_would_make_a_rule_hold(
    home: Home, rule: str, readings: dict[str, dict[str, Any]], remedy: str
) -> None:
    home.adopt(f"validation: {{rules: [{rule}]}}")
    for key, fields in readings.items():
        home.reading(key, **fields)
    home.admit()
    home.mode("evaluate")
    assert why(home).unblock == (remedy,)


def test_a_date_without_a_run_is_judged_on_the_previous_date_too(home: Home) -> None:
    home.adopt(NEAR)
    home.reading("orders#2026-03-02", count=100)
    home.reading("orders#2026-03-03", count=10)
    (rule,) = why(home).rules
    assert (rule.kind, rule.against) == ("changed_too_much", 100)
