"""Timers: what is due fires once, and every arming ends in exactly one way."""

from datetime import timedelta

from contracts.samples import NOW, ManualClock, a_timer
from interlock.adapters.sqlite.store import Store
from interlock.adapters.sqlite.timers import TimerState

NAME = a_timer().name
HOUR = timedelta(hours=1)


def ends(store: Store) -> list[tuple[str, TimerState]]:
    return [(note.name, note.state) for note in store.timers.log()]


def test_what_is_due_is_listed_the_earliest_first(store: Store) -> None:
    timers = [a_timer(f"t{hours}", hours=hours) for hours in (3, 1, 2)]
    store.timers.arm(timers)
    assert store.timers.due(NOW, 10) == []
    assert store.timers.due(NOW + 2 * HOUR, 10) == [timers[1], timers[2]]
    assert store.timers.due(NOW + 9 * HOUR, 1) == [timers[1]]
    assert store.timers.next_due() == NOW + HOUR


def test_a_time_that_has_passed_is_due_at_once(store: Store) -> None:
    past = a_timer(hours=-5)
    store.timers.arm([past])
    assert store.timers.due(NOW, 10) == [past]


def test_a_timer_fires_once(store: Store) -> None:
    store.timers.arm([a_timer()])
    assert store.timers.fire(NAME, a_timer().due_at)
    assert not store.timers.fire(NAME, a_timer().due_at)
    assert store.timers.due(NOW + 9 * HOUR, 10) == []
    assert store.timers.next_due() is None


def test_a_timer_that_has_fired_is_not_armed_for_the_same_instant_again(store: Store) -> None:
    store.timers.arm([a_timer()])
    store.timers.fire(NAME, a_timer().due_at)
    store.timers.arm([a_timer()])
    assert store.timers.due(NOW + 9 * HOUR, 10) == []
    store.timers.arm([a_timer(hours=2)])
    assert store.timers.due(NOW + 9 * HOUR, 10) == [a_timer(hours=2)]


def test_a_timer_that_was_moved_or_cancelled_does_not_fire(store: Store) -> None:
    store.timers.arm([a_timer(hours=1), a_timer("other")])
    store.timers.arm([a_timer(hours=2)])
    store.timers.cancel(["other"])
    assert not store.timers.fire(NAME, NOW + HOUR)
    assert not store.timers.fire("other", a_timer("other").due_at)
    assert not store.timers.fire("never armed", NOW)


def test_every_arming_ends_in_exactly_one_way(store: Store, clock: ManualClock) -> None:
    store.timers.arm([a_timer(hours=1), a_timer("other", hours=1)])
    store.timers.arm([a_timer(hours=1)])
    store.timers.arm([a_timer(hours=2)])
    store.timers.cancel([NAME, NAME])
    store.timers.arm([a_timer(hours=2)])
    clock.advance(hours=2)
    store.timers.fire(NAME, NOW + 2 * HOUR)
    assert ends(store) == [
        (NAME, TimerState.ARMED),
        ("other", TimerState.ARMED),
        (NAME, TimerState.SUPERSEDED),
        (NAME, TimerState.ARMED),
        (NAME, TimerState.CANCELLED),
        (NAME, TimerState.ARMED),
        (NAME, TimerState.FIRED),
    ]
    last = store.timers.log()[-1]
    assert (last.due_at, last.at) == (NOW + 2 * HOUR, NOW + 2 * HOUR)
