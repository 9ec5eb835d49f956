"""Admission: what a reading means for a pipeline.

`admit` returns everything that a reading leads to or, when that is nothing, why. The ordinary path and the
watchdog's reconciliation both use it: one function decides, wherever the reading was noticed.
"""

from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta

import msgspec

from interlock.domain.calendars import Excluded, excluded
from interlock.domain.deadline import closes_at
from interlock.domain.horizon import last_believed
from interlock.domain.partition import Grain, Label, label_at, shifted, starts_at
from interlock.domain.pipeline import Pipeline, Schedule
from interlock.domain.post_run import is_measured, post_run_keys, post_run_window
from interlock.domain.rules import judge_one
from interlock.domain.run import OpenedBy, Run, RunKey, Status
from interlock.domain.sensor import RESERVED, Reading, Rejection, carried_label, split_key
from interlock.domain.standing import Standing
from interlock.domain.zones import zone

_NONE: Mapping[str, Standing] = {}


class OpenRun(msgspec.Struct, frozen=True):
    """The date has no run, and this reading opens it."""

    key: RunKey
    by: OpenedBy
    reading: Reading


class Reopen(msgspec.Struct, frozen=True):
    """The date's attempt ended before its job did, and this reading is new."""

    run: Run
    by: OpenedBy
    reading: Reading


class ReopenWhenReady(msgspec.Struct, frozen=True):
    """The date's window closed before its rules held, and this reading may be the missing one: if the rules
    hold on what arrived `until` then.
    """

    run: Run
    reading: Reading
    until: datetime


class StartAgain(msgspec.Struct, frozen=True):
    """The run that this reading opened was never started: the process that opened it crashed."""

    run: Run


class NoteFirst(msgspec.Struct, frozen=True):
    """The first matching reading of a date whose run something else opened."""

    run: Run
    reading: Reading


class NoteLate(msgspec.Struct, frozen=True):
    """The trigger reading changed after completion."""

    run: Run
    reading: Reading


class NoteRepeat(msgspec.Struct, frozen=True):
    """An edited schedule reaches the date again, but it ran before the edit."""

    run: Run
    reading: Reading


class PostRunReading(msgspec.Struct, frozen=True):
    """A reading that the post-run rules of a run watch."""

    run: Run
    reading: Reading
    rule_key: str


class Exclude(msgspec.Struct, frozen=True):
    """The reading would have opened a run on an excluded day."""

    key: RunKey
    excluded: Excluded
    reading: Reading


class Reject(msgspec.Struct, frozen=True):
    """The reading can't be used."""

    schedule_id: str
    rejection: Rejection
    reading: Reading


class Ignore(msgspec.Struct, frozen=True):
    """It opens nothing for this schedule, and this is why."""

    schedule_id: str
    reason: str
    #: Whether an open run judges it nevertheless.
    used: bool = False


#: Why a reading has no effect on a date whose row is unreadable, or has only the outcome.
UNREADABLE = "the stored row of that date can't be read; `interlock doctor` names it"
BARE = "the date is done, but its row does not say what its job saw; only a rerun opens it"
#: Why a reading has no effect on a date whose outcome a person stated.
MARKED = "the date is {mark}; only a rerun opens it"
#: Why a reading has no effect on a schedule that was edited since.
BEFORE = "it arrived before the schedule's present form was in force; only later readings count"

Admission = (
    OpenRun | Reopen | ReopenWhenReady | StartAgain | NoteFirst | NoteLate | NoteRepeat
    | PostRunReading | Exclude | Reject | Ignore
)  # fmt: skip


class _Case(msgspec.Struct, frozen=True):
    """A reading as one schedule sees it, and the runs that it may affect."""

    pipeline: Pipeline
    schedule: Schedule
    reading: Reading
    runs: Mapping[RunKey, Run]
    now: datetime
    standing: Standing | None

    @property
    def base(self) -> str:
        return split_key(self.reading.key)[0]

    def ignored(self, reason: str) -> Ignore:
        return Ignore(self.schedule.id, reason)


