"""Admission: what a reading means for a pipeline.

`admit` says everything a reading gives rise to, and when that is nothing, why. It is the ordinary path
and the watchdog's reconciliation alike: one function decides, whoever noticed the reading.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

import msgspec

from interlock.domain import duration
from interlock.domain.calendars import Excluded, excluded
from interlock.domain.deadline import closes_at
from interlock.domain.partition import Label
from interlock.domain.pipeline import Pipeline, Rule, Schedule
from interlock.domain.rules import judge_one
from interlock.domain.run import OpenedBy, Run, RunKey, Status
from interlock.domain.sensor import Reading, Rejection, reading_label, split_key
from interlock.domain.zones import zone


class OpenRun(msgspec.Struct, frozen=True):
    """The date has no run, and this reading opens it."""

    key: RunKey
    by: OpenedBy
    reading: Reading


class Reopen(msgspec.Struct, frozen=True):
    """The date's attempt ended before its job did, and this reading says something new."""

    run: Run
    by: OpenedBy
    reading: Reading


class StartAgain(msgspec.Struct, frozen=True):
    """The run that this reading opened was never started: whoever opened it died on the way."""

    run: Run


class NoteFirst(msgspec.Struct, frozen=True):
    """The first matching reading of a date whose run something else opened."""

    run: Run
    reading: Reading


class NoteLate(msgspec.Struct, frozen=True):
    """The trigger reading changed after completion."""

    run: Run
    reading: Reading


class PostRunReading(msgspec.Struct, frozen=True):
    """A reading that the post-run rules of a run watch."""

    run: Run
    reading: Reading
    rule_key: str


class Exclude(msgspec.Struct, frozen=True):
    """The reading would have opened a run on a day without runs."""

    key: RunKey
    excluded: Excluded
    reading: Reading


class Reject(msgspec.Struct, frozen=True):
    """The reading can't be used."""

    schedule_id: str
    rejection: Rejection
    reading: Reading


class Ignore(msgspec.Struct, frozen=True):
    """It means nothing for this schedule, and this is why."""

    schedule_id: str
    reason: str


Admission = (
    OpenRun | Reopen | StartAgain | NoteFirst | NoteLate | PostRunReading | Exclude | Reject | Ignore
)  # fmt: skip


def admit(
    pipeline: Pipeline, reading: Reading, runs: Mapping[RunKey, Run], now: datetime
) -> list[Admission]:
    """Everything the reading means. `runs` holds those of `run_keys` that exist."""
    found = list(_as_trigger(pipeline, reading, runs, now))
    found += _as_post_run(pipeline, reading, runs, now)
    found += _as_rule_reading(pipeline, reading)
    return found or [Ignore("-", _why_nothing(pipeline, split_key(reading.key)[0]))]


def _why_nothing(pipeline: Pipeline, key: str) -> str:
    if key in rule_keys(pipeline):
        return f"{key} opens nothing: its rules look at it when a run is judged"
    known = sorted({each for one in pipeline.schedules for each in used_keys(pipeline, one)})
    return f"no rule uses {key}; rules use {', '.join(known)}"


def run_keys(pipeline: Pipeline, reading: Reading) -> frozenset[RunKey]:
    """The runs that `admit` must see to decide."""
    used = {rule.key for rule in _post_run_rules(pipeline)}
    keys = set()
    for schedule in pipeline.schedules:
        if split_key(reading.key)[0] in used | _trigger_keys(schedule):
            label = _label(schedule, reading)
            if isinstance(label, Label):
                keys.add(RunKey(pipeline.id, schedule.id, str(label), dry=pipeline.dry_run))
    return frozenset(keys)


def rule_keys(pipeline: Pipeline) -> frozenset[str]:
    """The sensor keys that the rules of an open run use."""
    return frozenset(rule.key for rule in pipeline.validation.rules)


def used_keys(pipeline: Pipeline, schedule: Schedule) -> frozenset[str]:
    """Every sensor key that a date of this schedule uses: trigger, rules and post-run rules."""
    return (
        rule_keys(pipeline) | _trigger_keys(schedule) | {r.key for r in _post_run_rules(pipeline)}
    )


def passes(schedule: Schedule, reading: Reading, now: datetime) -> bool:
    """Whether a reading satisfies the trigger of a schedule that has one."""
    return schedule.trigger is not None and judge_one(schedule.trigger.rule, reading, now).passed


def has_changed(run: Run, reading: Reading, key: str) -> bool:
    """Whether a reading says something else than the one the run's job was started on."""
    seen = run.evidence.get(key)
    return seen is None or seen.version != reading.version


def _as_trigger(
    pipeline: Pipeline, reading: Reading, runs: Mapping[RunKey, Run], now: datetime
) -> Iterator[Admission]:
    base, _ = split_key(reading.key)
    for schedule in pipeline.schedules:
        if base not in _trigger_keys(schedule):
            continue
        label = _label(schedule, reading)
        if isinstance(label, Rejection):
            yield Reject(schedule.id, label, reading)
            continue
        key = RunKey(pipeline.id, schedule.id, str(label), dry=pipeline.dry_run)
        yield _decide(pipeline, schedule, label, key, reading, runs.get(key), now)


