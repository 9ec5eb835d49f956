"""Warnings: what is legal in a pipeline file but certainly a mistake."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from itertools import chain

from interlock.domain import duration
from interlock.domain.admission import trigger_keys
from interlock.domain.pipeline import (
    Calendar,
    Evaluation,
    Job,
    Rule,
    RuleEntry,
    Schedule,
    Weekday,
    holiday_calendar,
)
from interlock.domain.sensor import RESERVED, split_key
from interlock.files.authored import PipelineFile
from interlock.files.job_warnings import job_warnings
from interlock.files.pipeline_checks import is_daily, placed_schedules
from interlock.files.problem import Path, ProblemKind
from interlock.files.problem_collector import At
from interlock.files.rule_checks import placed_rules

#: The default time limit of one execution.
EXECUTION_TIMEOUT = timedelta(hours=4)
#: More evaluations, or polls, than this do not fit into the history of one execution.
MOST_TURNS = 1500

#: Where, what kind, and the sentence.
Remark = tuple[Path, ProblemKind, str]


def warn(file: PipelineFile, calendars: Mapping[str, Calendar], at: At) -> None:
    """Record every warning of a valid file."""
    for path, kind, message in chain(
        _schedule_warnings(file),
        _rule_warnings(file),
        _sla_warnings(file),
        _poll_warnings(file),
        _calendar_warnings(file, calendars),
        job_warnings(file, at.inner("job", "config")),
    ):
        at.reading.warn(path, at.node, kind, message)


def turns(evaluation: Evaluation) -> float:
    """How often the rules of a run may be judged."""
    return duration.parse(evaluation.window) / evaluation.every


def polls(job: Job) -> float:
    """How often a job may be polled."""
    return 0 if job.polled_every is None else job.poll_window / job.polled_every


def _poll_warnings(file: PipelineFile) -> Iterator[Remark]:
    if polls(file.job) > MOST_TURNS:
        message = f"more than {MOST_TURNS} polls fit into the poll window; AWS refuses that"
        yield ("job", "pollInterval"), ProblemKind.OUT_OF_RANGE, message


def _schedule_warnings(file: PipelineFile) -> Iterator[Remark]:
    for path, schedule in placed_schedules(file):
        for find in _OF_SCHEDULES:
            for inner, kind, message in find(schedule):
                yield (*path, *inner), kind, message
        yield from _long_wait(file, path, schedule)


def _long_wait(file: PipelineFile, path: Path, schedule: Schedule) -> Iterator[Remark]:
    longest = duration.parse(schedule.evaluation.window) + file.job.poll_window
    if longest > EXECUTION_TIMEOUT:
        yield (
            (*path, "evaluation", "window"),
            ProblemKind.OUT_OF_RANGE,
            f"window and jobPollWindowSeconds add up to {duration.spell(longest)}, "
            f"but an execution is stopped after {duration.spell(EXECUTION_TIMEOUT)}",
        )


def _odd_interval(schedule: Schedule) -> Iterator[Remark]:
    where = ("evaluation", "interval")
    if turns(schedule.evaluation) > MOST_TURNS:
        yield (
            where,
            ProblemKind.OUT_OF_RANGE,
            f"more than {MOST_TURNS} evaluations fit into the window",
        )
    elif schedule.evaluation.every < min(
        timedelta(minutes=1), duration.parse(schedule.evaluation.window)
    ):
        yield where, ProblemKind.OUT_OF_RANGE, "an interval under 1m costs more than it gains"


def _odd_trigger(schedule: Schedule) -> Iterator[Remark]:
    trigger = schedule.trigger
    if trigger is None:
        return
    if trigger.pipeline is not None and trigger.check is not None:
        yield ("trigger", "check"), ProblemKind.CONFLICT, "has no effect with pipeline"
    if trigger.hours is not None and schedule.cron is not None and not is_daily(schedule):
        yield (
            ("trigger", "hours"),
            ProblemKind.CONFLICT,
            "is for daily runs, but this cron is not daily",
        )
    if trigger.key is not None:
        yield from _odd_key(trigger.key, ("trigger", "key"))


def _odd_trigger_deadline(schedule: Schedule) -> Iterator[Remark]:
    deadline = None if schedule.trigger is None else schedule.trigger.deadline
    where = ("trigger", "deadline")
    if deadline is None or not is_daily(schedule):
        return
    if deadline.startswith(":"):
        yield where, ProblemKind.CONFLICT, ":MM is for hourly runs, but this cron is daily"
    elif schedule.offset == 0 and _precedes_cron(deadline, schedule):
        yield where, ProblemKind.CONFLICT, f"{deadline} is before the cron fires"


def _never_runs(schedule: Schedule) -> Iterator[Remark]:
    exclude = schedule.exclude
    if exclude is None:
        return
    weekend = {Weekday.SATURDAY, Weekday.SUNDAY} if exclude.weekends else set()
    if len({*exclude.days, *weekend}) == len(Weekday):
        yield ("exclude",), ProblemKind.CONFLICT, "every day of the week is excluded"
    if schedule.include is not None and set(schedule.include.dates) <= set(exclude.dates):
        yield ("exclude", "dates"), ProblemKind.CONFLICT, "every included date is excluded"


def _rule_warnings(file: PipelineFile) -> Iterator[Remark]:
    rules, where = file.validation.rules, ("validation", "rules")
    yield from _odd_rules(rules, where)
    if file.post_run is not None:
        yield from _odd_rules(file.post_run.rules, ("postRun", "rules"))
    yield from _ageless_rules(file)


def _ageless_rules(file: PipelineFile) -> Iterator[Remark]:
    """A reading without a date applies to every date, except as a trigger: yesterday's could pass today."""
    declared = file.validation
    if declared.max_age is not None:
        return
    owned = [trigger_keys(schedule) for _, schedule in placed_schedules(file)]
    rules = [*placed_rules(declared.rules)]
    seen = {key for path, rule in rules if "anyOf" not in path for key in _aging_keys(rule)}
    for path, rule in rules:
        if rule.max_age is not None or rule.wants_no_reading:
            continue
        for key in rule.keys:
            if key in seen or key.startswith(RESERVED):
                continue
            seen.add(key)
            if not all(key in keys for keys in owned):
                message = (
                    f"yesterday's reading of {key} would pass today, unless its readings carry a "
                    "date: add maxAge, or an age_lt rule"
                )
                place = "key" if key == rule.key else "value"
                yield ("validation", "rules", *path, place), ProblemKind.MISSING, message


