"""Guards: the watchdog's checks, each a pure function of a snapshot and now.

They look for what did not happen. A guard says what is to be done about it; it stores, publishes and
asks nothing. What can still be done properly is done; only what can't is reported as missed.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from interlock.domain import duration
from interlock.domain.admission import Admission, Ignore, judged_keys
from interlock.domain.deadline import Deadlines
from interlock.domain.due_dates import closing_dates, sla_dates
from interlock.domain.opening import instants
from interlock.domain.partition import Grain, Label, hours_of, instant_of
from interlock.domain.pipeline import Pipeline, Schedule
from interlock.domain.run import LEASE_MARGIN, DeadlineKind, Run, RunKey, Status
from interlock.domain.schedule import Watched, covers, sensor_driven, watched_dates
from interlock.domain.sensor import Reading
from interlock.domain.sla import BREACHES, WARNINGS, SlaWatch, was_ready
from interlock.domain.standing import Standing
from interlock.domain.watching import FINISH_GRACE, LOOK_GRACE
from interlock.domain.zones import zone

UNSTARTED = timedelta(minutes=2)
RETRY_MARGIN = timedelta(minutes=2)
SUSPICION = timedelta(minutes=2)
TIMER_MARGIN = timedelta(seconds=90)
LEASE_EXTENSION = timedelta(minutes=30)
ARM_AHEAD = timedelta(minutes=75)
_DAY = timedelta(days=1)


class EngineState(StrEnum):
    """What the engine says about an execution."""

    RUNNING = "running"
    ENDED = "ended"
    ABSENT = "absent"


class Expected(msgspec.Struct, frozen=True):
    """A date on which a run is expected, and when."""

    date: str
    due_at: datetime


class DateDeadline(msgspec.Struct, frozen=True):
    """The moments of a date's deadline."""

    date: str
    instants: dict[DeadlineKind, datetime]


class Needs(msgspec.Struct, frozen=True):
    """The dates of a schedule that must be looked at, by what may be wrong with them."""

    expected: tuple[Expected, ...]
    closing: dict[str, datetime]
    deadlines: tuple[DateDeadline, ...]

    @property
    def dates(self) -> set[str]:
        found = {each.date for each in self.expected} | set(self.closing)
        return found | {each.date for each in self.deadlines}


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """One schedule of one pipeline, as the watchdog finds it."""

    pipeline: Pipeline
    schedule: Schedule
    since: datetime
    needs: Needs
    due: tuple[Run, ...] = ()
    runs: Mapping[str, Run] = {}
    readings: tuple[tuple[Reading, tuple[Admission, ...]], ...] = ()
    watches: Mapping[str, SlaWatch] = {}
    engine: Mapping[str, EngineState] = {}
    succeeded: frozenset[str] = frozenset()
    seen_after: Mapping[str, frozenset[str]] = {}
    suspects: Mapping[str, datetime] = {}
    last_ok_at: datetime | None = None
    down: tuple[datetime, datetime] | None = None
    not_watched: datetime | None = None
    paused: bool = False

    def key(self, date: str) -> RunKey:
        return RunKey(self.pipeline.id, self.schedule.id, date, dry=self.pipeline.dry_run)


class Restart(msgspec.Struct, frozen=True):
    """Nobody started this attempt."""

    run: Run


class NoteStarted(msgspec.Struct, frozen=True):
    """The engine has it after all."""

    run: Run


class Finish(msgspec.Struct, frozen=True):
    """The job succeeded, and nobody completed the run, or did what follows from its completion."""

    run: Run


class Resume(msgspec.Struct, frozen=True):
    """The execution is over and its attempt is not: its job may be running, or its time ran out while the
    controller was away. Another execution goes on with the attempt.
    """

    run: Run
    engine: EngineState


class GiveUp(msgspec.Struct, frozen=True):
    """The execution is over and launched nothing: the attempt failed, and not by its own fault."""

    run: Run


class TimeOut(msgspec.Struct, frozen=True):
    """The attempt has used up its time, and its execution is over."""

    run: Run
    engine: EngineState


class ExtendLease(msgspec.Struct, frozen=True):
    """It is slow, not dead. Its time may have run out `unwatched`: then it gets its whole time again."""

    run: Run
    unwatched: bool = False


