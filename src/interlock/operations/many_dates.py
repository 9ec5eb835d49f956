"""Many dates: which dates a request names, and what it would do with each."""

from collections.abc import Iterator

import msgspec

from interlock.domain.backfill_range import BackfillRange, dates_in_range
from interlock.domain.config import Config
from interlock.domain.partition import Grain, Label
from interlock.domain.pipeline import Schedule
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import Run, RunKey
from interlock.domain.schedule import watched_on
from interlock.errors import ConfigError
from interlock.operations.requests import MOST_DATES, NewDates, label_of
from interlock.operations.results import DateAnswer
from interlock.usecases.find_runs import find_runs
from interlock.usecases.judge_rerun import foresee_rerun
from interlock.usecases.plan_backfill import date_rules
from interlock.usecases.ports import Ports
from interlock.usecases.request_rerun import chosen_schedule
from interlock.usecases.run_order import RunOrder
from interlock.usecases.skip_run import foresee_skip


class OrderedDate(msgspec.Struct, frozen=True):
    """One date of the request, and its run as it is before anything is done."""

    key: RunKey
    run: Run | None

    def answer(self, accepted: bool, text: str) -> DateAnswer:
        return DateAnswer(
            schedule_id=self.key.schedule_id,
            date=self.key.date,
            accepted=accepted,
            text=text,
            state="absent" if self.run is None else self.run.state,
        )


def ordered_dates(config: Config, wanted: NewDates, ports: Ports) -> list[OrderedDate]:
    """Every date of the request, once, in order. Raises ConfigError for none, for too many, and for a
    range without an end.
    """
    if not wanted.reason.strip():
        raise ConfigError("give a reason; it is recorded with your name")
    schedule = chosen_schedule(config, wanted.schedule)
    ranged = _ranged(config, schedule, wanted, ports)
    dates = sorted({*_named(config, schedule, wanted), *ranged})
    if not dates:
        raise ConfigError("name a date, or a range in which the schedule expects one")
    if len(dates) > MOST_DATES:
        raise ConfigError(f"these are {len(dates)} dates: at most {MOST_DATES} at once")
    pipeline = config.pipeline
    keys = [RunKey(pipeline.id, schedule.id, date, dry=pipeline.dry_run) for date in dates]
    runs = find_runs(keys, pipeline, ports)
    return [OrderedDate(key, runs.get(key)) for key in keys]


def dates_meant(config: Config, schedule: Schedule, label: Label) -> list[str]:
    """The date itself; for a day of a schedule with finer dates, those that it expects on that day."""
    if schedule.cron is None or label.grain is not Grain.DAY:
        return [str(label)]
    watched = watched_on(schedule, config.pipeline.calendars, label.day)
    return [each.date for each in watched] or [str(label)]


def foreseen_date(date: OrderedDate, wanted: NewDates, ports: Ports) -> DateAnswer:
    """What the request would do with a date now."""
    if wanted.action == "skip":
        objection = foresee_skip(RunOrder(date.key, "", wanted.reason), ports)
        return date.answer(objection is None, objection or "would be skipped")
    request = RerunRequest(
        key=msgspec.structs.replace(date.key, dry=False),
        reason=wanted.reason,
        requested_at=ports.clock(),
        force=wanted.force,
        over_budget=wanted.over_budget,
    )
    objection = foresee_rerun(request, ports)
    return date.answer(objection is None, objection or "would run again")


def _named(config: Config, schedule: Schedule, wanted: NewDates) -> Iterator[str]:
    """A day of a schedule with finer dates means its expected dates."""
    for text in wanted.dates:
        yield from dates_meant(config, schedule, label_of(text))


def _ranged(config: Config, schedule: Schedule, wanted: NewDates, ports: Ports) -> list[str]:
    """The expected dates from the first to the last; a day as the last includes its hours."""
    if wanted.since is None and wanted.until is None:
        return []
    if wanted.since is None or wanted.until is None:
        raise ConfigError("a range needs both ends: from and to")
    ends = BackfillRange(label_of(wanted.since), label_of(wanted.until))
    try:
        return dates_in_range(ends, date_rules(config, schedule, ports))
    except ValueError as error:
        raise ConfigError(str(error)) from error
