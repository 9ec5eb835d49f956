"""Whether what a job read has changed since."""

from decimal import Decimal
from typing import Any

import pytest

from interlock.domain.drift import Drift, changes, drift


def found(before: Any, after: Any, threshold: Any = 0) -> Drift | None:
    return drift({"n": before}, {"n": after}, "n", threshold)


@pytest.mark.parametrize(
    ("before", "after", "threshold", "drifts"),
    [
        (100, 100, 0, False),
        (100, 101, 0, True),
        (100, 110, 10, False),  # by more than the threshold, not by as much
        (100, 111, 10, True),
        (110, 99, 10, True),  # downwards too
        (5000, 0, 0, True),  # zero is a number
        (5000, None, 0, False),  # absent is not zero: nothing to compare
        (None, 5000, 0, False),
        ("100.0", "1e2", 0, False),  # numbers as rules read them
        (Decimal("0.1"), Decimal("0.3"), Decimal("0.2"), False),  # exactly at the threshold
        ("9007199254740993", 9007199254740992, Decimal("0.5"), True),
        (0, "0." + "1".ljust(40, "0") + "1", Decimal("0.1"), True),  # far behind the point
        ("many", 5, 0, False),
        (True, 5, 0, False),
        (1, "1e999999999999999999", 0, True),  # as far as numbers go, and no error
        ("-9e999999999999999999", "9e999999999999999999", 0, True),
        ("1e-999999999999999999", 1, 0, True),
    ],
)
def test_a_number_drifts_when_it_moved_by_more_than_the_threshold(
    before: Any, after: Any, threshold: Any, drifts: bool
) -> None:
    assert (found(before, after, threshold) is not None) is drifts


def test_a_drift_says_from_where_to_where() -> None:
    assert found("4200", 5100, 10) == Drift("n", Decimal(4200), 5100, Decimal(900))
    assert found(5100, 4200) == Drift("n", 5100, 4200, Decimal(-900))


def test_a_delta_can_always_be_written_down() -> None:
    huge = found("-9e999999999999999999", "9e999999999999999999")
    tiny = found("1e-999999999999999999", 1)
    assert huge is not None and huge.delta.is_finite()
    assert tiny is not None and Decimal("0.999") < tiny.delta <= 1


def test_the_field_may_lie_deep_in_the_reading() -> None:
    assert drift({"a": {"n": 1}}, {"a": {"n": 2}}, "a.n") is not None


def test_changes_name_the_fields_that_differ() -> None:
    before, after = {"a": 1, "b": 2, "gone": 3}, {"a": 1, "b": 5, "new": 4}
    assert changes(before, after) == [
        {"field": "b", "before": 2, "after": 5},
        {"field": "gone", "before": 3, "after": None},
        {"field": "new", "before": None, "after": 4},
    ]


def test_long_lists_of_changes_are_cut() -> None:
    after = {f"f{n}": n for n in range(30)}
    assert len(changes({}, after)) == 20
    assert len(changes({}, after, limit=3)) == 3