class RetryNow(msgspec.Struct, frozen=True):
    """A retry's timer never came."""

    run: Run


class Admit(msgspec.Struct, frozen=True):
    """A reading is there, and what it should have caused is not."""

    reading: Reading
    admission: Admission


class Suspect(msgspec.Struct, frozen=True):
    """Something seems to be missing; it may be on its way this very second."""

    name: str


class FireLate(msgspec.Struct, frozen=True):
    """A cron moment had no run, and it is not too late."""

    key: RunKey
    due_at: datetime


class Missed(msgspec.Struct, frozen=True):
    """An expected date had no run, and it is too late to make up for it."""

    key: RunKey
    due_at: datetime
    cause: str
    not_watched: datetime | None = None


class Close(msgspec.Struct, frozen=True):
    """The trigger deadline passed with no run."""

    key: RunKey
    deadline_at: datetime


class ArmDeadline(msgspec.Struct, frozen=True):
    """A deadline's timer is not there."""

    key: RunKey


class JudgeDeadline(msgspec.Struct, frozen=True):
    """A deadline's moment has passed untold."""

    key: RunKey
    kind: DeadlineKind


class PostRunMissing(msgspec.Struct, frozen=True):
    """The time for post-run readings is over; these never came."""

    run: Run
    missing: tuple[str, ...]


class LookAgain(msgspec.Struct, frozen=True):
    """The timer that judges the post-run rules again never came."""

    run: Run


Finding = (
    Restart | NoteStarted | Finish | Resume | GiveUp | TimeOut | ExtendLease | RetryNow | Admit
    | Suspect | FireLate | Missed | Close | ArmDeadline | JudgeDeadline | PostRunMissing | LookAgain
)  # fmt: skip


def needs(
    pipeline: Pipeline, schedule: Schedule, since: datetime, standing: Standing, now: datetime
) -> Needs:
    """What must be read of a schedule to check it from `since` to now."""
    return Needs(
        tuple(_expected(pipeline, schedule, since, standing, now)),
        dict(_closing(pipeline, schedule, since, standing, now)),
        tuple(_deadlines(pipeline, schedule, since, standing, now)),
    )


def may_have_come(needs: Needs, schedule: Schedule, now: datetime) -> bool:
    """Whether a date is about to be closed or reported, so that a reading of it must be looked for first."""
    return bool(needs.closing) or any(now >= missed_at(schedule, each) for each in needs.expected)


def stand_ins(schedule: Schedule, date: str) -> list[str]:
    """The dates whose runs cover one that has none: the hours of a day that only readings open."""
    label = Label.parse(date)
    if not sensor_driven(schedule) or label.grain is not Grain.DAY:
        return []
    return [str(hour) for hour in hours_of(label.day, zone(schedule.timezone))]


def stale_triggers(seen: Snapshot, now: datetime) -> Iterator[Finding]:
    """An attempt was never started, broke off, ended half done, or its retry never came."""
    for run in seen.due:
        engine = seen.engine.get(run.execution_name)
        if run.awaits_retry:
            if run.retry_at is not None and now >= run.retry_at + RETRY_MARGIN and not seen.paused:
                yield RetryNow(run)
        elif run.is_unfinished:
            if now >= run.changed_at + FINISH_GRACE:
                yield Finish(run)
        elif run.is_open and engine is not None:
            succeeded = run.key.date in seen.succeeded
            yield from stale_attempt(run, engine, succeeded, now, _ran_out_unwatched(run, seen))


def wants_engine(run: Run, attended: bool, now: datetime) -> bool:
    """Whether the engine must be asked about a run before anything is said of it. One that was opened just
    now may be started this very second; one that is attended has an execution that is listed as running.
    """
    if not run.is_open:
        return False
    if _is_unstarted(run):
        return now >= (run.handed_over_at or run.opened_at) + UNSTARTED
    return not attended or now > run.lease_until


def _ran_out_unwatched(run: Run, seen: Snapshot) -> bool:
    """Whether the time of an attempt was over while no pass was made: then it had less than its time."""
    return seen.down is not None and seen.down[0] <= run.lease_until < seen.down[1]


