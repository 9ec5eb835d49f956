"""Explain: why a date has run or has not, from what is stored. Recorded results are not judged again; only a
date that is still waiting is judged on the present readings.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from interlock.domain import duration
from interlock.domain.admission import window_closed
from interlock.domain.budgets import RerunSource, rerun_budget, retry_budget
from interlock.domain.calendars import excluded
from interlock.domain.cancellation import is_cancelled
from interlock.domain.check import in_symbols
from interlock.domain.config import Config, Pause
from interlock.domain.deadline import closes_at, deadlines
from interlock.domain.marking import is_marked
from interlock.domain.opening import instants, window_end
from interlock.domain.partition import Label
from interlock.domain.pipeline import Pipeline, Schedule
from interlock.domain.rule_text import receipt_need
from interlock.domain.rules import judge_date, judge_one, obstacles
from interlock.domain.run import RuleRecord, Run, RunKey, Status
from interlock.domain.schedule import expected_start, next_occurrence
from interlock.domain.sensor import Reading
from interlock.domain.sla import blocked_by, explain_record, failing_lines
from interlock.domain.stability import NOT_STABLE
from interlock.domain.zones import zone
from interlock.queries.current_date import current_date, last_begun
from interlock.queries.skipped_upstream import skipped_upstream
from interlock.usecases.evidence import judged_readings, readings_for, rule_records
from interlock.usecases.find_runs import find_runs
from interlock.usecases.ports import Ports
from interlock.usecases.unknown_pipeline import unknown_pipeline


class RuleState(msgspec.Struct, frozen=True, rename="camel"):
    """One rule: its result, since when, and in words."""

    key: str
    check: str
    field: str | None
    expected: Any
    actual: Any
    kind: str | None
    since: datetime | None
    text: str
    #: When the judged reading arrived, if it is still the stored one.
    received_at: datetime | None = None
    #: The value of the other field, or of the previous date, that it was compared with.
    against: Any = None
    #: The group of the rule, such as `anyOf[1]`: the second entry of the rules.
    group: str | None = None
    stable_for: str | None = None
    #: Whether it stands in the way: not if it holds, nor if another member of its `anyOf` does.
    blocks: bool = False


class Why(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Everything that explains one date."""

    pipeline_id: str
    schedule_id: str
    date: str
    status: str
    headline: str
    judged_at: datetime
    recorded: bool
    timezone: str = "UTC"
    attempt: int | None = None
    rules: tuple[RuleState, ...] = ()
    trigger: RuleState | None = None
    excluded_by: str | None = None
    paused: bool = False
    closes_at: datetime | None = None
    window_end: datetime | None = None
    next_expected: datetime | None = None
    deadlines: dict[str, datetime] = {}
    sla_verdict: str | None = None
    budgets: dict[str, str] = {}
    evidence: dict[str, str] = {}
    blocked_by: tuple[str, ...] = ()
    unblock: tuple[str, ...] = ()
    #: Who paused it, why, since when and until when.
    pause: Pause | None = None
    #: When the next attempt of a failed run is due.
    retry_at: datetime | None = None
    #: When the schedule opens a date that has no run yet.
    opens_at: datetime | None = None


def explain(pipeline_id: str, ports: Ports, date: str | None = None) -> list[Why]:
    """One answer per schedule; without a date, for the schedule's current date.

    Raises NotFoundError for an undeclared pipeline.
    """
    config = ports.pipelines.find(pipeline_id)
    if config is None:
        raise unknown_pipeline(pipeline_id, ports)
    now = ports.clock()
    return [
        _explain(config, schedule, date or _current(config, schedule, now, ports), now, ports)
        for schedule in config.pipeline.schedules
    ]


def _current(config: Config, schedule: Schedule, now: datetime, ports: Ports) -> str:
    present = config.pipeline.present_id
    last = last_begun(schedule, now)
    for until in (last, "9999"):
        runs = ports.runs.of_pipeline(config.pipeline.id, "0000", until, 20)
        ours = [run.key.date for run in runs if present(run.key.schedule_id) == schedule.id]
        if ours:
            return current_date(ours, schedule, now)
    return current_date((), schedule, now)


