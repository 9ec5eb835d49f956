"""Standing: since when the current form of a schedule counts, so that an edit makes nothing due before it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from interlock.domain.pipeline import Calendar, Pipeline, Schedule, holiday_calendar


class Standing(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Since when the moments, deadlines and trigger of a schedule count."""

    #: Since when its dates are due at these times.
    since: datetime
    #: Since when it has these deadlines.
    deadlines_since: datetime
    #: Only readings received since then open its dates; None: all, even those from before the pipeline.
    readings_since: datetime | None = None
    #: Dates that began before `since`, that the old form expected, and whose deadline was still ahead.
    carried: tuple[str, ...] = ()

    def counts(self, date: str, begins_at: datetime) -> bool:
        """Whether this form covers a date."""
        return begins_at >= self.since or date in self.carried

    def promised(self, moment: datetime | None) -> datetime | None:
        """A moment of a deadline, if its file was in force by then; otherwise None."""
        return None if moment is None or moment < self.deadlines_since else moment

    def opens(self, received_at: datetime) -> bool:
        """Whether a reading received at that moment may open a date."""
        return self.readings_since is None or received_at >= self.readings_since


def standing_since(moment: datetime) -> Standing:
    """The standing of a schedule that was not edited since its pipeline came into force."""
    return Standing(since=moment, deadlines_since=moment)


def moments_of(schedule: Schedule, calendars: Mapping[str, Calendar]) -> dict[str, Any]:
    """What determines when the dates of a schedule are due and what opens them, by field of the file."""
    exclude = schedule.exclude
    listed = [schedule.calendar]
    if exclude is not None:
        listed += [exclude.calendar, exclude.holidays and holiday_calendar(exclude.holidays)]
    return {
        "cron": schedule.cron,
        "timezone": schedule.timezone,
        "time": schedule.time,
        "dayOffset": schedule.offset,
        "include": schedule.include,
        "exclude": exclude,
        "calendar": [calendars.get(name) for name in listed if name],
        "trigger": _watched_by(schedule),
    }


def _watched_by(schedule: Schedule) -> tuple[str | None, ...]:
    """Which reading opens its dates, and until when. The content that the reading must have is a rule like
    any other: the present reading is judged by it again.
    """
    trigger = schedule.trigger
    if trigger is None:
        return ()
    return trigger.rule.key, trigger.hours, trigger.deadline


def deadlines_of(pipeline: Pipeline) -> dict[str, Any]:
    """What determines by when the dates of a pipeline must be done, besides their moments."""
    sla = pipeline.sla
    if sla is None:
        return {}
    return {
        "deadline": sla.deadline,
        "expectedDuration": sla.expected_duration,
        "evaluationDeadline": sla.evaluation_deadline,
        "timezone": sla.timezone,
    }


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the fields that differ between two forms."""
    return tuple(
        name for name in dict.fromkeys((*before, *after)) if before.get(name) != after.get(name)
    )
