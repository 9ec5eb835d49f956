"""Guards: the watchdog's checks, each a pure function of a snapshot and now.

They look for what did not happen. A guard says what is to be done about it; it stores, publishes and
asks nothing. What can still be done properly is done; only what can't is reported as missed. What each
needs beside the common snapshot, and what acting on its findings means, stands in its row in
`usecases/watchdog_checks.py`.
"""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import msgspec

from interlock.domain import duration
from interlock.domain.admission import Admission, Ignore, judged_keys
from interlock.domain.due_dates import DateDeadline, Expected, Needs, missed_at
from interlock.domain.findings import (
    Admit,
    ArmDeadline,
    Close,
    ExtendLease,
    Finish,
    FireLate,
    GiveUp,
    JudgeDeadline,
    LookAgain,
    Missed,
    NoteStarted,
    PostRunMissing,
    Restart,
    Resume,
    RetryNow,
    Suspect,
    TimeOut,
    WatchdogFinding,
)
from interlock.domain.opening import instants
from interlock.domain.pipeline import Pipeline, Schedule
from interlock.domain.post_run import watched_keys
from interlock.domain.run import LEASE_MARGIN, DeadlineKind, EngineState, Run, RunKey, Status
from interlock.domain.schedule import covers
from interlock.domain.sensor import Reading
from interlock.domain.sla import BREACHES, WARNINGS, SlaWatch, was_ready
from interlock.domain.watching import FINISH_GRACE, LOOK_GRACE

UNSTARTED = timedelta(minutes=2)
RETRY_MARGIN = timedelta(minutes=2)
SUSPICION = timedelta(minutes=2)
TIMER_MARGIN = timedelta(seconds=90)
LEASE_EXTENSION = timedelta(minutes=30)


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
    #: What a check loads for itself alone, by name.
    extra: Mapping[str, Any] = {}

    def key(self, date: str) -> RunKey:
        return RunKey(self.pipeline.id, self.schedule.id, date, dry=self.pipeline.dry_run)


def stale_triggers(seen: Snapshot, now: datetime) -> Iterator[WatchdogFinding]:
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
) -> Iterator[WatchdogFinding]:
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
        yield Resume(run, engine)  # it has the name of a further execution, which never started
    elif run.status is Status.PENDING:
        yield GiveUp(run)
    else:
        yield Resume(run, engine)


def sensor_trigger_reconciliation(seen: Snapshot, now: datetime) -> Iterator[WatchdogFinding]:
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


def missed_schedules(seen: Snapshot, now: datetime) -> Iterator[WatchdogFinding]:
    """A cron moment had no run: fired late while that makes sense, else reported."""
    if seen.schedule.cron is not None:
        yield from _missed(seen, now)


def missed_inclusion_schedules(seen: Snapshot, now: datetime) -> Iterator[WatchdogFinding]:
    """A listed date had no run."""
    if seen.schedule.include is not None:
        yield from _missed(seen, now)


def trigger_deadlines(seen: Snapshot, now: datetime) -> Iterator[WatchdogFinding]:
    """The trigger deadline passed with no run."""
    if seen.paused:
        return
    for date, deadline_at in seen.needs.closing.items():
        if date in seen.runs or _is_covered(seen, date) or _is_pruned(seen, date):
            continue
        if any(_in_time(seen, date, deadline_at)):
            continue
        yield Close(seen.key(date), deadline_at)


def sla_scheduling(seen: Snapshot, now: datetime) -> Iterator[WatchdogFinding]:
    """Deadlines hold even if nothing ever starts."""
    for each in seen.needs.deadlines:
        run, watch = seen.runs.get(each.date), seen.watches.get(each.date)
        if run is not None and run.status is Status.SKIPPED:
            continue
        if run is None and (_is_covered(seen, each.date) or _is_pruned(seen, each.date)):
            continue
        due = _undecided(each, run, watch)
        told = run.sla_told if run is not None else watch.told if watch is not None else ()
        armed = run.sla_armed if run is not None else watch.armed if watch is not None else {}
        findings = _deadline_findings(seen.key(each.date), due, told, armed, now)
        yield from (each for each in findings if not _is_vain(each, run))


def relative_sla_breaches(seen: Snapshot, now: datetime) -> Iterator[WatchdogFinding]:
    """A relative moment of a run has passed untold."""
    for run in seen.due:
        if run.sla_verdict is not None or run.key.dry or run.status is Status.SKIPPED:
            continue
        due = instants(run)
        for kind in (DeadlineKind.RELATIVE_BREACH, DeadlineKind.RELATIVE_WARNING):
            finding = JudgeDeadline(run.key, kind)
            passed = kind in due and due[kind] <= now and kind not in run.sla_told
            if passed and not _is_vain(finding, run):
                yield finding


def post_run_sensors(seen: Snapshot, now: datetime) -> Iterator[WatchdogFinding]:
    """The time for post-run readings is over, or for another look at those that came."""
    if seen.pipeline.post_run is None:
        return
    for run in seen.due:
        over = run.post_run_due_at is not None and now >= run.post_run_due_at
        if run.status is Status.COMPLETED and over and not run.post_run.missing_judged:
            inputs = judged_keys(seen.pipeline, seen.schedule)
            keys = watched_keys(seen.pipeline.post_run)
            there = inputs | seen.seen_after.get(run.key.date, frozenset())
            yield PostRunMissing(run, tuple(key for key in keys if key not in there))
        look_at = run.post_run_look_at
        if run.status is Status.COMPLETED and look_at and now >= look_at + LOOK_GRACE:
            yield LookAgain(run)


def _is_unstarted(run: Run) -> bool:
    return run.status is Status.PENDING and run.started_at is None


def _missed(seen: Snapshot, now: datetime) -> Iterator[WatchdogFinding]:
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


def _is_covered(seen: Snapshot, day: str) -> bool:
    """Whether runs of its hours stand in for a day; an hour that was skipped does not show that it has
    hours.
    """
    return covers((date for date, run in seen.runs.items() if not run.is_placeholder), day)


def _is_pruned(seen: Snapshot, date: str) -> bool:
    """Whether the date is over, and its run was taken away by hand."""
    watch = seen.watches.get(date)
    return watch is not None and watch.pruned_at is not None


def unsettled(seen: Snapshot, ahead: Collection[str], now: datetime) -> Iterator[WatchdogFinding]:
    """What to do about the moments before an edit, which no later pass looks at. A date that is ahead
    in the new file belongs to that file; in a pause nothing opens.
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


def _cause(seen: Snapshot, expected: Expected, window: timedelta) -> str:
    """Whether the controller was down while it could have fired, or was up and did not fire it."""
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
) -> Iterator[WatchdogFinding]:
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


def _is_vain(finding: WatchdogFinding, run: Run | None) -> bool:
    """A run that failed for good gets no warning; it is judged again at its breach."""
    if not isinstance(finding, JudgeDeadline) or finding.kind not in WARNINGS:
        return False
    return run is not None and run.has_given_up
