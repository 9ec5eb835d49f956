"""Cron: what is accepted, how fine its labels are, and when it is due."""

from datetime import UTC, datetime, timedelta
from itertools import takewhile

import pytest
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.domain.cron import Occurrence, check_cron, cron_grain, cron_moments
from interlock.domain.partition import Grain, label_text
from interlock.domain.zones import zone

NAIVE = datetime(2026, 3, 3)  # noqa: DTZ001 - to be refused


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def dates(cron: str, zone_name: str, since: str, until: str) -> list[str]:
    return [moment.date for moment in cron_moments(cron, zone_name, at(since), at(until))]


@pytest.mark.parametrize(
    "cron",
    [
        "0 8 * * *",
        "*/5 0-6,22 * JAN-MAR mon-fri",
        "0 0 29 2 *",  # rarely, but it fires
        "0 0 * 2 MON#5",  # when 29 February is a Monday
        "0 0 L * *",
        "0 0 LW * *",
        "0 9 * * 5L",
        "  0\t8 * * *",
    ],
)
def test_five_fields_that_can_fire_are_a_cron(cron: str) -> None:
    check_cron(cron)


@pytest.mark.parametrize(
    ("cron", "says"),
    [
        ("0 8 * *", "has 4 fields: a cron has five"),
        ("0 0 8 * * *", "has 6 fields"),
        ("8", "has 1 field:"),
        ("", "has 0 fields"),
        ("@daily", "is an alias: write its five fields"),
        ("@every 5 m * *", "is an alias"),
        ("60 * * * *", "bad minute"),
        ("*/0 * * * *", "bad minute"),
        ("0 8 * * 8", "bad day-of-week"),
        ("0 8 30 2 *", "bad day-of-month"),
        ("0 0 LW * */7", "never fires"),  # the last weekday of a month is no Sunday
        ("0 8 * * ſun", "plain text"),  # upper-cased, that letter is an S
        (f"0 {'8,' * 600}8 * * *", "at most 1024"),
    ],
)
def test_anything_else_is_refused_with_a_reason(cron: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        check_cron(cron)


@pytest.mark.parametrize(
    ("cron", "grain"),
    [
        ("0 8 * * *", Grain.DAY),
        ("0 0 1 * *", Grain.DAY),
        ("*/60 8 * * *", Grain.DAY),  # a step that leaves one minute
        ("0 8,20 * * *", Grain.HOUR),
        ("10 * * * *", Grain.HOUR),
        ("0,30 8 * * *", Grain.MINUTE),  # more than once an hour, if only in one
        ("* * * * *", Grain.MINUTE),
    ],
)
def test_labels_are_as_fine_as_the_cron_fires(cron: str, grain: Grain) -> None:
    assert cron_grain(cron) is grain


def test_a_range_begins_with_since_and_ends_before_until() -> None:
    assert dates("0 8 * * *", "UTC", "2026-03-03T08:00Z", "2026-03-04T08:00Z") == ["2026-03-03"]
    assert dates("0 8 * * *", "UTC", "2026-03-03T08:00:00.5Z", "2026-03-04T08:00:00.5Z") == [
        "2026-03-04"
    ]


@pytest.mark.parametrize("minutes", [20, 60, 90, 60 * 24, 60 * 24 * 10])
def test_a_range_of_any_length_holds_the_same_moments(minutes: int) -> None:
    since, cron, zone_name = at("2026-03-26T00:00Z"), "*/30 2,9 * * 4-7", "Europe/Berlin"
    end, step = since + timedelta(days=10), timedelta(minutes=minutes)
    found: list[Occurrence] = []
    whole = list(cron_moments(cron, zone_name, since, end))
    while since < end:
        found += cron_moments(cron, zone_name, since, min(since + step, end))
        since += step
    assert found == whole
    assert len(whole) == 7 * 4 - 1 - 1  # on the 29th both times in the gap are one, at 03:00


@pytest.mark.parametrize(
    ("cron", "since"),
    [
        ("20 * * * *", "2026-10-25T00:30Z"),  # after the first 02:20, before the clocks go back
        ("20 * * * *", "2026-10-25T01:10Z"),  # when they have gone back
        ("*/60 2 * * *", "2026-10-25T00:30Z"),  # a day label, with no fixed minute
        ("*/20 2 * * *", "2026-10-25T00:50Z"),
    ],
)
def test_a_repeated_label_counts_from_its_first_occurrence(cron: str, since: str) -> None:
    assert dates(cron, "Europe/Berlin", since, "2026-10-25T01:55Z") == []


def test_two_fires_that_a_gap_gives_one_label_are_one() -> None:
    # 02:30 is made up for at 03:00, so the hour 03 has had its run when 03:30 comes
    assert dates("30 2,3 * * *", "Europe/Berlin", "2026-03-29T00:00Z", "2026-03-29T03:00Z") == [
        "2026-03-29T03"
    ]
    assert dates("30 2,3 * * *", "Europe/Berlin", "2026-03-29T01:10Z", "2026-03-29T03:00Z") == []


def test_a_gap_before_midnight_moves_a_run_to_the_next_date() -> None:
    # Nuuk goes from 23:00 to 00:00: the run of the 30th fires on the 31st and is that date's run
    found = dates("30 23 * * *", "America/Nuuk", "2024-03-30T00:00Z", "2024-04-02T12:00Z")
    assert found == ["2024-03-29", "2024-03-31", "2024-04-01"]
    later = dates("30 23 * * *", "America/Nuuk", "2024-03-31T12:00Z", "2024-04-02T12:00Z")
    assert later == ["2024-04-01"]


@pytest.mark.parametrize(
    ("cron", "zone_name", "since", "expected"),
    [
        # St. John's went from 00:01 back to 23:01 of the day before, here from Sunday to Saturday
        (
            "*/30 * * * SUN",
            "America/St_Johns",
            "2006-10-29T00:00Z",
            ["2006-10-29T00:00", "2006-10-29T00:30", "2006-10-29T01:00"],
        ),
        ("30 */24 * * *", "America/St_Johns", "2006-10-29T00:00Z", ["2006-10-29"]),
        # ... and here from November to October
        (
            "29 * * 11 *",
            "America/St_Johns",
            "2009-11-01T00:00Z",
            ["2009-11-01T00", "2009-11-01T01"],
        ),
        # Casey went from 02:00 back to 23:00 of the day before
        (
            "0 * 5 * *",
            "Antarctica/Casey",
            "2010-03-04T13:00Z",
            ["2010-03-05T00", "2010-03-05T01", "2010-03-05T02"],
        ),
    ],
)
def test_a_fold_over_midnight_does_not_lead_round_and_round(
    cron: str, zone_name: str, since: str, expected: list[str]
) -> None:
    until = at(since) + timedelta(hours=6 if "Casey" in zone_name else 5)
    moments = cron_moments(cron, zone_name, at(since), until)
    assert [moment.date for moment in moments] == expected


@settings(deadline=None)  # the first call reads the zone data
@given(
    cron=st.builds(
        "{} {} {} {} {}".format,
        st.sampled_from(["0", "*", "*/7", "5,50", "30-40"]),
        st.sampled_from(["0", "*", "*/5", "8,20", "22-23"]),
        st.sampled_from(["*", "1", "*/3", "L", "LW", "10-20", "29-31"]),
        st.sampled_from(["*", "2", "*/2", "JAN,MAR"]),
        st.sampled_from(["*", "SUN", "7", "1-5", "5#2", "5L"]),
    ),
    since=st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)),  # noqa: DTZ001
    hours=st.floats(0, 96),
)
def test_on_a_steady_clock_what_cronsim_says_stands(
    cron: str, since: datetime, hours: float
) -> None:
    since = since.replace(tzinfo=UTC)
    until = since + timedelta(hours=hours)
    expected = takewhile(
        lambda fire: fire < until, CronSim(cron, since - timedelta(microseconds=1))
    )
    found = [moment.due_at for moment in cron_moments(cron, "UTC", since, until)]
    assert found == list(expected)


