"""The rows of the checks: whole, and of one mind with themselves."""

from datetime import UTC, datetime
from typing import Any

import pytest

from interlock.domain.check import Bound, Check, in_symbols, shown, symbol_of

NOW = datetime(2026, 3, 3, 12, 0, tzinfo=UTC)
TESTED = [check for check in Check if check.spec.test is not None]


@pytest.mark.parametrize("check", Check)
def test_a_row_says_when_a_check_passes_and_what_it_needs(check: Check) -> None:
    spec = check.spec
    assert spec.passes and spec.symbol and spec.needs
    assert ("{}" in spec.needs) == (spec.value is not None)
    assert Check(check.value) is check


def _values(check: Check) -> list[Any]:
    """Values that a rule of it may get, and those of a row that no file would have."""
    if check.spec.looks_back:
        return [("20%", 4), ("20%", "x"), (5, None)]
    return ["2h"] if check.spec.ages else ["2h", "4", "x", "(", [1, 2], [2], ["x", 3]]


@pytest.mark.parametrize("check", TESTED)
def test_a_test_answers_only_reasons_of_its_row(check: Check) -> None:
    spec = check.spec
    assert spec.test is not None
    stamps = ("2026-03-03T11:00:00Z", "2026-03-04T11:00:00Z", "2026-03-01T11:00:00Z")
    readings: list[Any] = [None, True, "x", 0, 2, 10**9, [], {}, *stamps]
    for actual in readings:
        for expected in _values(check):
            kind = spec.test(actual, expected, NOW)
            assert kind is None or kind in spec.reasons


@pytest.mark.parametrize("bound", Bound)
def test_a_bound_is_lower_upper_or_exact(bound: Bound) -> None:
    assert [bound.is_lower, bound.is_upper, bound is Bound.EXACTLY].count(True) == 1
    assert bound.is_strict == (bound in (Bound.ABOVE, Bound.BELOW))


def test_of_all_checks_only_age_lt_keeps_an_old_reading_from_passing() -> None:
    assert [check for check in Check if check.spec.limits_age] == [Check.AGE_LT]


def test_a_check_of_another_version_goes_by_its_name() -> None:
    assert symbol_of("gte") == ">=" and symbol_of("resembles") == "resembles"
    assert in_symbols("gte", 5) == ">= 5" and in_symbols("resembles", "x") == "resembles x"


def test_a_check_that_compares_with_nothing_stands_alone() -> None:
    assert in_symbols("exists", "-") == "exists"


def test_a_long_value_is_cut() -> None:
    assert shown("x" * 61) == "x" * 59 + "…"
    assert shown({"a": 1}) == '{"a":1}'
