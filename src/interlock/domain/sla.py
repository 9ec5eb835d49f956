"""SLA: what a deadline's moment means for a date, given the state of its run.

A moment is published only if it still holds when it is recorded, and the verdict is written with it.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from interlock.domain import duration
from interlock.domain.check import Check
from interlock.domain.deadline import SlaVerdict
from interlock.domain.pipeline import Pipeline, Rule
from interlock.domain.reasons import OF_RECEIPT
from interlock.domain.rule_text import explain, obstacle_lines
from interlock.domain.rules import Result
from interlock.domain.run import DeadlineKind, Judgement, RuleRecord, Run, RunKey, Status

WARNINGS = {
    DeadlineKind.WARNING: DeadlineKind.BREACH,
    DeadlineKind.RELATIVE_WARNING: DeadlineKind.RELATIVE_BREACH,
}
BREACHES = frozenset(WARNINGS.values())

#: How long a moment waits for a platform that does not answer about the job, since the first try.
ASK_PATIENCE = timedelta(minutes=5)
#: The time between tries.
ASK_AGAIN = timedelta(seconds=30)
#: The answer of a platform that does not date the end of a job counts for the moment itself if the request
#: is made within this time after it: on AWS a timer may fire up to a minute late.
ASKED_IN_TIME = timedelta(minutes=1)
_TICK = timedelta(microseconds=1)

_WITH_A_JOB = frozenset({Status.TRIGGERING, Status.RUNNING})


class SlaWatch(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The deadline of a date that has no run; a run that opens later takes it over."""

    key: RunKey
    version: int = 1
    warning_at: datetime | None = None
    breach_at: datetime | None = None
    readiness_at: datetime | None = None
    armed: dict[DeadlineKind, datetime] = {}
    told: tuple[DeadlineKind, ...] = ()
    verdict: SlaVerdict | None = None
    #: How many attempts the date had in a pruned run: the next one has a new number, and so its
    #: execution, its job and its events have new names.
    attempts: int = 0
    pruned_at: datetime | None = None
    #: When the skip of a date without a run was undone.
    unskipped_at: datetime | None = None


class DeadlineNotice(msgspec.Struct, frozen=True):
    """A moment to publish, and its verdict."""

    kind: DeadlineKind
    verdict: SlaVerdict | None


def judge_moment(
    kind: DeadlineKind,
    instants: Mapping[DeadlineKind, datetime],
    told: tuple[DeadlineKind, ...],
    verdict: SlaVerdict | None,
    run: Run | None,
    now: datetime,
) -> DeadlineNotice | None:
    """What to publish when a moment has come; None when it is published, moved, or no longer holds."""
    at = instants.get(kind)
    if at is None or now < at or kind in told or (run is not None and _is_skipped(run)):
        return None
    if kind is DeadlineKind.READINESS:
        return None if was_ready(run, at) else DeadlineNotice(kind, None)
    if run is not None and run.status is Status.COMPLETED and (run.completed_at or now) < at:
        return None
    if run is not None and run.status is Status.COMPLETED and kind in WARNINGS:
        return None
    if kind in BREACHES:
        return None if verdict is SlaVerdict.MET else DeadlineNotice(kind, SlaVerdict.BREACHED)
    if verdict is not None or now >= instants.get(WARNINGS[kind], now):
        return None  # the breach has passed too, and says more
    if run is not None and run.has_given_up:
        return None  # its failure was published, and a warning would add nothing
    return DeadlineNotice(kind, None)


def _is_skipped(run: Run) -> bool:
    """A date that need not run has no deadline."""
    return run.status is Status.SKIPPED


def pruned(run: Run, now: datetime) -> SlaWatch:
    """What remains of a pruned run: what was published about its deadline, and which attempts it had."""
    return SlaWatch(
        key=run.key,
        told=run.sla_told,
        verdict=run.sla_verdict,
        attempts=run.attempt + 1,
        pruned_at=now,
    )


class JobSeen(msgspec.Struct, frozen=True):
    """What the platform said about the job of an attempt, and when."""

    attempt: int
    at: datetime
    #: When it succeeded; if the platform does not say when, the time of the request.
    succeeded_at: datetime | None = None
    undated: bool = False
    #: Why its state is unknown.
    problem: str | None = None


class Weight(StrEnum):
    """What becomes of a moment, given the state of its job."""

    TELL = "tell"
    IDLE = "idle"
    WAIT = "wait"


def asks_first(kind: DeadlineKind, run: Run | None) -> bool:
    """Whether to ask the job's platform first: the job may have ended in time, after our last look."""
    return kind is not DeadlineKind.READINESS and run is not None and run.status in _WITH_A_JOB


def weigh(
    kind: DeadlineKind, at: datetime, run: Run, seen: JobSeen | None, now: datetime
) -> Weight:
    """What the state of the job means for a moment that would be published. An unknown state is waited for,
    within bounds; a success that can't be dated before the breach has not met it.
    """
    if not asks_first(kind, run):
        return Weight.TELL
    if seen is None or seen.attempt != run.attempt:
        return Weight.WAIT
    if seen.problem is not None:
        since = run.unasked_since
        return Weight.TELL if since and now - since >= ASK_PATIENCE else Weight.WAIT
    if seen.succeeded_at is None:
        return Weight.TELL
    return Weight.IDLE if kind in WARNINGS or seen.succeeded_at < at else Weight.TELL


