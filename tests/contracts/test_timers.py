"""Timers: a name is armed once, moved, or cancelled."""

from datetime import timedelta

from contracts.home import Home
from contracts.samples import NOW, a_timer

NAME = a_timer().name


def test_arming_twice_is_arming_once(home: Home) -> None:
    home.timers.arm([a_timer(), a_timer()])
    home.timers.arm([a_timer()])
    assert home.armed() == {NAME: a_timer().due_at}


def test_arming_a_name_for_another_time_moves_it(home: Home) -> None:
    home.timers.arm([a_timer(hours=1)])
    home.timers.arm([a_timer(hours=3)])
    assert home.armed() == {NAME: NOW + timedelta(hours=3)}
    home.timers.arm([a_timer(hours=2)])
    assert home.armed() == {NAME: NOW + timedelta(hours=2)}


def test_a_cancelled_timer_does_not_fire(home: Home) -> None:
    home.timers.arm([a_timer(), a_timer("other")])
    home.timers.cancel([NAME])
    home.timers.cancel([NAME, "never armed"])
    assert set(home.armed()) == {"other"}


def test_a_cancelled_timer_can_be_armed_again(home: Home) -> None:
    home.timers.arm([a_timer()])
    home.timers.cancel([NAME])
    home.timers.arm([a_timer()])
    assert home.armed() == {NAME: a_timer().due_at}


def test_long_names_stay_distinct(home: Home) -> None:
    names = [f"breach.{'p' * 63}.{'s' * 24}.2026-03-03T10.{n}" for n in range(3)]
    home.timers.arm([a_timer(name) for name in names])
    home.timers.cancel(names[:1])
    assert set(home.armed()) == set(names[1:])


def test_arming_and_cancelling_nothing_is_nothing(home: Home) -> None:
    home.timers.arm([])
    home.timers.cancel([])
    assert home.armed() == {}