def admit(
    pipeline: Pipeline,
    reading: Reading,
    runs: Mapping[RunKey, Run],
    now: datetime,
    standings: Mapping[str, Standing] = _NONE,
) -> list[Admission]:
    """Everything the reading means. `runs` holds those of `run_keys` that exist and, for a reading
    without a date, those that failed since `reopens_since`; `standings` are those of edited schedules.
    """
    cases = [
        _Case(pipeline, schedule, reading, runs, now, standings.get(schedule.id))
        for schedule in pipeline.schedules
    ]
    found = [admission for case in cases for admission in _admissions(case)]
    return found or [Ignore("-", _why_nothing(pipeline, split_key(reading.key)[0]))]


def run_keys(pipeline: Pipeline, reading: Reading) -> frozenset[RunKey]:
    """The runs that `admit` must see to decide."""
    base, _ = split_key(reading.key)
    return frozenset(
        RunKey(pipeline.id, schedule.id, str(label), dry=pipeline.dry_run)
        for schedule in pipeline.schedules
        if base in used_keys(pipeline, schedule)
        for label in _labels(pipeline, schedule, reading)
    )


def reopens_since(pipeline: Pipeline, schedule: Schedule, reading: Reading) -> str | None:
    """For a reading that serves more dates than it names: the first date whose run, with a closed window,
    may be waiting for it. None for a reading that affects no such run.
    """
    base, _ = split_key(reading.key)
    if base not in reopening_keys(pipeline, schedule):
        return None
    if _named(pipeline, schedule, reading) is not None:
        return None
    return str(Label(_day_of(schedule, reading).day - schedule.offset * _DAY))


def rule_keys(pipeline: Pipeline) -> frozenset[str]:
    """The sensor keys that the rules of an open run use, also to compare with."""
    return frozenset(key for rule in pipeline.validation.every_rule for key in rule.keys)


def trigger_keys(schedule: Schedule) -> frozenset[str]:
    return frozenset() if schedule.trigger is None else frozenset({schedule.trigger.rule.key})


def judged_keys(pipeline: Pipeline, schedule: Schedule) -> frozenset[str]:
    """The keys that an evaluation reads: those of the rules, and the trigger's."""
    return rule_keys(pipeline) | trigger_keys(schedule)


def reopening_keys(pipeline: Pipeline, schedule: Schedule) -> frozenset[str]:
    """The keys whose readings may supply what a closed window was missing."""
    own = trigger_keys(schedule)
    return rule_keys(pipeline) - own | (own if schedule.gate is not None else frozenset())


def used_keys(pipeline: Pipeline, schedule: Schedule) -> frozenset[str]:
    """Every sensor key that a date of this schedule uses: trigger, rules and post-run rules."""
    return judged_keys(pipeline, schedule) | post_run_keys(pipeline)


def passes(schedule: Schedule, reading: Reading, now: datetime) -> bool:
    """Whether a reading satisfies the trigger of a schedule that has one."""
    return schedule.trigger is not None and judge_one(schedule.trigger.rule, reading, now).passed


def has_changed(run: Run, reading: Reading, key: str) -> bool:
    """Whether a reading differs from the one that the run's job was started on."""
    seen = run.evidence.get(key)
    return seen is None or seen.version != reading.version


def window_closed(run: Run) -> bool:
    """Whether the last attempt failed because its rules did not hold in time."""
    return (
        run.status is Status.FAILED and run.failure is not None and run.failure.reason == "window"
    )


def rejection(pipeline: Pipeline, schedule: Schedule, reading: Reading) -> Rejection | None:
    """Why the date that a reading names is not plausible; also None when it names none."""
    named = _named(pipeline, schedule, reading)
    return named if isinstance(named, Rejection) else None


def _admissions(case: _Case) -> Iterator[Admission]:
    if case.base not in used_keys(case.pipeline, case.schedule):
        return
    label = _label(case.pipeline, case.schedule, case.reading)
    if isinstance(label, Rejection):
        yield Reject(case.schedule.id, label, case.reading)
        return
    opening = None
    if case.base in trigger_keys(case.schedule):
        opening = _as_trigger(case, label)
        yield opening
    if not isinstance(opening, Reopen) and case.base in reopening_keys(
        case.pipeline, case.schedule
    ):
        yield from _as_missing_reading(case)
    if not isinstance(opening, NoteLate) and case.base in post_run_keys(case.pipeline):
        yield _as_post_run(case, label)


def _why_nothing(pipeline: Pipeline, key: str) -> str:
    if key in rule_keys(pipeline):
        return f"{key} opens nothing: rules use it when a run is judged"
    known = sorted({each for one in pipeline.schedules for each in used_keys(pipeline, one)})
    return f"no rule uses {key}; rules use {', '.join(known)}"