def _decide(
    pipeline: Pipeline,
    schedule: Schedule,
    label: Label,
    key: RunKey,
    reading: Reading,
    run: Run | None,
    now: datetime,
) -> Admission:
    if run is not None and run.status is Status.COMPLETED:
        return _after_completion(pipeline, schedule, run, reading)
    if not passes(schedule, reading, now):
        return Ignore(schedule.id, "the trigger does not pass")
    if run is not None and run.is_open:
        if run.first_sensor_at is None:
            return NoteFirst(run, reading)
        if run.started_at is None and run.trigger_version == reading.version:
            return StartAgain(run)
        return Ignore(schedule.id, "a run is in progress")
    if run is not None and run.status is Status.FAILED_FINAL:
        return Ignore(schedule.id, "the date is closed; only a rerun opens it")
    if run is not None and run.awaits_retry:
        return Ignore(schedule.id, "a retry is due")
    return _open(pipeline, schedule, label, key, reading, run)


def _open(
    pipeline: Pipeline,
    schedule: Schedule,
    label: Label,
    key: RunKey,
    reading: Reading,
    run: Run | None,
) -> Admission:
    out = excluded(schedule, pipeline.calendars, label.day)
    if out is not None:
        return Exclude(key, out, reading)
    closing = closes_at(schedule, label)
    if closing is not None and reading.received_at >= closing:
        return Ignore(schedule.id, "the trigger deadline has passed; only a rerun opens it")
    trigger = schedule.trigger
    by = OpenedBy.CASCADE if trigger and trigger.pipeline else OpenedBy.SENSOR
    if run is None:
        return OpenRun(key, by, reading)
    if run.trigger_version == reading.version:
        return Ignore(schedule.id, "the reading says nothing new since the attempt failed")
    return Reopen(run, by, reading)


def _after_completion(
    pipeline: Pipeline, schedule: Schedule, run: Run, reading: Reading
) -> Admission:
    base, _ = split_key(reading.key)
    if any(rule.key == base for rule in _post_run_rules(pipeline)):
        return Ignore(schedule.id, "a post-run rule watches this key; drift decides")
    if not has_changed(run, reading, base):
        return Ignore(schedule.id, "the job has seen this reading")
    return NoteLate(run, reading)


def _as_post_run(
    pipeline: Pipeline, reading: Reading, runs: Mapping[RunKey, Run], now: datetime
) -> Iterator[Admission]:
    base, _ = split_key(reading.key)
    if all(rule.key != base for rule in _post_run_rules(pipeline)):
        return
    for schedule in pipeline.schedules:
        label = _label(schedule, reading)
        if isinstance(label, Rejection):
            if base not in _trigger_keys(schedule):  # else it has been rejected already
                yield Reject(schedule.id, label, reading)
            continue
        key = RunKey(pipeline.id, schedule.id, str(label), dry=pipeline.dry_run)
        yield _judge_after(pipeline, schedule, runs.get(key), reading, base, now)


def _as_rule_reading(pipeline: Pipeline, reading: Reading) -> Iterator[Admission]:
    """A reading that only rules use opens nothing; but one that can't be used is not passed over."""
    base, _ = split_key(reading.key)
    used = {rule.key for rule in _post_run_rules(pipeline)}
    if base in used or base not in rule_keys(pipeline):
        return
    for schedule in pipeline.schedules:
        label = _label(schedule, reading)
        if isinstance(label, Rejection) and base not in _trigger_keys(schedule):
            yield Reject(schedule.id, label, reading)


def _judge_after(
    pipeline: Pipeline,
    schedule: Schedule,
    run: Run | None,
    reading: Reading,
    base: str,
    now: datetime,
) -> Admission:
    assert pipeline.post_run is not None
    if run is None or run.status not in (Status.RUNNING, Status.COMPLETED):
        return Ignore(schedule.id, "no job of that date is running or done")
    window = duration.parse(pipeline.post_run.evaluation.window)
    if run.completed_at is not None and now > run.completed_at + window:
        return Ignore(schedule.id, "the post-run window is over")
    return PostRunReading(run, reading, base)


def _label(schedule: Schedule, reading: Reading) -> Label | Rejection:
    """The date a reading speaks of to this schedule. `hours: all` waits for the whole day."""
    where: ZoneInfo = zone(schedule.timezone)
    _, period = split_key(reading.key)
    return reading_label(reading.fields, where, reading.received_at, period)


def _trigger_keys(schedule: Schedule) -> set[str]:
    return set() if schedule.trigger is None else {schedule.trigger.rule.key}


def _post_run_rules(pipeline: Pipeline) -> Iterable[Rule]:
    return () if pipeline.post_run is None else pipeline.post_run.rules