@pytest.mark.parametrize("cron", ["0 */6 * * *", "0 */2 * * *", "15 */4 * * *", "*/20 */3 * * *"])
@pytest.mark.parametrize(
    ("zone_name", "noon"),
    [
        ("Australia/Lord_Howe", "2026-10-04T01:00Z"),  # half an hour is skipped
        ("Australia/Lord_Howe", "2026-04-05T01:00Z"),  # half an hour is repeated
        ("Europe/Berlin", "2026-03-29T11:00Z"),
        ("Europe/Berlin", "2026-10-25T11:00Z"),
    ],
)
def test_every_minute_that_matches_a_starred_hour_fires(
    cron: str, zone_name: str, noon: str
) -> None:
    """Found again by looking at each minute of three days: the first of each label."""
    start, where = at(noon) - timedelta(hours=36), zone(zone_name)
    fields = CronSim(cron, start)
    walls = [(start + timedelta(minutes=n)).astimezone(where) for n in range(72 * 60)]
    fired = [w for w in walls if w.hour in fields.hours and w.minute in fields.minutes]
    expected = dict.fromkeys(label_text(wall, cron_grain(cron)) for wall in fired)
    found = cron_moments(cron, zone_name, start, start + timedelta(hours=72))
    assert [moment.date for moment in found] == list(expected)


def test_a_cron_that_never_fires_has_no_moments() -> None:
    assert dates("0 0 LW * */7", "Europe/Berlin", "2026-01-01T00:00Z", "2027-01-01T00:00Z") == []


def test_a_range_that_ends_before_it_begins_is_empty() -> None:
    assert dates("* * * * *", "UTC", "2026-03-03T08:00Z", "2026-03-03T07:00Z") == []


@pytest.mark.parametrize("zone_name", ["UTC", "Pacific/Kiritimati", "Pacific/Niue"])
def test_the_ends_of_the_calendar_are_no_errors(zone_name: str) -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    assert list(cron_moments("0 0 1 1 *", zone_name, last - timedelta(days=99), last)) == []
    assert next(cron_moments("0 8 * * *", zone_name, first, last)).date.startswith("0001-")


def test_an_unknown_zone_and_naive_instants_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match="IANA"):
        cron_moments("0 8 * * *", "Nope", at("2026-03-03T08:00Z"), at("2026-03-04T08:00Z"))
    with pytest.raises(ValueError, match="has no zone"):
        cron_moments("0 8 * * *", "UTC", NAIVE, at("2026-03-04T08:00Z"))
    with pytest.raises(ValueError, match="has no zone"):
        cron_moments("0 8 * * *", "UTC", at("2026-03-04T08:00Z"), NAIVE)
