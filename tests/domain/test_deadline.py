"""Warning and breach instants, trigger deadlines, and the SLA verdict."""

from datetime import UTC, datetime, timedelta

import pytest

from interlock.domain.check import Check
from interlock.domain.deadline import (
    Deadline,
    Deadlines,
    SlaVerdict,
    closes_at,
    deadlines,
    unknown,
    verdict,
    wall_deadline,
)
from interlock.domain.partition import Label
from interlock.domain.pipeline import (
    Calendar,
    Exclusion,
    Inclusion,
    Schedule,
    Sla,
    Trigger,
)
from interlock.domain.zones import zone

TRIGGER = Trigger(key="orders", check=Check.EXISTS)
DAILY = Schedule(cron="0 8 * * *")
SENSORS = Schedule(trigger=TRIGGER)
NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
NAIVE = datetime(2026, 3, 4, 12)  # noqa: DTZ001 - to be refused


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize(
    ("text", "label", "zone_name", "instant"),
    [
        ("10:00", "2026-03-04", "UTC", "2026-03-04T10:00Z"),
        ("10:00", "2026-03-04T22", "UTC", "2026-03-04T10:00Z"),  # the day of the label
        ("10:00", "2026-03-04T22:15", "UTC", "2026-03-04T10:00Z"),
        (":30", "2026-03-04T10", "UTC", "2026-03-04T11:30Z"),
        (":30", "2026-03-04T10:15", "UTC", "2026-03-04T10:30Z"),
        (":30", "2026-03-04T10:30", "UTC", "2026-03-04T11:30Z"),  # the next, not this one
        (":00", "2026-03-04T23:59", "UTC", "2026-03-05T00:00Z"),
        (":30", "2026-03-29T01", "Europe/Berlin", "2026-03-29T01:00Z"),  # 02:30 is in the gap
        (":30", "2026-10-25T01", "Europe/Berlin", "2026-10-25T00:30Z"),  # the first 02:30
        (":30", "2026-10-25T02", "Europe/Berlin", "2026-10-25T02:30Z"),
        (":30", "2026-10-25T02:45", "Europe/Berlin", "2026-10-25T01:30Z"),  # 02:30 comes again
        # Lord Howe goes from 02:00 to 02:30, and from 02:00 back to 01:30
        (":10", "2026-10-04T01:50", "Australia/Lord_Howe", "2026-10-03T16:10Z"),
        (":30", "2026-04-05T01:45", "Australia/Lord_Howe", "2026-04-04T15:00Z"),
    ],
)
def test_a_deadline_is_one_instant_of_a_date(
    text: str, label: str, zone_name: str, instant: str
) -> None:
    schedule = Schedule(cron="* * * * *", timezone=zone_name)
    found = wall_deadline(text, Label.parse(label), schedule, zone(zone_name))
    assert found == at(instant)


def test_a_minute_means_nothing_for_a_day() -> None:
    sla, day, hour = Sla(deadline=":30"), Label.parse("2026-03-04"), Label.parse("2026-03-04T10")
    assert deadlines(SENSORS, sla, day) == Deadlines()
    assert unknown(SENSORS, sla, day) == sla.deadline
    assert unknown(SENSORS, sla, hour) is None
    assert unknown(SENSORS, Sla(deadline="10:00"), day) is None
    assert unknown(SENSORS, Sla(max_duration="1h"), day) is None
    assert unknown(SENSORS, Sla(deadline="10:00", evaluation_deadline=":20"), day) == ":20"


def test_a_minute_counts_in_the_zone_of_the_schedule() -> None:
    schedule = Schedule(cron="0 * * * *", timezone="Asia/Kathmandu")  # +05:45
    sla = Sla(deadline=":30", timezone="UTC")
    due = deadlines(schedule, sla, Label.parse("2026-03-04T10"))
    assert due.breach_at == at("2026-03-04T05:45Z")


def test_a_clock_time_counts_in_the_zone_of_the_sla() -> None:
    schedule = Schedule(cron="0 8 * * *", timezone="Asia/Tokyo")
    label = Label.parse("2026-03-04")
    assert deadlines(schedule, Sla(deadline="10:00"), label).breach_at == at("2026-03-04T01:00Z")
    utc = Sla(deadline="10:00", timezone="UTC")
    assert deadlines(schedule, utc, label).breach_at == at("2026-03-04T10:00Z")


@pytest.mark.parametrize(
    ("schedule", "sla", "label", "warning"),
    [
        (DAILY, Sla("10:00", expected_duration="30m"), "2026-03-04", "2026-03-04T09:30Z"),
        (DAILY, Sla("10:00"), "2026-03-04", "2026-03-04T09:48Z"),  # a tenth of two hours
        (DAILY, Sla("07:00"), "2026-03-04", "2026-03-04T07:00Z"),  # precedes the start
        (DAILY, Sla("10:00"), "2026-03-04T09", "2026-03-04T09:50Z"),  # no cron moment
        (SENSORS, Sla("10:00"), "2026-03-04", "2026-03-05T09:50Z"),
        (
            Schedule(include=Inclusion(("2026-03-04",)), time="05:00"),
            Sla("10:00"),
            "2026-03-04",
            "2026-03-04T09:30Z",
        ),
        (DAILY, Sla("10:00", expected_duration="1500ms"), "2026-03-04", "2026-03-04T09:59:58Z"),
    ],
)
def test_a_warning_comes_before_the_breach(
    schedule: Schedule, sla: Sla, label: str, warning: str
) -> None:
    assert deadlines(schedule, sla, Label.parse(label)).warning_at == at(warning)


