"""Which days are run days."""

from datetime import date

import pytest

from interlock.domain.calendars import Excluded, excluded, expects
from interlock.domain.pipeline import (
    Calendar,
    Exclusion,
    Inclusion,
    Schedule,
    Weekday,
    holiday_calendar,
)

SATURDAY, WEDNESDAY = date(2026, 3, 7), date(2026, 3, 4)

CALENDARS = {
    "closing": Calendar("closing", dates=("2026-03-04",)),
    "quiet": Calendar("quiet", days=(Weekday.WEDNESDAY,)),
    holiday_calendar("DE-BY"): Calendar(holiday_calendar("DE-BY"), dates=("2026-03-04",)),
}


@pytest.mark.parametrize(
    ("schedule", "reason"),
    [
        (Schedule(exclude=Exclusion(days=(Weekday.WEDNESDAY,))), Excluded("days")),
        (Schedule(exclude=Exclusion(dates=("2026-03-04",))), Excluded("dates")),
        (Schedule(exclude=Exclusion(calendar="closing")), Excluded("calendar", "closing")),
        (Schedule(calendar="closing"), Excluded("calendar", "closing")),
        (Schedule(calendar="quiet"), Excluded("calendar", "quiet")),
        # both calendars count; the schedule's own is named first
        (
            Schedule(calendar="quiet", exclude=Exclusion(calendar="closing")),
            Excluded("calendar", "quiet"),
        ),
        (Schedule(exclude=Exclusion(holidays="DE-BY")), Excluded("holidays", "DE-BY")),
        (Schedule(include=Inclusion(("2026-03-05",))), Excluded("include")),
        # a listed date may still be excluded
        (
            Schedule(
                include=Inclusion(("2026-03-04",)), exclude=Exclusion(days=(Weekday.WEDNESDAY,))
            ),
            Excluded("days"),
        ),
    ],
)
def test_an_excluded_day_says_by_what(schedule: Schedule, reason: Excluded) -> None:
    assert excluded(schedule, CALENDARS, WEDNESDAY) == reason
    assert not expects(schedule, CALENDARS, WEDNESDAY)


@pytest.mark.parametrize(
    "schedule",
    [
        Schedule(),
        Schedule(exclude=Exclusion(weekends=True, days=(Weekday.FRIDAY,), dates=("2026-03-05",))),
        Schedule(include=Inclusion(("2026-03-04",))),
        # unknown names (yet): no days
        Schedule(calendar="gone", exclude=Exclusion(calendar="gone", holidays="US")),
    ],
)
def test_any_other_day_is_a_run_day(schedule: Schedule) -> None:
    assert expects(schedule, CALENDARS, WEDNESDAY)


def test_a_weekend_is_saturday_and_sunday() -> None:
    schedule = Schedule(exclude=Exclusion(weekends=True))
    assert excluded(schedule, {}, SATURDAY) == Excluded("weekends")
    days = [day for day in range(1, 15) if expects(schedule, {}, date(2026, 3, day))]
    assert days == [2, 3, 4, 5, 6, 9, 10, 11, 12, 13]