def word_of_job(seen: JobSeen, at: datetime) -> str | None:
    """What the job's state adds to the causes of a moment at that instant."""
    if seen.problem is not None:
        return f"the state of its job is unknown: {seen.problem}"
    if seen.succeeded_at is None:
        return None
    later = duration.for_people(seen.succeeded_at - at)
    if seen.undated:
        return f"its job had succeeded when checked {later} later; its platform does not say when"
    return f"its job succeeded {later} later"


def asked_as_of(moment: datetime, now: datetime) -> datetime:
    """The instant that a request about a moment counts for: a request just after the moment counts for the
    moment itself, because no timer fires sooner.
    """
    return moment - _TICK if now - moment <= ASKED_IN_TIME else now


def counted_end(at: datetime, run: Run, breaches: Iterable[datetime]) -> datetime:
    """When a job counts as ended that had ended at a request at that instant: a request just after a breach
    that is not judged yet counts for the breach, whichever process made it. No job ends before its launch.
    """
    if run.sla_verdict is not None:
        return at
    as_of = min((asked_as_of(breach, at) for breach in breaches if breach <= at), default=at)
    return max(as_of, run.launched_at or at)


def was_ready(run: Run | None, at: datetime | None) -> bool:
    """Whether the rules of the date had held before that instant; without an instant, True."""
    if at is None:
        return True
    return run is not None and run.ready_at is not None and run.ready_at < at


def unready_by(
    run: Run | None, pipeline: Pipeline, schedule_id: str, at: datetime, now: datetime
) -> list[str]:
    """Why the rules had not held by an instant, one line per cause."""
    if run is not None and run.ready_at is not None:
        return [f"its rules held {duration.for_people(run.ready_at - at)} later"]
    return blocked_by(run, pipeline, schedule_id, now)


def blocked_by(run: Run | None, pipeline: Pipeline, schedule_id: str, now: datetime) -> list[str]:
    """Why a date is not done, one line per cause."""
    if run is None:
        trigger = pipeline.schedule(schedule_id).trigger
        return [f"no reading of {trigger.rule.key}" if trigger else "no run was opened"]
    if run.status is Status.UNREADABLE:
        return [f"its stored row can't be read: {_cause(run)}"]
    if run.skip is not None and _is_skipped(run):
        return [str(run.skip)]
    if run.status in (Status.FAILED, Status.FAILED_FINAL):
        return [f"failed: {_cause(run)}"]
    if run.status is Status.TRIGGERING:
        return [_launching(run)]
    if run.status is Status.RUNNING and run.launched_at is not None:
        return [_running(run, duration.for_people(now - run.launched_at))]
    lines = failing_lines(run.verdict, now)
    if run.waits_for:
        return [*lines, place_line(run)]
    return lines or ["waiting for its rules"]


def place_line(run: Run) -> str:
    """The runs that a run waits for to get a place."""
    dates = [each.date for each in run.waits_for]
    return f"waits for a place behind {', '.join(dates)}"


def _cause(run: Run) -> str:
    return run.failure.message if run.failure else "unknown"


def _launching(run: Run) -> str:
    if run.job_message is None:
        return "its job is being launched"
    return f"its launch failed and is being retried: {run.job_message}"


def _running(run: Run, span: str) -> str:
    unseen = f", and can't be seen: {run.job_message}" if run.job_unseen else ""
    return f"job running for {span}{unseen}"


def failing_lines(verdict: Judgement | None, now: datetime) -> list[str]:
    """The rules that did not hold at the last evaluation, one line each; an age says as of when."""
    if verdict is None or verdict.ready:
        return []
    as_of = _as_of(verdict.at, now)
    lines = obstacle_lines([recorded_result(each) for each in verdict.results], verdict.at)
    return [f"{line.text}{as_of}" if line.tells_age else line.text for line in lines]


def _as_of(at: datetime, now: datetime) -> str:
    """Empty for a result judged just now."""
    if now - at < timedelta(seconds=1):
        return ""
    is_today = at.date() == now.date()
    return f", as of {at:%H:%M:%S}Z" if is_today else f", as of {at:%Y-%m-%dT%H:%M:%S}Z"


def explain_record(record: RuleRecord, at: datetime) -> str:
    """The line of a stored result, as of when it was judged."""
    return explain(recorded_result(record), at)


def recorded_result(record: RuleRecord) -> Result:
    """The result as it was judged."""
    is_age = record.kind in OF_RECEIPT  # then `expected` is the maxAge, and not the value
    value, age = (None, record.expected) if is_age else (record.expected, None)
    rule = Rule(record.key, Check(record.check), record.field, value, age, record.stable_for)
    return Result(rule, record.kind, record.actual, record.against, record.since, record.group)