def _explain(config: Config, schedule: Schedule, date: str, now: datetime, ports: Ports) -> Why:
    pipeline = config.pipeline
    key = RunKey(pipeline.id, schedule.id, date, dry=pipeline.dry_run)
    label = Label.parse(date)
    run = find_runs([key], pipeline, ports).get(key)
    out = excluded(schedule, pipeline.calendars, label.day)
    moment = next_occurrence(schedule, pipeline.calendars, now)
    rules, at, recorded = _rules(key, run, config, now, ports)
    trigger = _trigger(key, run, config, schedule, now, ports)
    opens = None if run is not None or out is not None else _opens_at(schedule, label, now)
    upstream = skipped_upstream(key, run, config, ports)
    case = _Case(run, config, key, out is not None, opens, now, upstream)
    return Why(
        pipeline_id=pipeline.id,
        schedule_id=schedule.id,
        date=date,
        status="absent" if run is None else run.status,
        headline=_headline(case),
        judged_at=at,
        recorded=recorded,
        timezone=schedule.timezone,
        attempt=None if run is None else run.attempt,
        rules=rules,
        trigger=trigger,
        excluded_by=None if out is None else out.by,
        paused=config.is_paused(now),
        closes_at=closes_at(schedule, label),
        window_end=None if run is None or not run.is_open else window_end(run, pipeline),
        next_expected=None if moment is None else moment.due_at,
        deadlines=_deadlines(run, pipeline, schedule, label),
        sla_verdict=None if run is None else run.sla_verdict,
        budgets={} if run is None else _budgets(run, pipeline),
        evidence={} if run is None else {k: seen.version for k, seen in run.evidence.items()},
        blocked_by=tuple(_blocked(case, trigger)),
        pause=config.pause(now),
        unblock=tuple(_unblock(case, rules)),
        retry_at=run.retry_at if run is not None and run.awaits_retry else None,
        opens_at=opens,
    )


def _rules(
    key: RunKey, run: Run | None, config: Config, now: datetime, ports: Ports
) -> tuple[tuple[RuleState, ...], datetime, bool]:
    """As recorded by the last evaluation; a date without one is judged on the present readings."""
    schedule = config.pipeline.schedule(key.schedule_id)
    if run is not None and run.verdict is not None:
        at, records = run.verdict.at, run.verdict.results
        readings = readings_for(key, config.pipeline, ports, run=run)
        return _states(records, at, readings), at, True
    readings = judged_readings(key, config.pipeline, ports, run)
    before = None if run is None else run.verdict
    verdict = judge_date(config.pipeline, schedule, readings, now, before)
    records = rule_records(verdict.results, now)
    return _states(records, now, readings), now, False


def _states(
    records: Sequence[RuleRecord], at: datetime, readings: Mapping[str, Reading]
) -> tuple[RuleState, ...]:
    blocking = set(map(id, obstacles(records)))
    return tuple(
        _state(each, at, readings.get(each.key), blocks=id(each) in blocking) for each in records
    )


def _trigger(
    key: RunKey, run: Run | None, config: Config, schedule: Schedule, now: datetime, ports: Ports
) -> RuleState | None:
    if schedule.trigger is None:
        return None
    rule = schedule.trigger.rule
    readings = readings_for(key, config.pipeline, ports, frozenset({rule.key}), run)
    reading = readings.get(rule.key)
    record = rule_records([judge_one(rule, reading, now)], now)[0]
    return _state(record, now, reading, blocks=record.kind is not None)


def _state(record: RuleRecord, at: datetime, reading: Reading | None, blocks: bool) -> RuleState:
    text = "holds" if record.kind is None else explain_record(record, at)
    return RuleState(
        record.key,
        record.check,
        record.field,
        record.expected,
        record.actual,
        record.kind,
        record.since,
        text,
        None if reading is None or reading.received_at > at else reading.received_at,
        record.against,
        record.group,
        record.stable_for,
        blocks,
    )


