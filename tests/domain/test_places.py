"""Who has a place for a job where a pipeline limits how many there are, and who waits."""

from datetime import timedelta
from typing import Any

import pytest

from contracts.samples import NOW, a_key, a_run
from interlock.domain.places import (
    MOST_WAITING,
    Holder,
    Places,
    before,
    counted,
    holder_of,
    is_full,
    leave,
    seat,
)
from interlock.domain.run import Run, RunKey, Status

P, T, R = Status.PENDING, Status.TRIGGERING, Status.RUNNING
NONE = Places(pipeline_id="silver-orders")
MINUTE = timedelta(minutes=1)


def run(day: int, status: Status = R, attempt: int = 0, **more: Any) -> Run:
    return a_run(a_key(date=f"2026-03-{day:02}"), status=status, attempt=attempt, **more)


def of(*runs: Run) -> dict[RunKey, Run]:
    return {each.key: each for each in runs}


def held(*runs: Run) -> Places:
    return Places(pipeline_id="silver-orders", holders=tuple(map(holder_of, runs)))


def waiting(*runs: Run) -> tuple[Holder, ...]:
    return tuple(map(holder_of, runs))


def test_the_first_to_ask_gets_a_place_and_keeps_it() -> None:
    me = run(3, P)
    seating = seat(NONE, me, {}, 1, NOW)
    assert (seating.behind, seating.places.holders) == ((), (holder_of(me),))
    again = seat(seating.places, me, of(me), 1, NOW)
    assert again == seating
    assert not is_full(seating.places, me, of(me), 1)


@pytest.mark.parametrize(
    ("other", "is_held"),
    [
        (run(2, R), True),
        (run(2, T), True),
        (run(2, P), True),  # it has its place, and is about to be launched
        (run(2, Status.COMPLETED), False),
        (run(2, Status.FAILED, retry_at=NOW), False),
        (run(2, Status.FAILED_FINAL), False),
        (run(2, P, attempt=1), False),  # of another attempt, which has to ask itself
        (None, False),  # its row is gone
    ],
)
def test_a_place_is_held_for_as_long_as_its_run_is_under_way(
    other: Run | None, is_held: bool
) -> None:
    places, runs = held(run(2)), {} if other is None else of(other)
    me = run(3, P)
    seating = seat(places, me, runs, 1, NOW)
    assert is_full(places, me, runs, 1) is is_held
    if is_held:
        assert seating.behind == (run(2).key,)
        assert seating.places.waiting == waiting(me)
        assert seating.places.holders == places.holders
    else:
        assert (seating.behind, seating.places.holders) == ((), waiting(me))


def test_there_are_as_many_places_as_the_file_says() -> None:
    first, second, me = run(1), run(2), run(3, P)
    for most, behind in ((2, (first.key, second.key)), (3, ())):
        assert seat(held(first, second), me, of(first, second), most, NOW).behind == behind


@pytest.mark.parametrize(
    ("changes", "goes_first"),
    [
        ({"waits_at": NOW}, True),
        ({"waits_at": NOW - 11 * MINUTE}, True),
        ({"waits_at": NOW - 12 * MINUTE}, False),  # it has not looked lately: it may be dead
        ({"waits_at": None}, False),
        ({"waits_at": NOW, "status": R}, False),
        ({"waits_at": NOW, "attempt": 1}, False),
    ],
)
def test_an_older_date_that_waits_goes_first(changes: dict[str, Any], goes_first: bool) -> None:
    older, me = run(2, **({"status": P} | changes)), run(3, P)
    places = Places(pipeline_id="silver-orders", waiting=waiting(run(2)))
    seating = seat(places, me, of(older), 1, NOW)
    assert seating.behind == ((older.key,) if goes_first else ())
    assert before(places, me) == waiting(run(2))
    assert seat(places, me, {}, 1, NOW).behind == ()  # its row is gone


def test_a_newer_date_that_waits_gives_way() -> None:
    newer, me = run(4, P, waits_at=NOW), run(3, P)
    places = Places(pipeline_id="silver-orders", waiting=waiting(newer))
    assert before(places, me) == ()
    assert seat(places, me, of(newer), 1, NOW).behind == ()


def test_with_places_for_all_waiting_runs_none_gives_way() -> None:
    older, me = run(2, P, waits_at=NOW), run(3, P)
    places = Places(pipeline_id="silver-orders", waiting=waiting(older))
    assert seat(places, me, of(older), 2, NOW).behind == ()


def test_an_attempt_that_gets_a_place_waits_no_more() -> None:
    me = run(3, P)
    places = Places(pipeline_id="silver-orders", waiting=waiting(me, run(5)))
    seating = seat(places, me, {}, 1, NOW)
    assert (seating.places.holders, seating.places.waiting) == (waiting(me), waiting(run(5)))


def test_only_the_oldest_of_many_are_known_by_name() -> None:
    many = tuple(Holder(f"2026-01-{n:05}", "stream", 0) for n in range(MOST_WAITING))
    places = Places(pipeline_id="silver-orders", holders=waiting(run(2)), waiting=many)
    seating = seat(places, run(3, P), of(run(2)), 1, NOW)
    assert seating.places.waiting == many


def test_one_whose_rules_do_not_hold_leaves_and_knows_behind_whom_it_would_wait() -> None:
    me, other = run(3, P), run(2)
    both = held(me, other)
    seating = leave(both, me, of(me, other), 2)
    assert (seating.places.holders, seating.behind) == (waiting(other), ())
    seating = leave(both, me, of(me, other), 1)
    assert seating.behind == (other.key,)
    queued = Places(pipeline_id="silver-orders", waiting=waiting(me, run(5)))
    assert leave(queued, me, {}, 1).places.waiting == waiting(run(5))


def test_jobs_that_began_without_a_limit_are_counted() -> None:
    dry = a_run(a_key(date="2026-03-07", dry=True), status=R)
    found = counted(
        held(run(1)), [run(1), run(2), run(4, P), run(5, T), run(6, Status.FAILED), dry]
    )
    assert found.holders == waiting(run(1), run(2), run(5, T))