def _as_trigger(case: _Case, label: Label) -> Admission:
    key = _key(case, label)
    run = case.runs.get(key)
    if run is not None and run.status is Status.UNREADABLE:
        return case.ignored(UNREADABLE)
    if run is not None and run.status is Status.SKIPPED:
        return case.ignored(_skipped(run))
    if run is not None and run.status is Status.COMPLETED:
        return _after_completion(case, run)
    if not passes(case.schedule, case.reading, case.now):
        return case.ignored("the trigger does not pass")
    if run is not None and run.is_open:
        return _while_open(case, run)
    if run is not None and run.status is Status.FAILED_FINAL:
        return case.ignored("the date is closed; only a rerun opens it")
    if run is not None and run.awaits_retry:
        return case.ignored("a retry is due")
    return _open(case, label, key, run)


def _skipped(run: Run) -> str:
    """Why a reading opens nothing on a date that need not run."""
    return f"the date is {run.skip or 'skipped'}; `interlock unskip` undoes that"


def _while_open(case: _Case, run: Run) -> Admission:
    if run.first_sensor_at is None:
        return NoteFirst(run, case.reading)
    if run.started_at is None and run.trigger_version == case.reading.version:
        return StartAgain(run)
    if run.trigger_version == case.reading.version:
        return case.ignored("it repeats the reading that opened the run in progress")
    if run.status is Status.PENDING and case.base in rule_keys(case.pipeline):
        return Ignore(case.schedule.id, "judged by the run that waits for its rules", used=True)
    return case.ignored("a run is in progress")


def _open(case: _Case, label: Label, key: RunKey, run: Run | None) -> Admission:
    schedule, reading = case.schedule, case.reading
    if case.standing is not None and not case.standing.opens(reading.received_at):
        return case.ignored(BEFORE)
    out = excluded(schedule, case.pipeline.calendars, label.day)
    if out is not None:
        return Exclude(key, out, reading)
    closing = closes_at(schedule, label)
    if closing is not None and reading.received_at >= closing:
        return case.ignored("the trigger deadline has passed; only a rerun opens it")
    if run is None and schedule.gate is not None:
        return case.ignored("the cron opens the date; the trigger must hold by then")
    trigger = schedule.trigger
    by = OpenedBy.CASCADE if trigger and trigger.pipeline else OpenedBy.SENSOR
    if run is None:
        return OpenRun(key, by, reading)
    if run.trigger_version == reading.version:
        return case.ignored("the reading has not changed since the attempt failed")
    return Reopen(run, by, reading)


def _after_completion(case: _Case, run: Run) -> Admission:
    if run.mark is not None:
        return case.ignored(MARKED.format(mark=run.mark))
    if run.is_bare or not run.evidence:
        return case.ignored(BARE)
    if _drift_decides(case, run):
        return case.ignored("a post-run rule watches this key; drift decides")
    if not has_changed(run, case.reading, case.base):
        return case.ignored("the job has already seen this reading")
    if case.standing is not None and _ran_before_the_edit(case, run, case.standing):
        before = not case.standing.opens(case.reading.received_at)
        return case.ignored(BEFORE) if before else NoteRepeat(run, case.reading)
    return NoteLate(run, case.reading)


def _ran_before_the_edit(case: _Case, run: Run, standing: Standing) -> bool:
    """Whether only the edit of the schedule makes this a reading of the date: its job did not use the key,
    or the reading now falls on another day.
    """
    if run.opened_at >= standing.since:
        return False
    undated = _named(case.pipeline, case.schedule, case.reading) is None
    return undated or case.base not in run.evidence


def _drift_decides(case: _Case, run: Run) -> bool:
    """A post-run rule that can measure a change decides about it while its window is open."""
    seen, post_run = run.evidence.get(case.base), case.pipeline.post_run
    if post_run is None or seen is None or _is_over(case, run):
        return False
    return is_measured(post_run, case.base, seen.fields, case.reading.fields)


def _as_missing_reading(case: _Case) -> Iterator[Admission]:
    """The reading may be the one that was missing when the window of a date closed."""
    named = _named(case.pipeline, case.schedule, case.reading)
    for run in {run.key: run for run in case.runs.values()}.values():
        label = Label.parse(run.key.date)
        if not _is_of(run, case) or not window_closed(run):
            continue
        until = _sla_day_ends(case, label)
        if named in (None, label) and case.reading.received_at < until:
            yield ReopenWhenReady(run, case.reading, until)


