"""Stability: since when a rule has held, from the readings and from the last evaluation."""

from datetime import UTC, datetime, timedelta
from typing import Any

from interlock.domain.check import Check
from interlock.domain.pipeline import Rule, RuleGroup
from interlock.domain.previous_date import previous_key
from interlock.domain.rule_text import explain
from interlock.domain.rules import Verdict, judge
from interlock.domain.run import Judgement
from interlock.domain.sensor import Reading
from interlock.usecases.evidence import rule_records

NOW = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
ENOUGH = Rule("s", Check.GTE, "n", 5, stable_for="10m")
YOUNG = Rule("s", Check.AGE_LT, "made", "1h", stable_for="10m")
GONE = Rule("s", Check.ABSENT, stable_for="10m")


def reading(at: datetime = NOW, key: str = "s", timed: bool = True, **fields: Any) -> Reading:
    return Reading("p", key, fields, at, timed=timed)


class Evaluations:
    """Evaluations of one run, each with the record of the last."""

    def __init__(self, *rules: Rule | RuleGroup) -> None:
        self._rules = rules
        self._before: Judgement | None = None

    def at(self, now: datetime, *readings: Reading) -> Verdict:
        found = {each.key: each for each in readings}
        verdict = judge(self._rules, found, now, before=self._before)
        past = () if self._before is None else self._before.results
        self._before = Judgement(now, verdict.ready, rule_records(verdict.results, now, past))
        return verdict

    @property
    def since(self) -> datetime | None:
        assert self._before is not None
        return self._before.results[0].since


def kind(verdict: Verdict) -> str | None:
    return verdict.results[0].kind


def test_a_rule_counts_once_its_reading_has_stood_for_long_enough() -> None:
    came = reading(NOW, n=5)
    run = Evaluations(ENOUGH)
    assert kind(run.at(NOW + 9 * MINUTE, came)) == "not_stable_yet"
    assert run.since == NOW
    assert run.at(NOW + 10 * MINUTE, came).ready
    assert run.since == NOW


def test_a_reading_from_before_the_run_has_stood_since_it_came() -> None:
    assert Evaluations(ENOUGH).at(NOW, reading(NOW - 10 * MINUTE, n=5)).ready


def test_every_new_reading_begins_the_time_again() -> None:
    """Between two evaluations, it may have replaced one on which the rule failed."""
    run = Evaluations(ENOUGH)
    run.at(NOW, reading(NOW, n=5))
    again = reading(NOW + 8 * MINUTE, n=5)
    assert kind(run.at(NOW + 10 * MINUTE, again)) == "not_stable_yet"
    assert run.at(NOW + 18 * MINUTE, again).ready


def test_a_rule_that_failed_begins_after_that() -> None:
    run = Evaluations(ENOUGH)
    assert kind(run.at(NOW, reading(NOW, n=4))) == "not_greater_or_equal"
    # the row of a plain key serves again, because the one of the date was removed
    old = reading(NOW - 20 * MINUTE, n=5)
    assert kind(run.at(NOW + 5 * MINUTE, old)) == "not_stable_yet"
    assert run.since == NOW
    assert run.at(NOW + 10 * MINUTE, old).ready


def test_an_age_is_watched_from_evaluation_to_evaluation() -> None:
    row = reading(NOW - 30 * MINUTE, made="2026-03-03T11:30:00Z")
    run = Evaluations(YOUNG)
    assert kind(run.at(NOW, row)) == "not_stable_yet"
    assert kind(run.at(NOW + 9 * MINUTE, row)) == "not_stable_yet"
    assert run.at(NOW + 10 * MINUTE, row).ready


def test_an_absence_is_watched_from_evaluation_to_evaluation() -> None:
    run = Evaluations(GONE)
    assert kind(run.at(NOW)) == "not_stable_yet"
    assert kind(run.at(NOW + 5 * MINUTE, reading(NOW + 5 * MINUTE))) == "present"
    assert kind(run.at(NOW + 10 * MINUTE)) == "not_stable_yet"
    assert run.at(NOW + 20 * MINUTE).ready


def test_the_newest_of_the_readings_that_it_compares_counts() -> None:
    rule = Rule("s", Check.GTE, "n", {"field": "m", "key": "t"}, stable_for="10m")
    run = Evaluations(rule)
    ours, theirs = reading(NOW - 60 * MINUTE, n=5), reading(NOW - 5 * MINUTE, "t", m=5)
    assert kind(run.at(NOW, ours, theirs)) == "not_stable_yet"
    assert run.at(NOW + 5 * MINUTE, ours, theirs).ready


def test_the_reading_of_the_previous_date_counts_too() -> None:
    rule = Rule("s", Check.CHANGED_BY, "n", "20%", stable_for="10m")
    readings = {
        "s": reading(NOW - 60 * MINUTE, n=5),
        previous_key("s"): reading(NOW - 5 * MINUTE, n=5),
    }
    assert kind(judge([rule], readings, NOW)) == "not_stable_yet"
    assert judge([rule], readings, NOW + 5 * MINUTE).ready


def test_a_row_that_does_not_say_when_it_came_is_never_stable() -> None:
    verdict = Evaluations(ENOUGH).at(NOW, reading(NOW, timed=False, n=5))
    assert kind(verdict) == "since_unknown"
    assert explain(verdict.results[0], NOW) == (
        "s.n has a reading that does not say when it came, needs to hold for 10m"
    )


def test_an_unstable_rule_says_how_long_it_has_held() -> None:
    (result,) = Evaluations(ENOUGH).at(NOW + 3 * MINUTE, reading(NOW, n=5)).results
    assert explain(result, NOW + 3 * MINUTE) == "s.n has held for 3m, needs 10m"


def test_members_of_groups_are_watched_each_by_itself() -> None:
    slow = Rule("s", Check.AGE_LT, "made", "1h", stable_for="30m")
    run = Evaluations(RuleGroup(any_of=(YOUNG, slow)), RuleGroup(all_of=(YOUNG,)))
    row = reading(NOW, made="2026-03-03T12:00:00Z")
    run.at(NOW, row)
    verdict = run.at(NOW + 10 * MINUTE, row)
    assert [each.kind for each in verdict.results] == [None, "not_stable_yet", None]
    assert verdict.ready


def test_two_rules_of_one_field_keep_their_own_time() -> None:
    strict = Rule("s", Check.AGE_LT, "made", "5m", stable_for="10m")
    run = Evaluations(strict, YOUNG)
    row = reading(NOW, made="2026-03-03T12:00:00Z")
    run.at(NOW, row)
    verdict = run.at(NOW + 10 * MINUTE, row)
    assert [each.kind for each in verdict.results] == ["too_old", None]


def test_a_rule_that_the_last_evaluation_does_not_know_counts_from_its_reading() -> None:
    others = rule_records(judge([GONE], {}, NOW).results, NOW)
    before = Judgement(NOW, False, others)
    readings = {"s": reading(NOW - 10 * MINUTE, n=5)}
    assert judge([ENOUGH], readings, NOW, before=before).ready
