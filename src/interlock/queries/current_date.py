"""Current date: the date of a pipeline that people ask about when they name none.

A date in the future, which a mistyped reading may open, never hides what is open or failed today.
"""

from collections.abc import Iterable
from datetime import datetime

from interlock.domain.partition import Grain, label_at
from interlock.domain.pipeline import Pipeline, Schedule
from interlock.domain.zones import zone


def current_date(dates: Iterable[str], schedule: Schedule, now: datetime) -> str:
    """Of the dates with a run, the newest that has begun, or else the first to come; without runs, today."""
    last = last_begun(schedule, now)
    found = sorted(dates)
    begun = [date for date in found if date <= last]
    if begun:
        return begun[-1]
    return found[0] if found else str(label_at(now, zone(schedule.timezone), Grain.DAY))


def last_begun(schedule: Schedule, now: datetime) -> str:
    """A date that has begun is not greater than this, whatever its grain."""
    return str(label_at(now, zone(schedule.timezone), Grain.MINUTE))


def last_begun_of(pipeline: Pipeline, now: datetime) -> str:
    """Over all schedules."""
    return max(last_begun(schedule, now) for schedule in pipeline.schedules)
