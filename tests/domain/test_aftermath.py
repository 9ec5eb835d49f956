"""What post-run readings say about a run."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from interlock.domain.aftermath import drifts, outcome
from interlock.domain.pipeline import Check, PostRun, Rule
from interlock.domain.run import Evidence
from interlock.domain.sensor import Reading

NOW = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
COUNT = Rule("orders", Check.GTE, "count", 1000)


def readings(**values: Any) -> dict[str, Reading]:
    return {key: Reading("p", key, fields, NOW) for key, fields in values.items()}


def baseline(**values: Any) -> dict[str, Evidence]:
    return {key: Evidence(key, "v", fields) for key, fields in values.items()}


def drifted(post_run: PostRun, now: dict[str, Reading], before: dict[str, Evidence]) -> list[str]:
    found = drifts(post_run, now, before)
    return [f"{each.reading.key}.{each.drift.field} {each.drift.delta:+}" for each in found]


def test_a_watched_number_that_moved_is_a_drift() -> None:
    now, before = readings(orders={"count": 5100}), baseline(orders={"count": 4200})
    assert drifted(PostRun((COUNT,)), now, before) == ["orders.count +900"]
    assert drifted(PostRun((COUNT,), drift_threshold=Decimal(900)), now, before) == []


def test_what_is_absent_on_a_side_is_no_drift() -> None:
    there = {"count": 5}
    assert drifted(PostRun((COUNT,)), readings(), baseline(orders=there)) == []
    assert drifted(PostRun((COUNT,)), readings(orders=there), {}) == []
    assert drifted(PostRun((COUNT,)), readings(orders={}), baseline(orders=there)) == []


def test_a_rule_without_a_field_watches_nothing() -> None:
    post_run = PostRun((Rule("orders", Check.EXISTS),))
    assert drifted(post_run, readings(orders={"a": 2}), baseline(orders={"a": 1})) == []


def test_the_pipelines_drift_field_is_watched_for_every_key() -> None:
    rules = (Rule("orders", Check.EXISTS), Rule("stock", Check.EXISTS))
    post_run = PostRun(rules, drift_field="total")
    now = readings(orders={"total": 2}, stock={"total": 3})
    before = baseline(orders={"total": 1}, stock={"total": 3})
    assert drifted(post_run, now, before) == ["orders.total +1"]


def test_two_rules_on_one_field_are_one_drift() -> None:
    rules = (COUNT, Rule("orders", Check.LTE, "count", 9000), Rule("orders", Check.GT, "sum", 0))
    now = readings(orders={"count": 2, "sum": 2})
    before = baseline(orders={"count": 1, "sum": 1})
    assert drifted(PostRun(rules), now, before) == ["orders.count +1", "orders.sum +1"]


def test_all_post_run_rules_must_hold() -> None:
    post_run = PostRun((COUNT, Rule("stock", Check.EXISTS)))
    verdict = outcome(post_run, readings(orders={"count": 1000}), NOW)
    assert not verdict.ready
    assert [result.rule.key for result in verdict.failing] == ["stock"]
    assert outcome(post_run, readings(orders={"count": 1000}, stock={}), NOW).ready