def _sla_day_ends(case: _Case, label: Label) -> datetime:
    """The end of the day on which the wall-clock deadlines of a date fall."""
    wall = shifted(Label(label.day).wall, (case.schedule.offset + 1) * _DAY)
    return starts_at(Label(wall.date()), zone(case.schedule.timezone))


def _as_post_run(case: _Case, label: Label) -> Admission:
    run = case.runs.get(_key(case, label))
    if not _has_job(run) and _named(case.pipeline, case.schedule, case.reading) is None:
        run = _at_work_that_day(case)
    if run is not None and run.status is Status.UNREADABLE:
        return case.ignored(UNREADABLE)
    if run is None or not _has_job(run):
        return case.ignored("no job of that date is running or done")
    if run.is_bare:
        return case.ignored(BARE)
    if run.mark is not None:
        return case.ignored(MARKED.format(mark=run.mark))
    if _is_over(case, run):
        return case.ignored("the post-run window is over")
    if case.reading.received_at < run.opened_at and case.base not in run.evidence:
        return case.ignored("it arrived before the attempt was opened")
    return PostRunReading(run, case.reading, case.base)


def _has_job(run: Run | None) -> bool:
    return run is not None and run.status in (Status.RUNNING, Status.COMPLETED)


def _at_work_that_day(case: _Case) -> Run | None:
    """A reading without a date may also belong to an earlier date, if its job ran on that day."""
    came = case.reading.received_at
    at_work = [
        run
        for run in case.runs.values()
        if _is_of(run, case)
        and _has_job(run)
        and run.launched_at is not None
        and run.launched_at <= came
        and _local_day(case.schedule, run.completed_at or came) >= _local_day(case.schedule, came)
    ]
    return max(at_work, key=lambda run: run.launched_at or came, default=None)


def _is_of(run: Run, case: _Case) -> bool:
    return case.pipeline.present_id(run.key.schedule_id) == case.schedule.id


def _is_over(case: _Case, run: Run) -> bool:
    if case.pipeline.post_run is None or run.completed_at is None:
        return False
    return case.reading.received_at > run.completed_at + post_run_window(case.pipeline.post_run)


def _key(case: _Case, label: Label) -> RunKey:
    return RunKey(case.pipeline.id, case.schedule.id, str(label), dry=case.pipeline.dry_run)


def _labels(pipeline: Pipeline, schedule: Schedule, reading: Reading) -> Iterator[Label]:
    """The date that it names. A reading without one belongs to its day, or to a day that was due then."""
    named = _named(pipeline, schedule, reading)
    if isinstance(named, Label):
        yield named
    elif named is None:
        today = _day_of(schedule, reading).day
        watched = split_key(reading.key)[0] in post_run_keys(pipeline)
        back = max(schedule.offset, 1) if watched else 0  # a job may run over midnight
        yield from (Label(today - n * _DAY) for n in range(back + 1))


def _label(pipeline: Pipeline, schedule: Schedule, reading: Reading) -> Label | Rejection:
    """The date that a reading has for this schedule. `hours: all` waits for the whole day."""
    return _named(pipeline, schedule, reading) or _day_of(schedule, reading)


def _named(pipeline: Pipeline, schedule: Schedule, reading: Reading) -> Label | Rejection | None:
    """The date that a reading names, if it is plausible; None when it names none."""
    if reading.key.startswith(RESERVED) and not reading.own:
        return Rejection("key_reserved", "key", reading.key, f"a key without {RESERVED}")
    _, period = split_key(reading.key)
    at = reading.received_at
    label = carried_label(reading.fields, zone(schedule.timezone), at, period)
    if not isinstance(label, Label):
        return label
    last = last_believed(schedule, pipeline.calendars, label, at)
    if last is None:
        return label
    return Rejection(
        "date_beyond_horizon",
        "date",
        str(label),
        f"a date up to {last}; raise schedule.horizon to allow later ones",
    )


def _day_of(schedule: Schedule, reading: Reading) -> Label:
    return Label(_local_day(schedule, reading.received_at))


def _local_day(schedule: Schedule, moment: datetime) -> date:
    return label_at(moment, zone(schedule.timezone), Grain.DAY).day


_DAY = timedelta(days=1)
