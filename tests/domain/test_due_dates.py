"""The dates with a deadline in a range of time."""

from datetime import UTC, datetime, timedelta

import pytest

from interlock.domain.check import Check
from interlock.domain.due_dates import closing_dates, sla_dates
from interlock.domain.pipeline import Exclusion, Inclusion, Schedule, Sla, Trigger

TRIGGER = Trigger(key="orders", check=Check.EXISTS)
MONTH_END = Inclusion(("2026-01-31", "2026-03-31"))
NAIVE = datetime(2026, 3, 4)  # noqa: DTZ001 - to be refused


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def closing(deadline: str, since: str, until: str, **schedule: object) -> list[str]:
    trigger = Trigger(key="orders", check=Check.EXISTS, deadline=deadline)
    found = closing_dates(
        Schedule(trigger=trigger, **schedule),  # type: ignore[arg-type]
        {},
        at(since),
        at(until),
    )
    return [watched.date for watched, _ in found]


def due(schedule: Schedule, sla: Sla, since: str, until: str) -> list[str]:
    return [watched.date for watched, _ in sla_dates(schedule, sla, {}, at(since), at(until))]


def test_a_date_closes_in_the_range_that_holds_its_deadline() -> None:
    # sensor-driven: on the day after its date
    assert closing("06:30", "2026-03-05T06:00Z", "2026-03-05T06:30Z") == ["2026-03-04"]
    assert closing("06:30", "2026-03-05T06:30Z", "2026-03-05T23:00Z") == []
    assert closing("06:30", "2026-03-05T06:00Z", "2026-03-07T07:00Z") == [
        "2026-03-04",
        "2026-03-05",
        "2026-03-06",
    ]


@pytest.mark.parametrize("offset", [0, 1, 7])
def test_days_count_from_the_date(offset: int) -> None:
    day = (at("2026-03-10T00:00Z") - timedelta(days=offset)).date().isoformat()
    since, until = "2026-03-10T06:00Z", "2026-03-10T07:00Z"
    assert closing("06:30", since, until, day_offset=offset) == [day]


def test_every_date_of_a_cron_closes_with_its_day() -> None:
    found = closing("23:00", "2026-03-04T22:55Z", "2026-03-04T23:00Z", cron="0 8,20 * * *")
    assert found == ["2026-03-04T08", "2026-03-04T20"]


def test_a_date_closes_even_before_it_is_due() -> None:
    # its readings should be in by the end of the day, but the window closes in the morning
    found = closing("06:30", "2026-03-31T06:00Z", "2026-03-31T07:00Z", include=MONTH_END)
    assert found == ["2026-03-31"]


def test_an_excluded_or_skipped_date_does_not_close() -> None:
    since, until = "2026-03-07T00:00Z", "2026-03-10T00:00Z"
    weekends = Exclusion(weekends=True)
    assert closing("06:30", since, until, exclude=weekends, day_offset=0) == ["2026-03-09"]
    since, until, apia = "2011-12-30T09:00Z", "2011-12-31T00:00Z", "Pacific/Apia"
    assert closing("06:30", since, until, timezone=apia, day_offset=0) == ["2011-12-31"]


def test_a_date_is_due_by_when_its_rules_must_hold() -> None:
    schedule = Schedule(trigger=TRIGGER, day_offset=0)
    alone, both = Sla(evaluation_deadline="06:00"), Sla("12:00", "1h", evaluation_deadline="06:00")
    for sla in (alone, both):
        assert due(schedule, sla, "2026-03-05T05:55Z", "2026-03-05T06:00Z") == ["2026-03-05"]
        assert due(schedule, sla, "2026-03-05T06:00Z", "2026-03-05T10:00Z") == []
    since, until = "2026-03-05T06:00Z", "2026-03-07T06:00Z"
    assert due(schedule, alone, since, until) == ["2026-03-06", "2026-03-07"]
    assert due(schedule, both, since, until) == ["2026-03-05", "2026-03-06", "2026-03-07"]


def test_an_hour_is_due_by_when_its_rules_must_hold() -> None:
    schedule, sla = Schedule(cron="0 * * * *"), Sla(":45", evaluation_deadline=":20")
    found = due(schedule, sla, "2026-03-05T06:10Z", "2026-03-05T06:20Z")
    assert found == ["2026-03-05T05"]


def test_an_hour_closes_in_the_next() -> None:
    found = closing(":45", "2026-03-04T23:30Z", "2026-03-05T01:00Z")
    assert found == ["2026-03-04T22", "2026-03-04T23"]


def test_an_hour_that_the_clocks_repeat_closes_late() -> None:
    # Casey went from midnight back to 21:00: the hour that began at 23:00 has to wait for 00:30
    found = closing(":30", "2021-03-13T16:00Z", "2021-03-13T17:00Z", timezone="Antarctica/Casey")
    assert found == ["2021-03-13T23"]


