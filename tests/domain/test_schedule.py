"""When runs are expected, and which dates are watched."""

from datetime import UTC, date, datetime, timedelta

import pytest

from declared import declared
from interlock.domain.check import Check
from interlock.domain.partition import Label
from interlock.domain.pipeline import (
    Calendar,
    Exclusion,
    Inclusion,
    Schedule,
    Trigger,
    Weekday,
)
from interlock.domain.schedule import (
    Occurrence,
    begins_at,
    covers,
    expected_start,
    next_occurrence,
    occurrences,
    opens_at,
    parts_of,
    watched_dates,
    watched_on,
)

TRIGGER = Trigger(key="orders", check=Check.EXISTS)
DAILY = Schedule(cron="0 8 * * *", timezone="Europe/Berlin")
HOURLY = Schedule(cron="10 * * * *", timezone="Europe/Berlin")
LISTED = Inclusion(("2026-03-31", "2026-01-31", "2026-01-31"))  # in no order, one twice
SENSORS = Schedule(trigger=TRIGGER, timezone="Europe/Berlin")
NAIVE = datetime(2026, 3, 3)  # noqa: DTZ001 - to be refused


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def found(schedule: Schedule, since: str, until: str) -> list[tuple[str, datetime]]:
    moments = occurrences(schedule, {}, at(since), at(until))
    return [(moment.date, moment.due_at) for moment in moments]


def test_a_cron_expects_a_run_at_each_moment_of_a_run_day() -> None:
    schedule = Schedule(cron="0 8 * * *", exclude=Exclusion(weekends=True))
    dates = [date for date, _ in found(schedule, "2026-03-06T00:00Z", "2026-03-10T00:00Z")]
    assert dates == ["2026-03-06", "2026-03-09"]


@pytest.mark.parametrize(
    ("schedule", "day", "count"),
    [
        (Schedule(cron="0 8-18 * * *"), date(2026, 3, 3), 11),
        (HOURLY, date(2026, 3, 29), 23),
        (SENSORS, date(2026, 3, 29), 23),
        (Schedule(cron="0 * * * *", exclude=Exclusion(weekends=True)), date(2026, 3, 7), 0),
    ],
)
def test_a_whole_day_is_made_of_its_expected_dates(
    schedule: Schedule, day: date, count: int
) -> None:
    assert len(parts_of(schedule, {}, day)) == count


def test_exclusion_goes_by_the_local_day() -> None:
    schedule = Schedule(
        cron="0 1 * * *", timezone="Asia/Tokyo", exclude=Exclusion(dates=("2026-03-04",))
    )
    assert found(schedule, "2026-03-03T00:00Z", "2026-03-04T00:00Z") == []  # 16:00Z, the 4th there


def test_inclusion_dates_are_due_in_order_and_once() -> None:
    schedule = Schedule(include=LISTED, time="06:30", timezone="Europe/Berlin")
    assert found(schedule, "2026-01-01T00:00Z", "2027-01-01T00:00Z") == [
        ("2026-01-31", at("2026-01-31T05:30Z")),
        ("2026-03-31", at("2026-03-31T04:30Z")),
    ]
    assert found(schedule, "2026-01-31T05:30:01Z", "2026-03-31T04:30Z") == []


@pytest.mark.parametrize(
    ("schedule", "due_at"),
    [
        (Schedule(include=LISTED), "2026-01-31T00:00Z"),
        (Schedule(include=LISTED, time="06:30", day_offset=2), "2026-01-31T06:30Z"),
        (Schedule(include=LISTED, trigger=TRIGGER), "2026-02-01T00:00Z"),
        (Schedule(include=LISTED, trigger=TRIGGER, day_offset=7), "2026-02-08T00:00Z"),
        (Schedule(include=LISTED, trigger=TRIGGER, time="06:30"), "2026-01-31T06:30Z"),
        (
            Schedule(include=LISTED, trigger=TRIGGER, time="06:30", day_offset=1),
            "2026-02-01T06:30Z",
        ),
    ],
)
def test_an_inclusion_date_is_due_when_it_opens_or_when_its_readings_should_be_in(
    schedule: Schedule, due_at: str
) -> None:
    assert found(schedule, due_at, "2026-03-01T00:00Z") == [("2026-01-31", at(due_at))]
    assert found(schedule, "2026-01-01T00:00Z", due_at) == []


def test_an_inclusion_date_that_the_calendar_skips_is_not_expected() -> None:
    schedule = Schedule(include=Inclusion(("2011-12-30",)), timezone="Pacific/Apia")
    assert found(schedule, "2011-12-01T00:00Z", "2012-02-01T00:00Z") == []
    assert list(watched_on(schedule, {}, date(2011, 12, 30))) == []


