"""Mutes: until when an alert waits, by the clock of the window's own zone."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from alert_samples import told
from interlock.domain.alerting.alert_rules import Match, Mute, Weekly
from interlock.domain.alerting.handling import Snooze
from interlock.domain.alerting.mutes import LONGEST, held_until, is_endless, next_start
from interlock.domain.event import Severity
from interlock.domain.pipeline import Weekday as Day

WEEKEND = (Day.SATURDAY, Day.SUNDAY)
EVENT = told()


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def once(since: str | None, until: str, **changes: Any) -> Mute:
    return Mute(match=Match(), since=since, until=until, **changes)


def weekly(*days: Day, since: str = "00:00", until: str = "24:00", zone: str = "UTC") -> Mute:
    return Mute(match=Match(), weekly=Weekly(days, zone, since, until))


EVENING = once("2026-03-05T20:00:00Z", "2026-03-05T23:00:00Z")


@pytest.mark.parametrize(
    ("mute", "now", "until"),
    [
        (EVENING, "2026-03-05T20:00:00Z", "2026-03-05T23:00:00Z"),
        (EVENING, "2026-03-05T19:59:59Z", None),
        (EVENING, "2026-03-05T23:00:00Z", None),  # a window does not hold its end
        (once(None, "2026-03-05T23:00:00Z"), "2026-03-01T00:00:00Z", "2026-03-05T23:00:00Z"),
        # A weekend in Berlin ends at midnight there; 2026-03-29 has 23 hours.
        (weekly(*WEEKEND, zone="Europe/Berlin"), "2026-03-28T12:00:00Z", "2026-03-29T22:00:00Z"),
        (weekly(*WEEKEND, zone="Europe/Berlin"), "2026-03-27T22:59:59Z", None),
        (weekly(*WEEKEND, zone="Europe/Berlin"), "2026-03-27T23:00:00Z", "2026-03-29T22:00:00Z"),
        # Over midnight: it begins on Friday and ends on Saturday.
        (weekly(Day.FRIDAY, since="22:00", until="06:00"), "2026-03-07T05:00:00Z", "2026-03-07T06:00:00Z"),
        (weekly(Day.FRIDAY, since="22:00", until="06:00"), "2026-03-06T05:00:00Z", None),
        (weekly(Day.FRIDAY, since="08:00", until="10:00"), "2026-03-06T09:00:00Z", "2026-03-06T10:00:00Z"),
        (weekly(Day.FRIDAY, since="08:00", until="10:00"), "2026-03-06T10:00:00Z", None),
    ],
)  # fmt: skip
def test_an_alert_waits_for_the_end_of_the_window(mute: Mute, now: str, until: str | None) -> None:
    found = held_until([mute], EVENT, at(now))
    assert found == (None if until is None else at(until))


def test_windows_that_meet_are_one() -> None:
    later = once("2026-03-05T23:00:00Z", "2026-03-06T01:00:00Z")
    longer = once("2026-03-05T21:00:00Z", "2026-03-05T23:30:00Z")
    assert held_until([EVENING, later, longer], EVENT, at("2026-03-05T20:00:00Z")) == at(
        "2026-03-06T01:00:00Z"
    )


def test_no_alert_waits_for_ever() -> None:
    now = at("2026-03-05T20:00:00Z")
    assert held_until([weekly(*Day)], EVENT, now) == now + LONGEST


def test_a_mute_is_for_what_it_matches() -> None:
    now = at("2026-03-05T20:00:00Z")
    other = Mute(match=Match(pipeline="gold-*"), until="2026-03-05T23:00:00Z")
    assert held_until([other], EVENT, now) is None
    assert held_until([], EVENT, now) is None


def test_critical_alerts_pass_unless_they_are_meant() -> None:
    now, critical = at("2026-03-05T20:00:00Z"), told(severity=Severity.CRITICAL)
    assert held_until([EVENING], critical, now) is None
    silent = once(EVENING.since, "2026-03-05T23:00:00Z", include_critical=True)
    assert held_until([silent], critical, now) == now + timedelta(hours=3)


def test_a_window_without_end_is_known() -> None:
    def of(*days: Day, since: str = "00:00", until: str = "24:00") -> Weekly:
        return Weekly(days, "Europe/Berlin", since, until)

    assert is_endless(of(*Day))
    assert is_endless(of(*Day, since="06:00", until="06:00"))
    assert not is_endless(of(*WEEKEND))
    assert not is_endless(of(*Day, since="06:00", until="05:59"))
    assert not is_endless(of(*tuple(Day)[1:]))


def test_a_mute_says_when_it_is_next() -> None:
    now = at("2026-03-05T20:30:00Z")  # a Thursday
    assert next_start(EVENING, at("2026-03-05T19:00:00Z")) == at("2026-03-05T20:00:00Z")
    assert next_start(EVENING, now) is None
    assert next_start(once(None, "2026-03-05T23:00:00Z"), now) is None
    friday = weekly(Day.FRIDAY, since="22:00", until="06:00", zone="Europe/Berlin")
    assert next_start(friday, now) == at("2026-03-06T21:00:00Z")
    thursday = weekly(Day.THURSDAY, since="08:00", until="10:00")
    assert next_start(thursday, now) == at("2026-03-12T08:00:00Z")


def test_a_snooze_is_a_window_among_the_mutes() -> None:
    begins = at("2026-03-05T19:30:00Z")
    snooze = Snooze(by="ada", reason="", at=begins, until=at("2026-03-05T20:30:00Z"))
    assert held_until([], EVENT, begins, snooze) == snooze.until
    assert held_until([EVENING], EVENT, begins, snooze) == at("2026-03-05T23:00:00Z")
    assert held_until([], told(severity=Severity.CRITICAL), begins, snooze) is None