def stale_attempt(
    run: Run, engine: EngineState, succeeded: bool, now: datetime, unwatched: bool = False
) -> Iterator[Finding]:
    """What is to be done about an open run, by what the engine says of its execution. One that has used up
    its time before its rules held did not break off; one whose time ran out unwatched gets its time.
    """
    overdue = now > run.lease_until
    waited = run.status is Status.PENDING and now >= run.lease_until - LEASE_MARGIN
    if engine is EngineState.RUNNING:
        if overdue:
            yield ExtendLease(run, unwatched)
        elif _is_unstarted(run):
            yield NoteStarted(run)
    elif _is_unstarted(run) and engine is EngineState.ABSENT:
        yield Restart(run)
    elif succeeded:
        yield Finish(run)
    elif unwatched:
        yield Resume(run, engine)
    elif overdue or waited:
        yield TimeOut(run, engine)
    elif run.executions > 1 and engine is EngineState.ABSENT:
        yield Resume(
            run, engine
        )  # the run has the name of a further execution, which never started
    elif run.status is Status.PENDING:
        yield GiveUp(run)
    else:
        yield Resume(run, engine)


def sensor_trigger_reconciliation(seen: Snapshot, now: datetime) -> Iterator[Finding]:
    """A reading is there, and what it should have caused is not."""
    if seen.paused:
        return
    for reading, admissions in seen.readings:
        for admission in admissions:
            if isinstance(admission, Ignore):
                continue
            name = suspicion(seen.schedule, reading)
            first = seen.suspects.get(name)
            if first is None or now - first < SUSPICION:
                yield Suspect(name)
            else:
                yield Admit(reading, admission)


def suspicion(schedule: Schedule, reading: Reading) -> str:
    """The name under which a doubt about a reading is kept."""
    return f"{reading.pipeline_id}/{schedule.id}/{reading.key}/{reading.version}"


def missed_schedules(seen: Snapshot, now: datetime) -> Iterator[Finding]:
    """A cron moment had no run: fired late while that makes sense, else reported."""
    if seen.schedule.cron is not None:
        yield from _missed(seen, now)


def missed_inclusion_schedules(seen: Snapshot, now: datetime) -> Iterator[Finding]:
    """A listed date had no run."""
    if seen.schedule.include is not None:
        yield from _missed(seen, now)


def trigger_deadlines(seen: Snapshot, now: datetime) -> Iterator[Finding]:
    """The trigger deadline passed with no run."""
    if seen.paused:
        return
    for date, deadline_at in seen.needs.closing.items():
        if date in seen.runs or covers(seen.runs, date) or _is_pruned(seen, date):
            continue
        if any(_in_time(seen, date, deadline_at)):
            continue
        yield Close(seen.key(date), deadline_at)


def sla_scheduling(seen: Snapshot, now: datetime) -> Iterator[Finding]:
    """Deadlines hold even if nothing ever starts."""
    for each in seen.needs.deadlines:
        run, watch = seen.runs.get(each.date), seen.watches.get(each.date)
        if run is None and (covers(seen.runs, each.date) or _is_pruned(seen, each.date)):
            continue
        due = _undecided(each, run, watch)
        told = run.sla_told if run is not None else watch.told if watch is not None else ()
        armed = run.sla_armed if run is not None else watch.armed if watch is not None else {}
        findings = _deadline_findings(seen.key(each.date), due, told, armed, now)
        yield from (each for each in findings if not _is_vain(each, run))


def relative_sla_breaches(seen: Snapshot, now: datetime) -> Iterator[Finding]:
    """A relative moment of a run has passed untold."""
    for run in seen.due:
        if run.sla_verdict is not None or run.key.dry:
            continue
        due = instants(run)
        for kind in (DeadlineKind.RELATIVE_BREACH, DeadlineKind.RELATIVE_WARNING):
            finding = JudgeDeadline(run.key, kind)
            passed = kind in due and due[kind] <= now and kind not in run.sla_told
            if passed and not _is_vain(finding, run):
                yield finding


