"""Backfill range: which dates a range has, and which ranges are refused, with what would be right."""

from datetime import UTC, date, datetime, timedelta

import pytest

from declared import declared
from interlock.domain.backfill_range import (
    MOST_DATES,
    BackfillRange,
    DateRules,
    dates_of,
    is_expected,
)
from interlock.domain.partition import Grain, Label

NOW = datetime(2026, 11, 10, 8, 30, tzinfo=UTC)

HOURLY = "schedule: {cron: '0 * * * *', timezone: Europe/Berlin}"
DAILY = "schedule: {cron: '0 9 * * *', timezone: Europe/Berlin}"
QUARTERS = "schedule: {cron: '*/15 * * * *'}"
SENSOR = "schedule: {trigger: {key: orders, check: exists}, timezone: Europe/Berlin}"
WORKDAYS = "schedule: {cron: '0 * * * *', exclude: {weekends: true, dates: [2026-03-04]}}"


def rules(text: str, *seen: Grain) -> DateRules:
    pipeline = declared(text)
    return DateRules(pipeline.schedules[0], pipeline.calendars, pipeline.sla, frozenset(seen))


def dates(text: str, first: str, last: str, *seen: Grain) -> list[str]:
    wanted = BackfillRange(Label.parse(first), Label.parse(last))
    return dates_of(wanted, rules(text, *seen), NOW)


@pytest.mark.parametrize(
    ("text", "first", "last", "count"),
    [
        (HOURLY, "2026-03-03", "2026-03-03", 24),
        (HOURLY, "2026-03-03T05", "2026-03-03T07", 3),
        (HOURLY, "2026-03-03T22", "2026-03-04T01", 4),
        (HOURLY, "2026-03-03T22", "2026-03-04", 26),
        (HOURLY, "2026-03-29", "2026-03-29", 23),  # 02:00 does not exist
        (HOURLY, "2026-10-25", "2026-10-25", 24),  # 02:00 comes twice and is one date
        (HOURLY, "2026-03-29T01", "2026-03-29T03", 2),
        (HOURLY, "2026-03-29T02", "2026-03-29T02", 0),
        (DAILY, "2026-03-01", "2026-03-31", 31),
        (QUARTERS, "2026-03-03T10", "2026-03-03T10", 4),
        (QUARTERS, "2026-03-03T10:15", "2026-03-03T11:00", 4),
        (SENSOR, "2026-03-28", "2026-03-29", 2),
        (SENSOR, "2026-03-29T00", "2026-03-29T23", 23),
        (WORKDAYS, "2026-03-04", "2026-03-04", 0),
        (WORKDAYS, "2026-03-06", "2026-03-09", 48),  # Friday and Monday
    ],
)
def test_a_range_has_the_dates_that_the_schedule_expects(
    text: str, first: str, last: str, count: int
) -> None:
    found = dates(text, first, last)
    assert len(found) == count and found == sorted(set(found))


def test_a_day_is_its_hours_where_hours_have_run() -> None:
    assert len(dates(SENSOR, "2026-03-29", "2026-03-29", Grain.HOUR)) == 23
    assert len(dates(SENSOR, "2026-03-29", "2026-03-29", Grain.DAY, Grain.HOUR)) == 23
    assert dates(SENSOR, "2026-03-29", "2026-03-29", Grain.DAY) == ["2026-03-29"]
    by_deadline = SENSOR + "\nsla: {deadline: ':30'}"
    assert len(dates(by_deadline, "2026-03-29", "2026-03-29")) == 23


def test_excluded_days_have_no_hours_where_readings_open_them() -> None:
    text = "schedule: {trigger: {key: orders, check: exists}, exclude: {weekends: true}}"
    assert dates(text, "2026-03-07T00", "2026-03-08T23") == []


@pytest.mark.parametrize(
    ("text", "first", "last", "words"),
    [
        (
            DAILY,
            "2026-03-03T10",
            "2026-03-04",
            "the dates of this schedule are days: write 2026-03-03",
        ),
        (DAILY, "2026-03-03", "2026-03-04T10", "2026-03-04T10 names one hour.*write 2026-03-04"),
        (HOURLY, "2026-03-03T10:15", "2026-03-04", "are hours: write 2026-03-03T10"),
        (SENSOR, "2026-03-03T10:15", "2026-03-04", "names a minute: name a day or an hour"),
        (HOURLY, "2026-03-04", "2026-03-03", "2026-03-04 is after 2026-03-03: name the earlier"),
        (HOURLY, "2026-03-03T10", "2026-03-03T09", "is after 2026-03-03T09"),
        (HOURLY, "2026-03-04T00", "2026-03-03", "2026-03-04T00 is after 2026-03-03"),
        (
            HOURLY,
            "2026-11-10",
            "2026-11-10",
            "2026-11-10T10 is in the future.*now is 2026-11-10T09",
        ),
        (DAILY, "2026-11-09", "2026-11-11", "2026-11-11 is in the future.*now is 2026-11-10"),
        (DAILY, "2026-12-01", "2026-12-02", "no date of the range has begun"),
        (SENSOR, "2026-11-10", "2026-11-11", "2026-11-11 is in the future"),
        (HOURLY, "2025-01-01", "2026-11-01", f"at most {MOST_DATES:,} dates"),
        (DAILY, "0001-01-01", "2026-11-01", "days: it may have at most 10,000"),
    ],
)
def test_a_range_that_is_not_accepted_says_what_would_be(
    text: str, first: str, last: str, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        dates(text, first, last)


def test_hours_are_refused_where_days_have_run() -> None:
    with pytest.raises(ValueError, match="are days: write 2026-03-03"):
        dates(SENSOR, "2026-03-03T10", "2026-03-03T12", Grain.DAY)


def test_a_date_that_waits_for_a_reading_begins_with_its_first_instant() -> None:
    listed = "schedule: {include: {dates: [2026-11-10]}, trigger: {key: orders, check: exists}}"
    assert dates(listed, "2026-11-10", "2026-11-10") == ["2026-11-10"]
    by_clock = "schedule: {include: {dates: [2026-11-10]}, time: '09:00'}"
    with pytest.raises(ValueError, match="in the future"):
        dates(by_clock, "2026-11-10", "2026-11-10")


def test_most_dates_are_accepted_and_not_one_more() -> None:
    last = date(1999, 1, 1) + timedelta(days=MOST_DATES - 1)
    assert len(dates(DAILY, "1999-01-01", last.isoformat())) == MOST_DATES
    with pytest.raises(ValueError, match="10,001 days"):
        dates(DAILY, "1999-01-01", (last + timedelta(days=1)).isoformat())


@pytest.mark.parametrize(
    ("text", "label", "expected"),
    [
        (HOURLY, "2026-03-29T03", True),
        (HOURLY, "2026-03-29T02", False),
        (HOURLY, "2026-03-29", False),
        (DAILY, "2026-03-03", True),
        (DAILY, "2026-03-03T09", False),
        (SENSOR, "2026-03-03", True),
        (SENSOR, "2026-03-03T09", True),
        (WORKDAYS, "2026-03-04T10", False),
    ],
)
def test_an_edited_schedule_no_longer_has_some_dates(text: str, label: str, expected: bool) -> None:
    assert is_expected(label, rules(text)) is expected