class _Case(msgspec.Struct, frozen=True):
    """A date, and what is known about it."""

    run: Run | None
    config: Config
    key: RunKey
    is_excluded: bool
    #: When its schedule opens it, if that is still to come.
    opens_at: datetime | None
    now: datetime
    #: Which dates that it waits for need not run, one line each.
    upstream: tuple[str, ...] = ()

    @property
    def is_paused(self) -> bool:
        return self.config.is_paused(self.now)

    @property
    def schedule(self) -> Schedule:
        return self.config.pipeline.schedule(self.key.schedule_id)

    @property
    def opening(self) -> str:
        """In the words of its zone."""
        assert self.opens_at is not None
        wall = self.opens_at.astimezone(zone(self.schedule.timezone))
        return f"{wall:%Y-%m-%d %H:%M} {self.schedule.timezone} ({_in(self.opens_at, self.now)})"


def _opens_at(schedule: Schedule, label: Label, now: datetime) -> datetime | None:
    start = expected_start(schedule, label)
    return start if start is not None and start > now else None


def _headline(case: _Case) -> str:
    run, now = case.run, case.now
    if run is None:
        return _headline_without_run(case)
    if run.status is Status.UNREADABLE:
        return "its stored row can't be read, so its state is unknown and it can't open"
    if run.is_bare:
        return _BARE_HEADLINES[run.status]
    age = duration.for_ages(now - run.changed_at)
    if run.awaits_retry and run.retry_at is not None:
        return f"attempt {run.attempt} failed; retry {_in(run.retry_at, now)}"
    if run.waits_for and not failing_lines(run.verdict, now):
        return f"its rules hold, and it waits for a place (attempt {run.attempt})"
    return _by_hand(run, age) or _HEADLINES[run.status].format(age=age, attempt=run.attempt)


def _headline_without_run(case: _Case) -> str:
    pause = case.config.pause(case.now)
    if pause is not None:
        return f"the pipeline is {pause}; no run opens"
    if case.is_excluded:
        return "the calendar excludes this date; no run is expected"
    if case.opens_at is not None:
        return f"its schedule opens this date {case.opening}"
    return "nothing has opened this date yet"


def _by_hand(run: Run, age: str) -> str | None:
    """What an operator said about its present attempt."""
    if run.status is Status.SKIPPED and run.skip is not None:
        return f"{run.skip} ({age} ago); nothing opens it until that is undone"
    if run.mark is not None and is_marked(run, run.mark.outcome):
        return f"{run.mark} ({age} ago); only a rerun opens it"
    if is_cancelled(run):
        return f"cancelled {age} ago (attempt {run.attempt}); only a rerun opens it"
    return None


def _in(moment: datetime, now: datetime) -> str:
    if moment <= now:
        return "now"
    return f"in {duration.for_ages(moment - now)}"


def _deadlines(
    run: Run | None, pipeline: Pipeline, schedule: Schedule, label: Label
) -> dict[str, datetime]:
    if run is not None:
        return {str(kind): at for kind, at in instants(run).items()}
    if pipeline.sla is None:
        return {}
    due = deadlines(schedule, pipeline.sla, label, calendars=pipeline.calendars)
    found = {"readiness": due.readiness_at, "warning": due.warning_at, "breach": due.breach_at}
    return {name: at for name, at in found.items() if at is not None}


def _budgets(run: Run, pipeline: Pipeline) -> dict[str, str]:
    job, spent = pipeline.job, run.spending
    budgets = (
        retry_budget(None, spent, job),
        rerun_budget(RerunSource.DRIFT, spent, job),
        rerun_budget(RerunSource.MANUAL, spent, job),
    )
    found = {budget.name: f"{budget.spent} of {budget.max}" for budget in budgets}
    return {**found, "code_retries": f"{spent.code_retries} of {job.max_code_retries}"}


