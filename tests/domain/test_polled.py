"""Polled: what counts of the time between two looks."""

from datetime import UTC, datetime, timedelta

import pytest

from interlock.domain.polled import GAP, Polled

LAUNCHED = datetime(2026, 3, 3, 8, tzinfo=UTC)
WAIT = timedelta(minutes=1)
SECOND = timedelta(seconds=1)


@pytest.mark.parametrize(
    ("passed", "counts"),
    [
        (WAIT, WAIT),
        (WAIT + GAP, WAIT + GAP),
        (WAIT + GAP + SECOND, WAIT),
        (timedelta(days=40), WAIT),
        (-timedelta(days=40), timedelta(0)),
    ],
)
def test_of_a_gap_only_the_planned_wait_counts(passed: timedelta, counts: timedelta) -> None:
    looked = Polled(LAUNCHED).planned(WAIT).looked(LAUNCHED + passed)
    assert looked == Polled(LAUNCHED + passed, counts)


def test_what_was_watched_adds_up() -> None:
    polled = Polled(LAUNCHED)
    for number in range(1, 11):
        polled = polled.planned(WAIT).looked(LAUNCHED + number * WAIT)
    assert polled.counted == 10 * WAIT
