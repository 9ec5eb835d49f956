"""How far ahead a date may lie and still be believed."""

from datetime import UTC, datetime

import pytest

from interlock.domain.horizon import last_believed
from interlock.domain.partition import Label
from interlock.domain.pipeline import Inclusion, Schedule

NOW = datetime(2026, 3, 3, 8, 30, tzinfo=UTC)
SENSOR = Schedule()
DAILY, HOURLY, QUARTERS = (Schedule(cron=c) for c in ("0 6 * * *", "0 * * * *", "*/15 * * * *"))
LISTED = Schedule(include=Inclusion(("2026-03-10",)))


@pytest.mark.parametrize(
    ("schedule", "date", "last"),
    [
        (SENSOR, "2026-03-03", None),
        (SENSOR, "2020-01-01", None),  # how old a date is does not matter here
        (SENSOR, "2026-03-05", None),
        (SENSOR, "2026-03-05T08", None),
        (SENSOR, "2026-03-05T09", "2026-03-05T08"),
        (SENSOR, "2026-03-06", "2026-03-05"),
        (SENSOR, "2027-03-03", "2026-03-05"),
        (Schedule(horizon="30d"), "2026-03-20", None),
        (Schedule(horizon="1h"), "2026-03-05", None),  # a horizon only widens
        (DAILY, "2026-03-04", None),  # the next expected date
        (DAILY, "2026-03-04T23", None),  # an hour of it
        (DAILY, "2026-03-05", "2026-03-04"),
        (HOURLY, "2026-03-03T09", None),
        (HOURLY, "2026-03-03T10", "2026-03-03T09"),
        (HOURLY, "2026-03-04", "2026-03-03"),
        (QUARTERS, "2026-03-03T08:45", None),
        (QUARTERS, "2026-03-03T09:00", "2026-03-03T08:45"),
        (Schedule(cron="0 * * * *", horizon="5h"), "2026-03-03T13", None),
        (LISTED, "2026-03-10", None),
        (LISTED, "2026-03-11", "2026-03-10"),
        (
            Schedule(include=Inclusion(("2026-03-01",))),
            "2026-03-05",
            None,
        ),  # none is expected any more
        (Schedule(include=Inclusion(("2026-03-01",))), "2026-03-06", "2026-03-05"),
    ],
)
def test_a_date_is_believed_up_to_the_next_expected_one(
    schedule: Schedule, date: str, last: str | None
) -> None:
    found = last_believed(schedule, {}, Label.parse(date), NOW)
    assert (None if found is None else str(found)) == last


def test_a_day_begins_in_the_zone_of_its_schedule() -> None:
    tokyo = Schedule(cron="0 6 * * *", timezone="Asia/Tokyo")
    evening = datetime(2026, 3, 3, 22, tzinfo=UTC)  # the next day's morning there, after its moment
    assert last_believed(tokyo, {}, Label.parse("2026-03-05"), evening) is None
    assert last_believed(tokyo, {}, Label.parse("2026-03-06"), evening) is not None
