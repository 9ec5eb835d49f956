"""Pipeline checks: the checks between the parts of a whole pipeline file.

The same checks serve a file and a config from a store; only the source of the calendars differs.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

from interlock.domain.partition import Grain
from interlock.domain.pipeline import Calendar, Schedule
from interlock.domain.schedule import cron_grain
from interlock.errors import ConfigError
from interlock.files.authored import PipelineFile
from interlock.files.problem import Path, ProblemKind
from interlock.files.problem_collector import At, known


class Library(Protocol):
    """Where the calendars of a pipeline come from. Each raises ValueError for an unknown name."""

    def calendar(self, name: str) -> Calendar: ...

    def holidays(self, country: str) -> Calendar: ...


def check_pipeline(file: PipelineFile, at: At) -> None:
    """Everything that can be checked in one file alone."""
    _check_either(file, at)
    _check_ids(file, at)
    _check_needed_trigger(file, at)
    _check_minute_deadline(file, at)
    _check_upstream(file, at)


def placed_schedules(file: PipelineFile) -> Iterator[tuple[Path, Schedule]]:
    """The valid schedules of a file, each with its path."""
    if file.schedule is not None and known(file.schedule):
        yield ("schedule",), file.schedule
    if file.schedules is not None and known(file.schedules):
        for position, schedule in enumerate(file.schedules):
            if known(schedule):
                yield ("schedules", position), schedule


def upstreams(file: PipelineFile) -> Iterator[tuple[Path, str]]:
    """Every pipeline that a schedule waits for, and the path where that is written."""
    for path, schedule in placed_schedules(file):
        trigger = schedule.trigger
        upstream = None if trigger is None else trigger.pipeline
        if upstream is not None and known(upstream):
            yield (*path, "trigger", "pipeline"), upstream


def is_daily(schedule: Schedule) -> bool:
    """Whether a cron implies that the dates of its runs are days."""
    cron = schedule.cron
    return cron is not None and known(cron) and cron_grain(cron) is Grain.DAY


def check_calendars(file: PipelineFile, library: Library, at: At) -> dict[str, Calendar]:
    """The calendars that the schedules name. Each name must be one of the library's."""
    found: dict[str, Calendar] = {}
    for path, schedule in placed_schedules(file):
        place = at.inner(*path)
        _look_up(schedule.calendar, library.calendar, place, "calendar", found)
        if schedule.exclude is not None and known(schedule.exclude):
            place = place.inner("exclude")
            _look_up(schedule.exclude.calendar, library.calendar, place, "calendar", found)
            _look_up(schedule.exclude.holidays, library.holidays, place, "holidays", found)
    return found


def _look_up(
    name: str | None,
    find: Callable[[str], Calendar],
    at: At,
    key: str,
    found: dict[str, Calendar],
) -> None:
    if name is None or not known(name):
        return
    try:
        calendar = find(name)
    except (ValueError, ConfigError) as error:
        at.error(key, ProblemKind.BAD_VALUE, str(error))
    else:
        found[calendar.name] = calendar


def _check_either(file: PipelineFile, at: At) -> None:
    if file.schedule is None and file.schedules is None:
        at.error("schedule", ProblemKind.MISSING, "a pipeline needs a schedule, or schedules")
    elif file.schedule is None and file.schedules == ():
        at.error("schedules", ProblemKind.MISSING, "the list is empty")
    elif None not in (file.schedule, file.schedules) and known(file.schedule, file.schedules):
        at.error("schedules", ProblemKind.CONFLICT, "schedule and schedules can't be combined")


def _check_ids(file: PipelineFile, at: At) -> None:
    """Each schedule of a list must have a unique id."""
    seen: set[str] = set()
    for path, schedule in placed_schedules(file):
        if path == ("schedule",) or not known(schedule.id):
            continue
        place = at.inner(*path)
        if place.given("id") is None:
            place.error("id", ProblemKind.MISSING, "required in a list of schedules")
        elif schedule.id in seen:
            place.error(
                "id", ProblemKind.DUPLICATE, f"an earlier schedule already has the id {schedule.id}"
            )
        seen.add(schedule.id)


def _check_needed_trigger(file: PipelineFile, at: At) -> None:
    """Spans that count from a trigger need one. A schedule that could not be read may have it."""
    if not _all_read(file) or any(each.trigger is not None for _, each in placed_schedules(file)):
        return
    longest = None if file.sla is None else file.sla.max_duration
    if longest is not None and known(longest):
        message = "counts from a trigger, but no schedule has one"
        at.inner("sla").error("maxDuration", ProblemKind.CONFLICT, message)
    if file.dry_run is True:
        at.error("dryRun", ProblemKind.CONFLICT, "needs a trigger, but no schedule has one")


def _all_read(file: PipelineFile) -> bool:
    """Whether all schedules are one or the other, and all were read."""
    if file.schedules is None:
        return file.schedule is not None and known(file.schedule)
    return file.schedule is None and known(file.schedules) and known(*file.schedules)


def _check_minute_deadline(file: PipelineFile, at: At) -> None:
    if file.sla is None or not known(file.sla):
        return
    given = {"deadline": file.sla.deadline, "evaluationDeadline": file.sla.evaluation_deadline}
    for name, deadline in given.items():
        if deadline is None or not known(deadline) or not deadline.startswith(":"):
            continue
        if any(is_daily(schedule) for _, schedule in placed_schedules(file)):
            message = ":MM is for hourly runs, but the cron of this schedule is daily"
            at.inner("sla").error(name, ProblemKind.CONFLICT, message, "write HH:MM")


def _check_upstream(file: PipelineFile, at: At) -> None:
    """A pipeline that waits for itself never runs."""
    if not known(file.pipeline.id):
        return
    for path, upstream in upstreams(file):
        if upstream == file.pipeline.id:
            message = "a pipeline can't wait for itself"
            at.inner(*path[:-1]).error("pipeline", ProblemKind.CONFLICT, message)