def test_readings_alone_expect_nothing() -> None:
    assert found(SENSORS, "2026-01-01T00:00Z", "2027-01-01T00:00Z") == []
    assert next_occurrence(SENSORS, {}, at("2026-01-01T00:00Z")) is None


@pytest.mark.parametrize(
    ("schedule", "after", "expected"),
    [
        (DAILY, "2026-03-03T06:59:59Z", ("2026-03-03", "2026-03-03T07:00Z")),
        (DAILY, "2026-03-03T07:00Z", ("2026-03-04", "2026-03-04T07:00Z")),  # strictly after
        (HOURLY, "2026-10-25T00:10Z", ("2026-10-25T03", "2026-10-25T02:10Z")),  # 02 is repeated
        (Schedule(cron="0 8 1 1 *"), "2026-03-03T00:00Z", ("2027-01-01", "2027-01-01T08:00Z")),
        (Schedule(include=LISTED), "2026-01-31T00:00Z", ("2026-03-31", "2026-03-31T00:00Z")),
    ],
)
def test_the_next_occurrence_is_the_first_after_an_instant(
    schedule: Schedule, after: str, expected: tuple[str, str]
) -> None:
    moment = Occurrence(expected[0], at(expected[1]))
    assert next_occurrence(schedule, {}, at(after)) == moment


def test_the_next_occurrence_skips_excluded_days_whole() -> None:
    calendars = {"summer": Calendar("summer", dates=tuple(_days(date(2026, 6, 1), 90)))}
    schedule = Schedule(cron="* * * * *", calendar="summer", timezone="America/New_York")
    assert next_occurrence(schedule, calendars, at("2026-06-01T12:00Z")) == Occurrence(
        "2026-08-30T00:00", at("2026-08-30T04:00Z")
    )


def test_a_schedule_without_any_run_day_has_no_next_occurrence() -> None:
    never = Schedule(cron="* * * * *", exclude=Exclusion(days=tuple(Weekday)))
    assert next_occurrence(never, {}, at("2026-03-03T00:00Z")) is None
    weekends = Schedule(cron="0 8 * * SAT", exclude=Exclusion(weekends=True))
    assert next_occurrence(weekends, {}, at("2026-03-03T00:00Z")) is None
    over = Schedule(include=LISTED)
    assert next_occurrence(over, {}, at("2026-04-01T00:00Z")) is None


def test_a_day_that_the_clocks_take_back_does_not_stop_the_search() -> None:
    # St. John's shows the 29th for a minute, then the end of the 28th once more
    schedule = Schedule(
        cron="* * * * *", timezone="America/St_Johns", exclude=Exclusion(dates=("2006-10-29",))
    )
    moment = next_occurrence(schedule, {}, at("2006-10-29T02:29Z"))
    assert moment == Occurrence("2006-10-30T00:00", at("2006-10-30T03:30Z"))


def test_an_inclusion_date_opens_at_its_time_or_at_midnight() -> None:
    assert opens_at(Schedule(timezone="Asia/Tokyo"), date(2026, 3, 4)) == at("2026-03-03T15:00Z")
    timed = Schedule(timezone="Asia/Tokyo", time="09:15")
    assert opens_at(timed, date(2026, 3, 4)) == at("2026-03-04T00:15Z")


@pytest.mark.parametrize(
    ("schedule", "label", "start"),
    [
        (DAILY, "2026-03-04", "2026-03-04T07:00Z"),
        (HOURLY, "2026-10-25T02", "2026-10-25T00:10Z"),  # the first of two
        (DAILY, "2026-03-04T10", None),  # an hour that a reading brought
        (Schedule(cron="30 10 * * *"), "2026-03-04T10", None),  # although it fires in it
        (HOURLY, "2026-03-04", None),
        (Schedule(cron="0 8 * * MON"), "2026-03-04", None),  # no Monday
        (Schedule(cron="0 8 1 * *"), "2026-03-04", None),
        (Schedule(include=LISTED), "2026-01-31", "2026-01-31T00:00Z"),
        (Schedule(include=LISTED, time="06:30"), "2026-01-31", "2026-01-31T06:30Z"),
        (
            Schedule(include=LISTED, trigger=TRIGGER, time="06:30"),
            "2026-01-31",
            "2026-01-31T06:30Z",
        ),
        (Schedule(include=LISTED, trigger=TRIGGER), "2026-01-31", None),
        (SENSORS, "2026-03-04", None),
    ],
)
def test_a_start_is_expected_where_a_clock_gives_it(
    schedule: Schedule, label: str, start: str | None
) -> None:
    assert expected_start(schedule, Label.parse(label)) == (start and at(start))


def test_a_cron_watches_its_occurrences() -> None:
    watched = list(watched_dates(HOURLY, {}, at("2026-03-03T07:00Z"), at("2026-03-03T08:00Z")))
    assert [(each.date, each.starts_at, each.due_at) for each in watched] == [
        ("2026-03-03T08", at("2026-03-03T07:00Z"), at("2026-03-03T07:10Z"))
    ]


