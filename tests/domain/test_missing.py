"""Missing: whose file is gone, and when the pipeline is taken away for that."""

from datetime import UTC, datetime, timedelta

import pytest

from interlock.domain.missing import GRACE, MANY_GRACE, Missing, Present, judge_missing

NOW = datetime(2026, 3, 3, 8, tzinfo=UTC)
LATER = NOW + timedelta(minutes=3)
FIVE = ("a", "b", "c", "d", "e")


def gone(*names: str, there: bool = True, known: bool = True) -> Present:
    return Present(set(FIVE) - set(names), is_known=known, is_there=there)


def judged(present: Present, *before: Missing, now: datetime = NOW) -> dict[str, Missing]:
    return {each.pipeline_id: each for each in judge_missing(FIVE, present, before, now)}


def test_nothing_is_missing_while_every_file_is_there() -> None:
    assert judged(gone()) == {}


def test_one_file_has_the_grace_from_when_it_went() -> None:
    (first,) = judged(gone("a")).values()
    (later,) = judged(gone("a"), first, now=LATER).values()

    assert first == Missing(pipeline_id="a", since=NOW, until=NOW + GRACE)
    assert later == first
    assert not first.is_over(NOW + GRACE - timedelta(seconds=1))
    assert first.is_over(NOW + GRACE)


def test_a_file_that_is_back_is_not_missing() -> None:
    (first,) = judged(gone("a")).values()

    assert judged(gone(), first, now=LATER) == {}


@pytest.mark.parametrize(
    ("in_force", "absent", "is_held"),
    [
        (1, 1, False),  # the only one may go: many are two at least
        (2, 1, False),
        (2, 2, True),
        (4, 2, True),  # half is enough
        (5, 2, False),
        (5, 3, True),
    ],
)
def test_half_of_the_files_and_two_at_least_are_held(
    in_force: int, absent: int, is_held: bool
) -> None:
    names = FIVE[:in_force]
    found = judge_missing(names, Present(names[absent:]), (), NOW)

    assert {each.held_at for each in found} == {NOW if is_held else None}
    assert {each.until for each in found} == {NOW + (MANY_GRACE if is_held else GRACE)}


def test_files_that_go_one_after_the_other_are_many_too() -> None:
    first = judged(gone("a"))["a"]
    found = judged(gone("a", "b", "c"), first, now=LATER)

    assert {each.held_at for each in found.values()} == {LATER}
    assert found["a"].since == NOW
    assert found["a"].until == LATER + MANY_GRACE


def test_what_is_held_stays_held_when_the_others_are_back() -> None:
    held = judged(gone("a", "b", "c"))
    (left,) = judged(gone("a"), *held.values(), now=LATER).values()

    assert left == held["a"]


def test_without_the_folder_everything_is_held_and_nothing_ever_over() -> None:
    found = judged(gone(*FIVE, there=False))

    assert {each.until for each in found.values()} == {None}
    assert {each.held_at for each in found.values()} == {NOW}
    assert not any(each.is_over(NOW + timedelta(days=365)) for each in found.values())


def test_the_grace_begins_when_the_folder_is_back() -> None:
    held = judged(gone(*FIVE, there=False))
    (left,) = judged(gone("a"), *held.values(), now=LATER).values()

    assert (left.since, left.held_at, left.until) == (NOW, NOW, LATER + MANY_GRACE)


def test_a_file_that_does_not_say_whose_it_is_may_be_the_one() -> None:
    assert judged(gone("a", known=False)) == {}


def test_what_was_missing_before_waits_while_a_file_does_not_say_whose_it_is() -> None:
    first = judged(gone("a"))["a"]
    found = judged(gone("a", "b", "c", known=False), first, now=LATER)
    after = judged(gone("a"), *found.values(), now=LATER)

    assert list(found) == ["a"]
    assert (found["a"].until, found["a"].held_at) == (None, None)
    assert after["a"].until == LATER + GRACE
