"""Cron: what is accepted, how fine its labels are, and when it is due."""

from datetime import UTC, datetime, timedelta

import pytest

from interlock.domain.cron import check_cron, cron_grain, cron_moments
from interlock.domain.partition import Grain

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
    end, step, found = since + timedelta(days=10), timedelta(minutes=minutes), []
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
