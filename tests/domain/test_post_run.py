"""What post-run readings say about a run."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from contracts.samples import a_key, a_run
from declared import declared
from interlock.domain.check import Check
from interlock.domain.pipeline import PostRun, PostRunEvaluation, Rule
from interlock.domain.post_run import (
    came_since,
    drift_field,
    drifts,
    is_measured,
    late_window,
    looks_again_at,
    outcome,
    post_run_keys,
)
from interlock.domain.run import Evidence, PostRunState, Status
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


@pytest.mark.parametrize(
    ("declared_field", "rule_field", "before", "watched"),
    [
        ("total", "count", {"count": 1}, "total"),  # what the owner says, whatever is there
        (None, "count", {"count": 1, "sensor_count": 2}, "count"),
        (None, "count", {"count": "1.5"}, "count"),  # a plain decimal text is a number
        (None, "complete", {"complete": True, "sensor_count": 2}, "sensor_count"),
        (None, None, {"sensor_count": 2}, "sensor_count"),
        (None, "complete", {"complete": True}, None),
        (None, "complete", {"complete": True, "sensor_count": "many"}, None),
        (None, None, {}, None),
    ],
)
def test_drift_watches_a_number_of_the_baseline(
    declared_field: str | None, rule_field: str | None, before: dict[str, Any], watched: str | None
) -> None:
    rule = Rule("orders", Check.EXISTS, rule_field)
    assert drift_field(PostRun((rule,), drift_field=declared_field), rule, before) == watched


@pytest.mark.parametrize(
    ("before", "after", "measured"),
    [
        ({"count": 1}, {"count": 9}, True),
        ({"count": 1}, {"count": "many"}, False),
        ({"count": 1}, {}, False),
        ({"complete": True}, {"complete": True}, False),
    ],
)
def test_a_change_is_measured_where_both_sides_have_the_number(
    before: dict[str, Any], after: dict[str, Any], measured: bool
) -> None:
    assert is_measured(PostRun((COUNT,)), "orders", before, after) is measured
    assert not is_measured(PostRun((COUNT,)), "another", before, after)


def test_all_post_run_rules_must_hold() -> None:
    post_run = PostRun((COUNT, Rule("stock", Check.LT, "n", 5)))
    fine, low = {"count": 1000}, {"count": 1}
    held = outcome(post_run, readings(orders=fine, stock={"n": 1}), (), NOW)
    assert held is not None and held.ready
    failed = outcome(post_run, readings(orders=low, stock={"n": 1}), (), NOW)
    assert failed is not None
    assert [result.rule.key for result in failed.failing] == ["orders"]


def test_a_rule_whose_reading_has_not_come_neither_holds_nor_fails() -> None:
    post_run = PostRun((COUNT, Rule("stock", Check.EXISTS)))
    assert outcome(post_run, {}, (), NOW) is None
    assert outcome(post_run, readings(orders={"count": 1000}), (), NOW) is None
    failed = outcome(post_run, readings(orders={"count": 1}), (), NOW)
    assert failed is not None and not failed.ready  # the other one can't help it any more


def test_a_reading_that_was_seen_and_is_gone_fails_its_rule() -> None:
    post_run = PostRun((COUNT, Rule("stock", Check.EXISTS)))
    failed = outcome(post_run, readings(orders={"count": 1000}), {"stock"}, NOW)
    assert failed is not None
    assert [result.kind for result in failed.failing] == ["sensor_missing"]


def test_only_inputs_and_what_came_since_the_attempt_speak_of_it() -> None:
    run = a_run(
        a_key(),
        NOW,
        status=Status.COMPLETED,
        evidence=baseline(used={}),
        post_run=PostRunState(seen={"noted": NOW}),
    )
    old = NOW - timedelta(seconds=1)
    found = {
        "used": Reading("p", "used", {}, old),
        "noted": Reading("p", "noted", {}, old, timed=False),
        "fresh": Reading("p", "fresh", {}, NOW),
        "old": Reading("p", "old", {}, old),
        "untimed": Reading("p", "untimed", {}, NOW, timed=False),  # it could be of any day
    }
    assert set(came_since(run, found)) == {"used", "noted", "fresh"}


def test_what_came_without_a_date_after_completion_is_of_the_run_that_it_was_taken_for() -> None:
    run = a_run(
        a_key(),
        NOW,
        completed_at=NOW + HOUR,
        evidence=baseline(used={}),
        post_run=PostRunState(seen={"noted": NOW + 2 * HOUR, "replaced": NOW + 2 * HOUR}),
    )
    next_day = NOW + timedelta(days=1)
    found = {
        "before": Reading("p", "before", {}, NOW + HOUR),
        "noted": Reading("p", "noted", {}, NOW + 2 * HOUR),
        "dated": Reading("p", "dated", {"date": "2026-03-03"}, next_day),
        "by-key": Reading("p", "by-key#2026-03-03", {}, next_day),
        "replaced": Reading("p", "replaced", {}, next_day),
        "used": Reading("p", "used", {}, next_day),
        "unheard": Reading("p", "unheard", {}, next_day),
    }
    assert set(came_since(run, found)) == {"before", "noted", "dated", "by-key"}


AGING = Rule("orders", Check.AGE_LT, "updatedAt", "1h")
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("rule", "interval", "after", "next_look"),
    [
        (COUNT, None, 0 * HOUR, 24 * HOUR),
        (COUNT, "2h", 0 * HOUR, 24 * HOUR),  # a number does not age
        (AGING, None, 0 * HOUR, 24 * HOUR),
        (AGING, "2h", 0 * HOUR, 2 * HOUR),
        (AGING, "2h", 2 * HOUR, 4 * HOUR),
        (AGING, "2h", 5 * HOUR, 6 * HOUR),  # late: the ones in between are not made up for
        (AGING, "10h", 20 * HOUR, 24 * HOUR),  # the end of the window, not after it
        (AGING, "2h", -HOUR, 2 * HOUR),  # a clock that was set back
        (AGING, "2h", 24 * HOUR, None),
        (AGING, "0s", 0 * HOUR, timedelta(seconds=1)),
        (COUNT, None, 25 * HOUR, None),
    ],
)
def test_rules_that_age_are_looked_at_again_until_the_window_ends(
    rule: Rule, interval: str | None, after: timedelta, next_look: timedelta | None
) -> None:
    post_run = PostRun((rule,), evaluation=PostRunEvaluation(interval=interval))
    expected = None if next_look is None else NOW + next_look
    assert looks_again_at(NOW, post_run, NOW + after) == expected


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("", 24),
        ("postRun: {rules: [{key: orders, check: exists}]}", 24),
        ("postRun: {rules: [{key: orders, check: exists}], evaluation: {window: 3h}}", 3),
        ("postRun: {rules: [{key: orders, check: exists}], lateWindow: 5h}", 5),
    ],
)
def test_late_data_reruns_within_a_window(text: str, hours: int) -> None:
    assert late_window(declared(text)) == timedelta(hours=hours)


def test_a_pipeline_without_post_run_rules_watches_no_key() -> None:
    assert post_run_keys(declared("")) == frozenset()