def post_run_sensors(seen: Snapshot, now: datetime) -> Iterator[Finding]:
    """The time for post-run readings is over, or for another look at those that came."""
    if seen.pipeline.post_run is None:
        return
    for run in seen.due:
        over = run.post_run_due_at is not None and now >= run.post_run_due_at
        if run.status is Status.COMPLETED and over and not run.post_run.missing_judged:
            inputs = judged_keys(seen.pipeline, seen.schedule)
            keys = dict.fromkeys(rule.key for rule in seen.pipeline.post_run.rules)
            there = inputs | seen.seen_after.get(run.key.date, frozenset())
            yield PostRunMissing(run, tuple(key for key in keys if key not in there))
        look_at = run.post_run_look_at
        if run.status is Status.COMPLETED and look_at and now >= look_at + LOOK_GRACE:
            yield LookAgain(run)


Guard = Callable[[Snapshot, datetime], Iterable[Finding]]

#: In this order: repairs first, so that a date repaired in a pass is not reported as missed in it.
GUARDS: dict[str, Guard] = {
    "stale-triggers": stale_triggers,
    "sensor-trigger-reconciliation": sensor_trigger_reconciliation,
    "missed-schedules": missed_schedules,
    "missed-inclusion-schedules": missed_inclusion_schedules,
    "trigger-deadlines": trigger_deadlines,
    "sla-scheduling": sla_scheduling,
    "relative-sla-breaches": relative_sla_breaches,
    "post-run-sensors": post_run_sensors,
}


def _is_unstarted(run: Run) -> bool:
    return run.status is Status.PENDING and run.started_at is None


def _missed(seen: Snapshot, now: datetime) -> Iterator[Finding]:
    if seen.paused:
        return
    schedule = seen.schedule
    window = duration.parse(schedule.evaluation.window)
    fires = schedule.cron is not None or schedule.trigger is None
    for each in seen.needs.expected:
        if each.date in seen.runs or _is_pruned(seen, each.date):
            continue
        age = now - each.due_at
        if fires and age <= TIMER_MARGIN:
            continue  # the timer may still come
        if fires and age <= window:
            yield FireLate(seen.key(each.date), each.due_at)
        elif now >= missed_at(schedule, each) and not _is_suspect(seen, each.date):
            cause = _cause(seen, each, window)
            yield Missed(seen.key(each.date), each.due_at, cause, seen.not_watched)


def _is_pruned(seen: Snapshot, date: str) -> bool:
    """Whether the date is over, and its run was taken away by hand."""
    watch = seen.watches.get(date)
    return watch is not None and watch.pruned_at is not None


def unsettled(seen: Snapshot, ahead: Collection[str], now: datetime) -> Iterator[Finding]:
    """What to do about the moments behind an edit, which nobody will look at again. A date that the new
    file has ahead is its own; in a pause nothing opens.
    """
    schedule = seen.schedule
    window = duration.parse(schedule.evaluation.window)
    fires = schedule.cron is not None or schedule.trigger is None
    for each in seen.needs.expected:
        done = each.date in seen.runs or _is_pruned(seen, each.date)
        if done or each.date in ahead or _is_suspect(seen, each.date):
            continue
        if fires and now - each.due_at <= window and not seen.paused:
            yield FireLate(seen.key(each.date), each.due_at)
        else:
            cause = "paused" if seen.paused else _cause(seen, each, window)
            yield Missed(seen.key(each.date), each.due_at, cause, seen.not_watched)


def missed_at(schedule: Schedule, expected: Expected) -> datetime:
    """From when on a date without a run counts as missed."""
    over = expected.due_at + duration.parse(schedule.grace)
    if schedule.time is None:
        return over
    label = Label.parse(expected.date)
    hour, minute = map(int, schedule.time.split(":"))
    wall = Label(label.day, hour, minute).wall + schedule.offset * _DAY
    return max(over, instant_of(wall, zone(schedule.timezone)))


def _cause(seen: Snapshot, expected: Expected, window: timedelta) -> str:
    """Nobody was there to fire it while there was time, or somebody was and did not."""
    due_at = expected.due_at
    down = seen.last_ok_at is None or seen.last_ok_at < due_at
    if seen.down is not None and seen.down[0] < due_at and due_at + window < seen.down[1]:
        down = True  # it is reported only now, and the controller has been back for a while
    return "controller-down" if down else "not-fired"