def test_a_minute_deadline_never_closes_a_day() -> None:
    since, until = "2026-03-04T00:00Z", "2026-03-06T00:00Z"
    assert closing(":30", since, until, cron="0 8 * * *") == []


def test_a_schedule_without_a_trigger_deadline_closes_nothing() -> None:
    since, until = at("2026-03-04T00:00Z"), at("2026-03-06T00:00Z")
    assert list(closing_dates(Schedule(cron="0 8 * * *"), {}, since, until)) == []
    assert list(closing_dates(Schedule(trigger=TRIGGER), {}, since, until)) == []


@pytest.mark.parametrize(
    ("since", "until", "dates"),
    [
        ("2026-03-04T09:00Z", "2026-03-04T09:48Z", ["2026-03-04"]),  # the warning
        ("2026-03-04T09:48Z", "2026-03-04T09:59Z", []),
        ("2026-03-04T09:59Z", "2026-03-04T10:00Z", ["2026-03-04"]),  # the breach
        ("2026-03-04T09:00Z", "2026-03-04T11:00Z", ["2026-03-04"]),  # both, once
        ("2026-03-04T10:00Z", "2026-03-05T09:00Z", []),
    ],
)
def test_a_date_is_due_when_its_warning_or_breach_is(
    since: str, until: str, dates: list[str]
) -> None:
    assert due(Schedule(cron="0 8 * * *"), Sla(deadline="10:00"), since, until) == dates


def test_an_hour_is_due_when_a_tenth_of_its_time_is_left() -> None:
    schedule, sla = Schedule(cron="0 * * * *"), Sla(deadline=":30")
    found = due(schedule, sla, "2026-03-04T11:20Z", "2026-03-04T11:21Z")
    assert found == ["2026-03-04T10"]  # of an hour and a half, nine minutes before 11:30


def test_a_long_lead_is_found_days_ahead() -> None:
    sla = Sla(deadline="10:00", expected_duration="50h")
    found = due(Schedule(cron="0 8 * * *"), sla, "2026-03-02T07:59Z", "2026-03-02T08:00Z")
    assert found == ["2026-03-04"]


def test_an_sla_without_a_clock_time_has_no_dates() -> None:
    sla = Sla(max_duration="1h")
    schedule = Schedule(trigger=TRIGGER)
    assert due(schedule, sla, "2026-03-04T00:00Z", "2026-03-05T00:00Z") == []


@pytest.mark.parametrize("deadline", ["06:30", "23:45", ":00", ":50"])
@pytest.mark.parametrize("cron", ["0 * * * *", "*/30 * * * *", "30 2 * * *", None])
def test_ranges_that_meet_name_every_date_once(cron: str | None, deadline: str) -> None:
    # over both clock changes, with a range a pass
    schedule = Schedule(cron=cron, trigger=TRIGGER, timezone="Europe/Berlin", day_offset=1)
    sla = Sla(deadline=deadline, expected_duration="1s")
    for start in ("2026-03-28T00:00Z", "2026-10-24T00:00Z"):
        whole = _breaches(schedule, sla, at(start), at(start) + timedelta(days=3))
        step = timedelta(hours=5)
        parts = [
            each
            for number in range(15)
            for each in _breaches(
                schedule,
                sla,
                at(start) + number * step,
                min(at(start) + (number + 1) * step, at(start) + timedelta(days=3)),
            )
        ]
        assert parts == whole
        assert len(set(whole)) == len(whole)


def _breaches(schedule: Schedule, sla: Sla, since: datetime, until: datetime) -> list[str]:
    found = sla_dates(schedule, sla, {}, since, until)
    return [each.date for each, moments in found if since < (moments.breach_at or since) <= until]


def test_the_ends_of_the_calendar_are_no_errors() -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    schedule = Schedule(trigger=TRIGGER, day_offset=7)
    for sla in (Sla("10:00"), Sla(":30"), Sla("10:00", expected_duration="106751d")):
        list(sla_dates(schedule, sla, {}, first, first + timedelta(days=40)))
        list(sla_dates(schedule, sla, {}, last - timedelta(days=40), last))


def test_naive_instants_are_refused_at_once() -> None:
    schedule, now = Schedule(trigger=TRIGGER), at("2026-03-03T00:00Z")
    for since, until in ((NAIVE, now), (now, NAIVE)):
        with pytest.raises(ValueError, match="has no zone"):
            closing_dates(schedule, {}, since, until)
        with pytest.raises(ValueError, match="has no zone"):
            sla_dates(schedule, Sla("10:00"), {}, since, until)