def _blocked(case: _Case, trigger: RuleState | None) -> list[str]:
    """Why a date is not done; a date without a run may have other obstacles than a reading."""
    run, config = case.run, case.config
    if run is not None and run.status is Status.COMPLETED:
        return []
    pause = case.config.pause(case.now)
    if run is None and pause is not None:
        return [f"the pipeline is {pause}"]
    if run is None and case.is_excluded:
        return ["the calendar excludes this date"]
    if case.opens_at is not None:
        return ["its time has not come"]
    if run is None and trigger is not None:
        return [] if trigger.kind is None else [*case.upstream, trigger.text]
    return list(case.upstream) + blocked_by(run, config.pipeline, case.key.schedule_id, case.now)


def _unblock(case: _Case, rules: Sequence[RuleState]) -> list[str]:
    """What a person or a producer can do now."""
    run, key = case.run, case.key
    name = f"{key.pipeline_id} {key.date}"
    if case.is_paused:
        return [f"interlock resume {key.pipeline_id}"]
    if case.is_excluded:
        return []
    if case.opens_at is not None:
        return [f"nothing to do: it opens {case.opening}"]
    if run is None:
        trigger = case.schedule.trigger
        wanted = [] if trigger is None else [f"a reading of {trigger.rule.key} for {key.date}"]
        return [*wanted, f"interlock rerun {name}"]
    if run.status is Status.UNREADABLE:
        return ["interlock doctor, which names the row and the remedy"]
    if run.status is Status.PENDING:
        ends = [f"the end of {each.date}" for each in run.waits_for]
        return [*ends, *(_wanted(rule) for rule in rules if rule.blocks)]
    if run.status is Status.FAILED and not run.awaits_retry:
        reading = "a reading that a rule waits for" if window_closed(run) else _CHANGED
        return [reading, f"interlock rerun {name}"]
    if run.status is Status.FAILED_FINAL:
        return [f"interlock rerun {name}"]
    if run.status is Status.SKIPPED:
        return [f"interlock unskip {name} --reason WHY"]
    return []


def _wanted(rule: RuleState) -> str:
    """The reading that would make a rule hold; one that came too long ago needs only to come again."""
    if rule.kind == NOT_STABLE:
        return f"no new reading of {rule.key} for a while: it must hold for {rule.stable_for}"
    if rule.kind == "present":
        where = f"{rule.key}.{rule.field}" if rule.field else f"the reading of {rule.key}"
        return f"the removal of {where}"
    if rule.kind in _OF_OTHERS:
        return _OF_OTHERS[rule.kind].format(key=rule.key)
    if not rule.field or receipt_need(rule.kind, rule.expected) is not None:
        return f"a reading of {rule.key}"
    need = in_symbols(rule.check, rule.expected, rule.against)
    return f"a reading of {rule.key} with {rule.field} {need}"


#: What is missing where the rule's own reading is not.
_OF_OTHERS = {
    "value_missing": "a reading with the field that {key} is compared with",
    "value_sensor_missing": "a reading of the key that {key} is compared with",
    "value_sensor_unreadable": "a new reading of the key that {key} is compared with",
    "value_received_too_old": "a new reading of the key that {key} is compared with",
    "value_received_unknown": "a new reading of the key that {key} is compared with",
    "previous_missing": "a reading of {key} for the previous date, or `first: pass` in its rule",
    "previous_unreadable": "interlock doctor, which names the row of the previous date and the remedy",
    "previous_not_numeric": "a reading of {key} for the previous date with a number",
}
_CHANGED = "a trigger reading that passes and says something new"
_HEADLINES = {
    Status.PENDING: "waiting for its rules (attempt {attempt})",
    Status.TRIGGERING: "its job is being launched (attempt {attempt})",
    Status.RUNNING: "its job is running (attempt {attempt})",
    Status.FAILED: "attempt {attempt} failed {age} ago; new data or a rerun opens it again",
    Status.COMPLETED: "completed {age} ago (attempt {attempt})",
    Status.FAILED_FINAL: "failed for good {age} ago (attempt {attempt}); only a rerun opens it",
    Status.SKIPPED: "skipped {age} ago; nothing opens it until that is undone",
}

#: For a row that has only the outcome of the date.
_BARE_HEADLINES = {
    Status.COMPLETED: "completed; its row has no details; only a rerun opens it",
    Status.FAILED_FINAL: "failed for good; its row has no details; only a rerun opens it",
}
