"""The previous expected date of a schedule."""

import pytest

from declared import declared
from interlock.domain.partition import Label
from interlock.domain.previous_date import previous_date

DAILY = "schedule: {cron: '0 6 * * *', timezone: Europe/Berlin}"
WEEKDAYS = "schedule: {cron: '0 6 * * *', exclude: {weekends: true, dates: ['2026-03-06']}}"
HOURLY = "schedule: {cron: '0 * * * *', timezone: Europe/Berlin}"
OFFICE = "schedule: {cron: '0 8-17 * * 1-5'}"
QUARTERS = "schedule: {cron: '*/15 * * * *'}"
WEEKLY = "schedule: {cron: '0 6 * * 1'}"
YEARLY = "schedule: {cron: '0 6 2 1 *'}"
RARE = "schedule: {cron: '0 6 29 2 *'}"
SENSOR = "schedule: {timezone: Europe/Berlin, trigger: {key: orders, check: exists}}"
SENSOR_WEEKDAYS = "schedule: {trigger: {key: orders, check: exists}, exclude: {weekends: true}}"
LISTED = "schedule: {include: {dates: ['2026-01-31', '2026-03-31']}}"


@pytest.mark.parametrize(
    ("schedule", "date", "expected"),
    [
        (DAILY, "2026-03-03", "2026-03-02"),
        (DAILY, "2026-03-01", "2026-02-28"),
        (WEEKDAYS, "2026-03-09", "2026-03-05"),  # over a weekend, and an excluded Friday
        (HOURLY, "2026-03-03T10", "2026-03-03T09"),
        (HOURLY, "2026-03-03T00", "2026-03-02T23"),
        (HOURLY, "2026-03-29T03", "2026-03-29T01"),  # the clocks skip an hour
        (OFFICE, "2026-03-09T08", "2026-03-06T17"),
        (QUARTERS, "2026-03-03T10:00", "2026-03-03T09:45"),
        (WEEKLY, "2026-03-09", "2026-03-02"),
        (WEEKLY, "2026-03-11", "2026-03-09"),  # a rerun of a date that is not expected
        (YEARLY, "2026-01-02", "2025-01-02"),
        (RARE, "2028-02-29", None),  # farther back than is looked
        (SENSOR, "2026-03-03", "2026-03-02"),
        (SENSOR, "2026-03-03T10", "2026-03-03T09"),
        (SENSOR, "2026-03-29T03", "2026-03-29T01"),
        (SENSOR, "2026-03-03T10:15", None),  # nothing says how far apart single minutes lie
        (SENSOR_WEEKDAYS, "2026-03-09", "2026-03-06"),
        (SENSOR_WEEKDAYS, "2026-03-09T00", "2026-03-06T23"),
        (LISTED, "2026-03-31", "2026-01-31"),
        (LISTED, "2026-01-31", None),  # the first one
        (DAILY, "0001-01-01", None),  # the calendar begins here
    ],
)
def test_it_is_the_last_expected_date_before(
    schedule: str, date: str, expected: str | None
) -> None:
    pipeline = declared(schedule)
    found = previous_date(pipeline.schedules[0], pipeline.calendars, Label.parse(date))
    assert (None if found is None else str(found)) == expected