@pytest.mark.parametrize(
    ("sla", "expected"),
    [
        (Sla(max_duration="2h"), Deadline(at("2026-03-04T13:30Z"), at("2026-03-04T14:00Z"))),
        (
            Sla(max_duration="2h", expected_duration="45m"),
            Deadline(at("2026-03-04T13:15Z"), at("2026-03-04T14:00Z")),
        ),
        (Sla(deadline="10:00"), Deadline()),
    ],
)
def test_a_relative_deadline_runs_from_the_first_reading(sla: Sla, expected: Deadline) -> None:
    due = deadlines(SENSORS, sla, Label.parse("2026-03-04"), NOON)
    assert Deadline(due.relative_warning_at, due.relative_breach_at) == expected


def test_without_a_reading_there_is_no_relative_deadline() -> None:
    assert deadlines(SENSORS, Sla(max_duration="2h"), Label.parse("2026-03-04")) == Deadlines()


def test_instants_are_whole_seconds() -> None:
    first = NOON + timedelta(milliseconds=750)
    due = deadlines(SENSORS, Sla(max_duration="1h"), Label.parse("2026-03-04"), first)
    assert due.relative_breach_at == NOON + timedelta(hours=1)
    assert due.relative_warning_at == NOON + timedelta(minutes=45)


@pytest.mark.parametrize(
    ("due", "counts"),
    [
        (Deadlines(), (None, None)),
        (Deadlines(warning_at=at("2026-03-04T09:00Z"), breach_at=NOON), (9, 12)),
        (Deadlines(None, None, at("2026-03-04T08:00Z"), NOON), (8, 12)),
        (Deadlines(at("2026-03-04T09:00Z"), NOON, at("2026-03-04T10:00Z"), NOON), (9, 12)),
        (
            Deadlines(
                at("2026-03-04T02:00Z"), NOON, at("2026-03-04T10:00Z"), at("2026-03-04T11:00Z")
            ),
            (10, 11),  # the warning that goes with the earlier breach, not the earlier warning
        ),
    ],
)
def test_the_earlier_breach_counts(due: Deadlines, counts: tuple[int | None, int | None]) -> None:
    warning, breach = due.earliest.warning_at, due.earliest.breach_at
    assert (warning and warning.hour, breach and breach.hour) == counts


def test_an_excluded_date_has_no_deadline() -> None:
    calendars = {"closing": Calendar("closing", dates=("2026-03-04",))}
    schedule = Schedule(cron="0 8 * * *", trigger=TRIGGER, calendar="closing")
    sla = Sla(deadline="10:00", max_duration="1h")
    for label in ("2026-03-04", "2026-03-04T10"):
        assert deadlines(schedule, sla, Label.parse(label), NOON, calendars) == Deadlines()
    assert deadlines(schedule, sla, Label.parse("2026-03-05"), NOON, calendars).breach_at
    weekends = Schedule(cron="0 8 * * *", exclude=Exclusion(weekends=True))
    assert deadlines(weekends, sla, Label.parse("2026-03-07")) == Deadlines()


def test_a_window_closes_at_the_trigger_deadline_of_the_schedule() -> None:
    trigger = Trigger(key="orders", check=Check.EXISTS, deadline="06:30")
    schedule = Schedule(trigger=trigger, timezone="America/New_York")
    assert closes_at(schedule, Label.parse("2026-03-04")) == at("2026-03-05T11:30Z")
    assert closes_at(SENSORS, Label.parse("2026-03-04")) is None
    assert closes_at(DAILY, Label.parse("2026-03-04")) is None


@pytest.mark.parametrize(
    ("completed_at", "expected"),
    [
        (NOON - timedelta(microseconds=1), SlaVerdict.MET),
        (NOON, SlaVerdict.BREACHED),  # at the very instant is too late
        (NOON + timedelta(hours=1), SlaVerdict.BREACHED),
        (None, SlaVerdict.BREACHED),
    ],
)
def test_met_means_completed_before_the_breach(
    completed_at: datetime | None, expected: SlaVerdict
) -> None:
    assert verdict(NOON, completed_at) is expected


def test_the_ends_of_the_calendar_are_no_errors() -> None:
    week = Schedule(cron="* * * * *", day_offset=7, timezone="Pacific/Kiritimati")
    for text in ("9999-12-31", "9999-12-31T23", "9999-12-31T23:59", "0001-01-01"):
        for sla in (Sla("23:59"), Sla(":59"), Sla("00:00", expected_duration="2000h")):
            deadlines(week, sla, Label.parse(text))
    last = datetime.max.replace(tzinfo=UTC)
    due = deadlines(SENSORS, Sla(max_duration="1h"), Label.parse("2026-03-04"), last)
    assert due.relative_breach_at is not None


def test_naive_instants_are_refused() -> None:
    with pytest.raises(ValueError, match="has no zone"):
        deadlines(SENSORS, Sla(max_duration="1h"), Label.parse("2026-03-04"), NAIVE)
    with pytest.raises(ValueError, match="has no zone"):
        verdict(NOON, NAIVE)
    with pytest.raises(ValueError, match="has no zone"):
        verdict(NAIVE, NOON)