def _is_suspect(seen: Snapshot, date: str) -> bool:
    return any(
        getattr(admission, "key", None) == seen.key(date)
        for _, admissions in seen.readings
        for admission in admissions
    )


def _in_time(seen: Snapshot, date: str, deadline_at: datetime) -> Iterator[bool]:
    """Whether a passing reading of the date is known to be older than the deadline."""
    for reading, admissions in seen.readings:
        for admission in admissions:
            if getattr(admission, "key", None) == seen.key(date):
                yield reading.received_at < deadline_at


def _deadline_findings(
    key: RunKey,
    due: Mapping[DeadlineKind, datetime],
    told: tuple[DeadlineKind, ...],
    armed: Mapping[DeadlineKind, datetime],
    now: datetime,
) -> Iterator[Finding]:
    if any(at > now and armed.get(kind) != at for kind, at in due.items() if kind not in told):
        yield ArmDeadline(key)
    passed = [kind for kind, at in due.items() if at <= now and kind not in told]
    for kind in sorted(passed, key=lambda kind: kind not in BREACHES):
        yield JudgeDeadline(key, kind)


def _undecided(
    each: DateDeadline, run: Run | None, watch: SlaWatch | None
) -> dict[DeadlineKind, datetime]:
    """The moments of a date that its SLA verdict, or rules that held in time, have not made idle."""
    due = instants(run) if run is not None else each.instants
    verdict = run.sla_verdict if run is not None else watch.verdict if watch is not None else None
    return {
        kind: at
        for kind, at in due.items()
        if (not was_ready(run, at) if kind is DeadlineKind.READINESS else verdict is None)
    }


def _is_vain(finding: Finding, run: Run | None) -> bool:
    """A run that failed for good gets no warning; it is judged again at its breach."""
    if not isinstance(finding, JudgeDeadline) or finding.kind not in WARNINGS:
        return False
    return run is not None and run.has_given_up


def _expected(
    pipeline: Pipeline, schedule: Schedule, since: datetime, standing: Standing, now: datetime
) -> Iterator[Expected]:
    if schedule.cron is None and schedule.include is None:
        return
    margin = max(duration.parse(schedule.grace), duration.parse(schedule.evaluation.window))
    if schedule.time is not None:
        margin = max(margin, _DAY * (1 + schedule.offset))
    for each in watched_dates(schedule, pipeline.calendars, since - margin, now):
        if each.due_at is not None and standing.since <= each.due_at:
            yield Expected(each.date, each.due_at)


def _closing(
    pipeline: Pipeline, schedule: Schedule, since: datetime, standing: Standing, now: datetime
) -> Iterator[tuple[str, datetime]]:
    for watched, at in closing_dates(schedule, pipeline.calendars, since, now):
        if at >= standing.since and standing.counts(watched.date, _begins_at(watched)):
            yield watched.date, at


def _deadlines(
    pipeline: Pipeline, schedule: Schedule, since: datetime, standing: Standing, now: datetime
) -> Iterator[DateDeadline]:
    if pipeline.sla is None or pipeline.dry_run:
        return
    until = now + ARM_AHEAD
    for watched, due in sla_dates(schedule, pipeline.sla, pipeline.calendars, since, until):
        if standing.counts(watched.date, _begins_at(watched)):
            yield DateDeadline(watched.date, dict(_moments(due, since, standing)))


def _moments(
    due: Deadlines, since: datetime, standing: Standing
) -> Iterator[tuple[DeadlineKind, datetime]]:
    """Those by the clock that the file has promised ahead. That rules did not hold before anybody looked
    is no news.
    """
    if warning_at := standing.promised(due.warning_at):
        yield DeadlineKind.WARNING, warning_at
    if breach_at := standing.promised(due.breach_at):
        yield DeadlineKind.BREACH, breach_at
    readiness_at = standing.promised(due.readiness_at)
    if readiness_at is not None and readiness_at > since:
        yield DeadlineKind.READINESS, readiness_at


def _begins_at(watched: Watched) -> datetime:
    return watched.starts_at if watched.due_at is None else watched.due_at