def _aging_keys(rule: Rule) -> tuple[str, ...]:
    """The keys whose readings a rule refuses once they are old."""
    if rule.max_age is not None:
        return rule.keys
    return (rule.key,) if rule.check.spec.limits_age else ()


def _odd_rules(entries: Sequence[RuleEntry], path: Path) -> Iterator[Remark]:
    for inner, rule in placed_rules(entries):
        yield from _odd_key(rule.key, (*path, *inner, "key"))
        if rule.check.spec.value is None and rule.value is not None:
            message = f"{rule.check} compares with nothing"
            yield (*path, *inner, "value"), ProblemKind.CONFLICT, message


def _odd_key(key: str, path: Path) -> Iterator[Remark]:
    base, period = split_key(key)
    if period is not None:
        yield (
            path,
            ProblemKind.BAD_VALUE,
            f"only one period can ever match; the key alone is {base}",
        )


def _sla_warnings(file: PipelineFile) -> Iterator[Remark]:
    sla = file.sla
    if sla is None:
        return
    given = {"deadline": sla.deadline, "evaluationDeadline": sla.evaluation_deadline}
    for name, deadline in given.items():
        for _, schedule in placed_schedules(file) if deadline else ():
            message = _odd_deadline(deadline or "", sla.timezone, schedule)
            if message:
                yield ("sla", name), ProblemKind.CONFLICT, message


def _odd_deadline(deadline: str, zone: str | None, schedule: Schedule) -> str:
    """Why a deadline makes no sense for a schedule, judged by wall-clock times in one zone."""
    if deadline.startswith(":"):
        days = schedule.include is not None
        return ":MM is for hourly runs, but included dates are days" if days else ""
    if schedule.offset > 0 or zone not in (None, schedule.timezone) or not is_daily(schedule):
        return ""
    return f"{deadline} is before the cron fires" if _precedes_cron(deadline, schedule) else ""


def _calendar_warnings(file: PipelineFile, calendars: Mapping[str, Calendar]) -> Iterator[Remark]:
    for path, schedule in placed_schedules(file):
        country = None if schedule.exclude is None else schedule.exclude.holidays
        if country is not None and not calendars[holiday_calendar(country)].dates:
            message = f"the holidays of {country} are not known for these years"
            yield (*path, "exclude", "holidays"), ProblemKind.BAD_VALUE, message


def _precedes_cron(clock: str, schedule: Schedule) -> bool:
    """Whether a time of day is no later than the time at which a daily cron fires."""
    minute, hour = (schedule.cron or "").split()[:2]
    return minute.isdigit() and hour.isdigit() and clock <= f"{int(hour):02}:{int(minute):02}"


_OF_SCHEDULES: tuple[Callable[[Schedule], Iterator[Remark]], ...] = (
    _odd_interval,
    _odd_trigger,
    _odd_trigger_deadline,
    _never_runs,
)
