"""Reruns: whether a request to run a date again is accepted, and if not, why."""

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from interlock.domain.budgets import Budget, RerunSource, rerun_budget, rerun_source
from interlock.domain.calendars import Excluded
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run, Status
from interlock.domain.sensor import Reading, UnreadableReading


class Cause(StrEnum):
    """Why a rerun is rejected."""

    UNKNOWN_PIPELINE = "unknown-pipeline"
    EXCLUDED = "excluded"
    BEYOND_HORIZON = "beyond-horizon"
    IN_PROGRESS = "in-progress"
    BUDGET = "budget"
    NO_NEW_DATA = "no-new-data"
    UNREADABLE = "unreadable"
    SKIPPED = "skipped"


class Granted(msgspec.Struct, frozen=True):
    """The date may run again, charged to this budget; a date that never ran costs nothing."""

    budget: Budget | None


class RerunRefused(msgspec.Struct, frozen=True):
    """The date may not run again."""

    cause: Cause
    budget: Budget | None = None


class RerunCase(msgspec.Struct, frozen=True, kw_only=True):
    """A request, and what is known of its date."""

    reason: str
    force: bool = False
    over_budget: bool = False
    excluded: Excluded | None = None
    run: Run | None = None
    readings: Mapping[str, Reading] = {}
    #: Whether the date lies within the horizon of its schedule.
    believed: bool = True


def judge_request(case: RerunCase, pipeline: Pipeline) -> Granted | RerunRefused:
    """Judge in a fixed order: calendar, horizon, a run in progress, the budget, the circuit breaker.

    A row that says only that the date is done has no evidence to compare with, and neither has a run that a
    person marked done, so the circuit breaker never trips.
    """
    run = case.run
    if case.excluded is not None:
        return RerunRefused(Cause.EXCLUDED)
    if run is None:
        return Granted(None) if case.believed else RerunRefused(Cause.BEYOND_HORIZON)
    if run.status is Status.UNREADABLE:
        return RerunRefused(Cause.UNREADABLE)
    if run.status is Status.SKIPPED:
        return RerunRefused(Cause.SKIPPED)
    if run.is_open or run.awaits_retry:
        return RerunRefused(Cause.IN_PROGRESS)
    source = rerun_source(case.reason)
    budget = rerun_budget(source, run.spending, pipeline.job)
    by_hand = source is RerunSource.MANUAL
    if not budget.left and not (case.over_budget and by_hand):
        return RerunRefused(Cause.BUDGET, budget)
    forced = case.force and by_hand
    done = run.status is Status.COMPLETED and not run.is_bare and run.mark is None
    if done and not forced and not news(run, case.readings):
        return RerunRefused(Cause.NO_NEW_DATA, budget)
    return Granted(budget)


def news(run: Run, readings: Mapping[str, Reading]) -> bool:
    """Whether a reading that the date uses has changed since the job was started on it.

    Post-run readings that the job did not use are compared with those at completion. An unreadable one says
    nothing.
    """
    return any(
        (seen := run.evidence.get(key)) is None or seen.version != reading.version
        for key, reading in readings.items()
        if not isinstance(reading, UnreadableReading)
    )


#: Each cause in words.
EXPLAINED: dict[str, str] = {
    Cause.UNKNOWN_PIPELINE: "no such pipeline or schedule is in force",
    Cause.EXCLUDED: "the calendar excludes the date",
    Cause.BEYOND_HORIZON: "the date is beyond the schedule's horizon",
    Cause.IN_PROGRESS: "a run is in progress, or a retry is due",
    Cause.BUDGET: "the budget is spent",
    Cause.NO_NEW_DATA: "no reading has changed since the run succeeded",
    Cause.UNREADABLE: "the stored row of the date can't be read; `interlock doctor` names it",
    Cause.SKIPPED: "the date is skipped; `interlock unskip` undoes that",
}