def test_a_sensor_driven_schedule_watches_every_day() -> None:
    schedule = Schedule(trigger=TRIGGER, timezone="Europe/Berlin", exclude=Exclusion(weekends=True))
    watched = list(watched_dates(schedule, {}, at("2026-03-05T23:00Z"), at("2026-03-09T00:00Z")))
    assert [(each.date, each.starts_at, each.due_at) for each in watched] == [
        ("2026-03-06", at("2026-03-05T23:00Z"), None),
        ("2026-03-09", at("2026-03-08T23:00Z"), None),
    ]


def test_a_sensor_driven_schedule_watches_every_hour_for_an_hourly_deadline() -> None:
    since, until = at("2026-03-29T00:00Z"), at("2026-03-29T02:00Z")
    watched = [each.date for each in watched_dates(SENSORS, {}, since, until, hourly=True)]
    assert watched == ["2026-03-29T01", "2026-03-29T03"]


@pytest.mark.parametrize(
    ("schedule", "dates"),
    [
        (DAILY, ["2026-03-31"]),
        (Schedule(cron="0 8,20 * * *"), ["2026-03-31T08", "2026-03-31T20"]),
        (Schedule(cron="0 8 1 * *"), []),
        (Schedule(include=LISTED), ["2026-03-31"]),
        (Schedule(include=Inclusion(("2026-03-30",))), []),
        (SENSORS, ["2026-03-31"]),
        (Schedule(trigger=TRIGGER, exclude=Exclusion(days=(Weekday.TUESDAY,))), []),
    ],
)
def test_a_day_is_watched_under_each_of_its_dates(schedule: Schedule, dates: list[str]) -> None:
    assert [each.date for each in watched_on(schedule, {}, date(2026, 3, 31))] == dates


def test_a_watched_inclusion_date_knows_when_it_is_due() -> None:
    schedule = Schedule(include=LISTED, trigger=TRIGGER, timezone="Europe/Berlin")
    (watched,) = watched_on(schedule, {}, date(2026, 3, 31))
    assert watched.starts_at == at("2026-03-30T22:00Z")
    assert watched.due_at == at("2026-03-31T22:00Z")


def test_runs_of_its_hours_cover_a_day() -> None:
    assert covers(["2026-03-03T07"], "2026-03-03")
    assert not covers(["2026-03-03", "2026-03-04T07"], "2026-03-03")
    assert not covers([], "2026-03-03")


@pytest.mark.parametrize("schedule", [DAILY, SENSORS, Schedule(include=LISTED)])
def test_the_ends_of_the_calendar_are_no_errors(schedule: Schedule) -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    for since, until in ((first, first + timedelta(days=40)), (last - timedelta(days=40), last)):
        assert len(list(watched_dates(schedule, {}, since, until))) < 41
    assert next_occurrence(schedule, {}, last) is None
    next_occurrence(schedule, {}, first)
    assert len(list(watched_on(schedule, {}, last.date()))) < 2


@pytest.mark.parametrize("schedule", [DAILY, SENSORS, Schedule(include=LISTED)])
def test_naive_instants_are_refused_at_once(schedule: Schedule) -> None:
    now = at("2026-03-03T00:00Z")
    for since, until in ((NAIVE, now), (now, NAIVE)):
        with pytest.raises(ValueError, match="has no zone"):
            occurrences(schedule, {}, since, until)
        with pytest.raises(ValueError, match="has no zone"):
            watched_dates(schedule, {}, since, until)
    with pytest.raises(ValueError, match="has no zone"):
        next_occurrence(schedule, {}, NAIVE)


def _days(first: date, count: int) -> list[str]:
    return [(first + timedelta(days=day)).isoformat() for day in range(count)]


@pytest.mark.parametrize(
    ("text", "date", "expected"),
    [
        ("cron: '0 6 * * *'", "2026-03-03", "2026-03-03T06:00Z"),
        ("cron: '0 * * * *'", "2026-03-03T10", "2026-03-03T10:00Z"),
        ("cron: '0 6 * * 1'", "2026-03-03", "2026-03-03T00:00Z"),  # a Tuesday has no moment
        ("include: {dates: ['2026-03-03']}, time: '09:00'", "2026-03-03", "2026-03-03T09:00Z"),
        ("trigger: {key: a, check: exists}", "2026-03-03", "2026-03-03T00:00Z"),
        ("trigger: {key: a, check: exists}", "2026-03-03T10", "2026-03-03T10:00Z"),
    ],
)
def test_a_date_begins_at_its_moment_or_with_its_first_instant(
    text: str, date: str, expected: str
) -> None:
    (schedule,) = declared(f"schedule: {{{text}}}").schedules
    assert begins_at(schedule, {}, Label.parse(date)) == datetime.fromisoformat(expected)
