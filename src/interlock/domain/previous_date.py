"""Previous date: the expected date of a schedule before another one, and its reading in the evidence."""

from collections.abc import Mapping
from datetime import date, timedelta

from interlock.domain.calendars import expects
from interlock.domain.partition import Grain, Label, hours_of
from interlock.domain.pipeline import Calendar, Schedule
from interlock.domain.schedule import sensor_driven, watched_on
from interlock.domain.zones import zone

#: The prefix under which the reading of the previous date stands beside those of a date.
PREVIOUS = "previous:"

#: How far back the previous date is looked for: a yearly schedule has one, with some days to spare.
FARTHEST_BACK = 400


def previous_key(key: str) -> str:
    """The key under which the reading of the previous date is part of the evidence."""
    return f"{PREVIOUS}{key}"


def previous_date(
    schedule: Schedule, calendars: Mapping[str, Calendar], label: Label
) -> Label | None:
    """The last expected date before a label, of its grain if only readings open the dates. None when
    there is none within `FARTHEST_BACK` days, or when it can't be said: for single minutes without a cron.
    """
    if sensor_driven(schedule) and label.grain is Grain.MINUTE:
        return None
    for back in range(min(FARTHEST_BACK + 1, label.day.toordinal())):
        day = label.day - timedelta(days=back)
        earlier = [
            each for each in _dates_on(schedule, calendars, label, day) if each.wall < label.wall
        ]
        if earlier:
            return earlier[-1]
    return None


def _dates_on(
    schedule: Schedule, calendars: Mapping[str, Calendar], label: Label, day: date
) -> list[Label]:
    """The expected dates of a local day, ascending."""
    if sensor_driven(schedule) and label.grain is Grain.HOUR:
        is_expected = expects(schedule, calendars, day)
        return [*hours_of(day, zone(schedule.timezone))] if is_expected else []
    return [Label.parse(each.date) for each in watched_on(schedule, calendars, day)]
