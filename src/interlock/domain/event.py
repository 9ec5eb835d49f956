"""Event: something that happened, told once.

The catalogue is data: each type with its severity, who hears of it, what its id is made of, what its
detail may hold, its hint and the phase that it leads to. `happened` is the one place where events are
made, and refuses what the row does not know. An event's id and time come from stored facts, so telling
it again is harmless.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any

import msgspec

from interlock.domain import timestamp
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import RunKey

LONGEST_ID = 200
LONGEST_MESSAGE = 200
LONGEST_ERROR = 2000
LARGEST_DETAIL = 64 * 1024

#: An id begins with pipeline, schedule and date; the type follows.
_PLACES = 3
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]+")


class Severity(StrEnum):
    """How much it matters, in rising order."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"

    @property
    def raised(self) -> "Severity":
        """One step higher, for deadlines that are declared critical."""
        steps = list(Severity)
        return steps[min(steps.index(self) + 1, len(steps) - 1)]


class Alert(StrEnum):
    """Who hears of it."""

    YES = "yes"
    THREAD = "thread"
    NO = "no"
    OTHER_SINKS = "other sinks only"
    FROM_WARNING = "from warning on"


class Phase(StrEnum):
    """What a date is like now. Of two told of one instant, the later of this list stands."""

    WAITING = "waiting"
    RUNNING = "running"
    ATTENTION = "attention"
    MISSED = "missed"
    LATE = "late"
    FAILED = "failed"
    SKIPPED = "skipped"
    DONE = "done"


class EventSpec(msgspec.Struct, frozen=True):
    """One row of the catalogue: everything that is known of a type of event."""

    when: str
    by: str
    severity: Severity
    alert: Alert
    #: What its id is made of, beside pipeline, schedule, date and type.
    id: tuple[str, ...]
    #: The keys that its detail may have.
    detail: tuple[str, ...]
    #: What to do about it.
    hint: str | None = None
    #: The type under which a dry run tells of it.
    twin: str | None = None
    #: What the date is like once it has happened; None: as before.
    phase: Phase | None = None
    #: The titles of details that no other event has: an alert shows these too.
    shown: Mapping[str, str] = {}


_RULES = ("failing", "passing")
_DEADLINE = ("warningAt", "breachAt", "status", "blockedBy", "lateBy")
_ABSOLUTE = ("deadline", "timezone", *_DEADLINE)
_RELATIVE = ("maxDuration", "firstSensorAt", *_DEADLINE)
_DRIFT = (
    "sensorKey",
    "driftField",
    "baseline",
    "current",
    "delta",
    "driftThreshold",
    "rerunRequested",
)
_LATE = ("key", "changed", "completedAt", "lateBy", "rerunRequested")
_REJECTED = ("reason", "requestedBy", "cause", "spent", "max", "activeAttempt")
_STEERED = (
    "backfill", "dates", "completed", "failed", "refused", "waiting", "notCompleted", "reason",
    "requestedBy",
)  # fmt: skip
_WHY = "see `interlock why {pipeline} {date}`"
_RERUN = "fix the cause, then `interlock rerun {pipeline} {date}`"


class EventType(StrEnum):
    """The catalogue: everything that can happen, one row each."""

    spec: EventSpec

    def __new__(cls, name: str, spec: EventSpec | None = None) -> "EventType":
        """A name and its row; `EventType("SLA_MET")` finds the member of that name."""
        assert spec is not None
        member = str.__new__(cls, name)
        member._value_, member.spec = name, spec
        return member

    # fmt: off
    TRIGGER_STARTED = "TRIGGER_STARTED", EventSpec(
        "a run is opened, or reopened with a new attempt", "open_run", Severity.INFO, Alert.NO,
        ("attempt",), ("openedBy", "key", "reason", "executionName", "lateBy"),
        phase=Phase.WAITING)
    VALIDATION_PASSED = "VALIDATION_PASSED", EventSpec(
        "the rules hold for the first time in this attempt", "evaluate", Severity.INFO, Alert.NO,
        ("attempt",), ("results", "waitedSeconds", "evaluations"))
    VALIDATION_EXHAUSTED = "VALIDATION_EXHAUSTED", EventSpec(
        "the evaluation window closed", "validation-exhausted", Severity.ERROR, Alert.YES,
        ("attempt",), (*_RULES, "windowEnd", "evaluations"),
        "fix the upstream load; a changed reading or `interlock rerun {pipeline} {date}` opens it again",
        phase=Phase.FAILED)
    JOB_TRIGGERED = "JOB_TRIGGERED", EventSpec(
        "the job was launched", "trigger", Severity.INFO, Alert.NO,
        ("attempt",), ("jobType", "runId", "evidence"),
        phase=Phase.RUNNING)
    JOB_COMPLETED = "JOB_COMPLETED", EventSpec(
        "the job succeeded", "complete-trigger", Severity.INFO, Alert.THREAD,
        ("attempt",), ("runId", "durationSeconds", "attempts", "lateBy"), twin="DRY_RUN_COMPLETED",
        phase=Phase.DONE)
    JOB_FAILED = "JOB_FAILED", EventSpec(
        "an attempt failed, for every failed attempt", "check-job", Severity.ERROR, Alert.YES,
        ("attempt",), ("runId", "category", "error", "willRetry", "retryAt", "spent", "max", "output"),
        _RERUN,
        phase=Phase.FAILED)
    JOB_POLL_EXHAUSTED = "JOB_POLL_EXHAUSTED", EventSpec(
        "the poll window closed", "job-poll-exhausted", Severity.ERROR, Alert.YES,
        ("attempt",), ("runId", "runningForSeconds", "pollWindowSeconds", "lastState", "cancelled"),
        "make sure that the job has ended, then `interlock rerun {pipeline} {date}`",
        phase=Phase.FAILED)
    RUN_CANCELLED = "RUN_CANCELLED", EventSpec(
        "an operator ended an attempt; no retry follows", "cancel_run", Severity.WARNING, Alert.THREAD,
        ("attempt",), ("reason", "requestedBy", "runStatus", "runId"),
        "`interlock rerun {pipeline} {date}` runs it again",
        phase=Phase.FAILED)
    RUN_SKIPPED = "RUN_SKIPPED", EventSpec(
        "an operator said that a date need not run", "skip_run", Severity.INFO, Alert.THREAD,
        ("attempt", "skipped at"), ("reason", "requestedBy", "runStatus"),
        "`interlock unskip {pipeline} {date}` undoes it",
        phase=Phase.SKIPPED)
    RUN_UNSKIPPED = "RUN_UNSKIPPED", EventSpec(
        "an operator undid the skip of a date: it is expected again, or has a further attempt",
        "unskip_run", Severity.INFO, Alert.THREAD,
        ("attempt", "skipped at"), ("reason", "requestedBy", "skippedBy", "skipReason"),
        phase=Phase.WAITING)
    RUN_MARKED = "RUN_MARKED", EventSpec(
        "a person stated the outcome of a run: done, or failed (a warning)", "mark_run",
        Severity.INFO, Alert.THREAD,
        ("attempt", "outcome", "marked at"),
        ("outcome", "reason", "requestedBy", "runStatus", "evidence", "lateBy"),
        "`interlock rerun {pipeline} {date}` runs it again",
        phase=Phase.DONE, shown={"outcome": "Outcome"})
    RETRY_EXHAUSTED = "RETRY_EXHAUSTED", EventSpec(
        "the job's or the launch's retries are spent, or what was to come went with its pipeline or schedule",
        "complete-trigger", Severity.ERROR, Alert.YES,
        ("attempt", "kind"),
        ("kind", "category", "spent", "max", "lastError", "runId", "cancelled", "follows"), _RERUN,
        phase=Phase.FAILED)
    INFRA_FAILURE = "INFRA_FAILURE", EventSpec(
        "a step, or a change record, failed beyond its retries, or a job can't be seen",
        "infra-failure", Severity.CRITICAL, Alert.YES,
        ("attempt or change", "state"), ("state", "error", "cause", "executionName", "change"),
        "run `interlock doctor`",
        phase=Phase.FAILED)
    INFRA_ALARM = "INFRA_ALARM", EventSpec(
        "a CloudWatch alarm changed state", "input-transformer", Severity.ERROR, Alert.YES,
        ("alarm", "change time"), ("alarmName", "alarmState", "metric", "threshold", "reason"),
        "look at the alarm in CloudWatch",
        phase=Phase.ATTENTION)
    SLA_WARNING = "SLA_WARNING", EventSpec(
        "the warning instant passed, the run is not done", "fire_deadline", Severity.WARNING, Alert.YES,
        (), _ABSOLUTE, _WHY,
        phase=Phase.LATE)
    SLA_BREACH = "SLA_BREACH", EventSpec(
        "the breach instant passed, the run is not done", "fire_deadline", Severity.ERROR, Alert.YES,
        (), (*_ABSOLUTE, "failed", "failure"), _WHY,
        phase=Phase.LATE)
    SLA_MET = "SLA_MET", EventSpec(
        "completed before the breach instant", "settle_deadline", Severity.INFO, Alert.THREAD,
        (), ("breachAt", "completedAt", "marginSeconds", "warned"),
        phase=Phase.DONE)
    RELATIVE_SLA_WARNING = "RELATIVE_SLA_WARNING", EventSpec(
        "as SLA_WARNING, for `maxDuration`", "fire_deadline", Severity.WARNING, Alert.YES,
        (), _RELATIVE, _WHY,
        phase=Phase.LATE)
    RELATIVE_SLA_BREACH = "RELATIVE_SLA_BREACH", EventSpec(
        "as SLA_BREACH, for `maxDuration`", "fire_deadline", Severity.ERROR, Alert.YES,
        (), (*_RELATIVE, "failed", "failure"), _WHY,
        phase=Phase.LATE)
    READINESS_MISSED = "READINESS_MISSED", EventSpec(
        "the rules had not held by `evaluationDeadline`; the run goes on", "fire_deadline",
        Severity.WARNING, Alert.YES, (),
        ("evaluationDeadline", "timezone", "readinessAt", "status", "blockedBy", "lateBy"), _WHY,
        phase=Phase.LATE)
    DEADLINE_UNKNOWN = "DEADLINE_UNKNOWN", EventSpec(
        "a `:MM` deadline met a date without an hour", "open_run", Severity.WARNING, Alert.YES,
        (), ("deadline", "problem"), "give the deadline as HH:MM, or send readings with an hour",
        phase=Phase.ATTENTION)
    SCHEDULE_MISSED = "SCHEDULE_MISSED", EventSpec(
        "a cron moment had no run and can't be fired late", "watchdog", Severity.ERROR, Alert.YES,
        (), ("cron", "timezone", "due", "grace", "cause", "notWatched"),
        "`interlock rerun {pipeline} {date}` runs it now",
        phase=Phase.MISSED)
    IRREGULAR_SCHEDULE_MISSED = "IRREGULAR_SCHEDULE_MISSED", EventSpec(
        "an inclusion date had no run", "watchdog", Severity.ERROR, Alert.YES,
        (), ("due", "trigger"), _WHY,
        phase=Phase.MISSED)
    SENSOR_DEADLINE_EXPIRED = "SENSOR_DEADLINE_EXPIRED", EventSpec(
        "the trigger deadline passed with no run; the date is closed", "watchdog",
        Severity.ERROR, Alert.YES, (), ("triggerDeadline", "deadlineAt", "trigger"),
        "when the data is there, `interlock rerun {pipeline} {date}`",
        phase=Phase.MISSED)
    TRIGGER_RECOVERED = "TRIGGER_RECOVERED", EventSpec(
        "the watchdog did what should have happened", "watchdog", Severity.WARNING, Alert.YES,
        ("attempt", "how"), ("how", "due", "key", "lateBy"),
        "nothing to do for this date; `interlock doctor` may tell why it was needed",
        phase=Phase.WAITING)
    SFN_TIMEOUT = "SFN_TIMEOUT", EventSpec(
        "an attempt has used up its time, and the engine confirms that it is over", "watchdog",
        Severity.ERROR, Alert.YES, ("attempt",),
        ("executionName", "leaseUntil", "engineStatus", "runStatus", "runId"),
        "make sure that the job has ended, then `interlock rerun {pipeline} {date}`",
        phase=Phase.FAILED)
    POST_RUN_BASELINE_CAPTURED = "POST_RUN_BASELINE_CAPTURED", EventSpec(
        "readings to compare later ones with were stored: at completion, and with the first reading "
        "of a key that had none", "complete-trigger", Severity.INFO, Alert.NO,
        ("attempt", "readings"), ("baseline",))
    BASELINE_CAPTURE_FAILED = "BASELINE_CAPTURE_FAILED", EventSpec(
        "its readings can't be read or don't fit; the run completes without a baseline",
        "complete-trigger", Severity.WARNING, Alert.YES, ("attempt",), ("error",),
        "drift of this date will not be seen; " + _WHY,
        phase=Phase.ATTENTION)
    POST_RUN_PASSED = "POST_RUN_PASSED", EventSpec(
        "post-run rules hold, and did not before", "judge_post_run", Severity.INFO, Alert.THREAD,
        ("attempt", "n"), ("results",),
        phase=Phase.DONE)
    POST_RUN_FAILED = "POST_RUN_FAILED", EventSpec(
        "post-run rules fail, and did not before; no drift", "judge_post_run", Severity.ERROR, Alert.YES,
        ("attempt", "n"), _RULES, _RERUN,
        phase=Phase.FAILED)
    POST_RUN_DRIFT = "POST_RUN_DRIFT", EventSpec(
        "a reading left the baseline after completion", "judge_post_run", Severity.WARNING, Alert.YES,
        ("attempt", "key", "hash"), _DRIFT, "a rerun was requested; " + _WHY, "DRY_RUN_DRIFT",
        phase=Phase.ATTENTION)
    POST_RUN_DRIFT_INFLIGHT = "POST_RUN_DRIFT_INFLIGHT", EventSpec(
        "the same while the job runs", "judge_post_run", Severity.INFO, Alert.THREAD,
        ("attempt", "key", "hash"), _DRIFT,
        phase=Phase.ATTENTION)
    POST_RUN_SENSOR_MISSING = "POST_RUN_SENSOR_MISSING", EventSpec(
        "post-run readings absent after `sensorTimeout`", "watchdog", Severity.WARNING, Alert.YES,
        ("attempt",), ("missing", "sensorTimeout", "completedAt", "lastSeen"),
        "check what the job wrote, and who reports it",
        phase=Phase.ATTENTION)
    POST_RUN_ENDED = "POST_RUN_ENDED", EventSpec(
        "the post-run window is over", "judge_post_run", Severity.INFO, Alert.NO,
        ("attempt",), ("outcome", "results", "seen", "unseen", "windowEnd"))
    LATE_DATA_ARRIVAL = "LATE_DATA_ARRIVAL", EventSpec(
        "the trigger reading changed after completion", "admit", Severity.WARNING, Alert.YES,
        ("attempt", "hash"), _LATE, _WHY, "DRY_RUN_LATE_DATA",
        phase=Phase.ATTENTION)
    RERUN_ACCEPTED = "RERUN_ACCEPTED", EventSpec(
        "a rerun was granted and the new attempt is stored", "judge_rerun", Severity.INFO, Alert.THREAD,
        ("attempt",), ("reason", "requestedBy", "budget", "spent", "max", "forced"),
        twin="DRY_RUN_WOULD_RERUN",
        phase=Phase.WAITING)
    RERUN_REJECTED = "RERUN_REJECTED", EventSpec(
        "a rerun was refused", "judge_rerun", Severity.WARNING, Alert.YES,
        ("request",), _REJECTED, _WHY, "DRY_RUN_RERUN_REJECTED",
        phase=Phase.ATTENTION)
    BACKFILL_STARTED = "BACKFILL_STARTED", EventSpec(
        "a backfill was started", "start_backfill", Severity.INFO, Alert.NO,
        ("backfill", "turn"),
        ("backfill", "firstDate", "lastDate", "dates", "maxConcurrent", "reason", "requestedBy"))
    BACKFILL_PAUSED = "BACKFILL_PAUSED", EventSpec(
        "a backfill was paused: dates that have begun run on", "steer_backfill", Severity.INFO, Alert.NO,
        ("backfill", "turn"), _STEERED)
    BACKFILL_RESUMED = "BACKFILL_RESUMED", EventSpec(
        "a paused backfill was resumed", "steer_backfill", Severity.INFO, Alert.NO,
        ("backfill", "turn"), _STEERED)
    BACKFILL_CANCELLED = "BACKFILL_CANCELLED", EventSpec(
        "a backfill was cancelled, or its pipeline was retired: dates that have begun run on",
        "steer_backfill, advance_backfill", Severity.INFO, Alert.NO,
        ("backfill", "turn"), _STEERED)
    BACKFILL_DONE = "BACKFILL_DONE", EventSpec(
        "every date of a backfill has ended; a warning if some did not complete",
        "advance_backfill", Severity.INFO, Alert.FROM_WARNING,
        ("backfill", "turn"), _STEERED,
        "see `interlock backfills`, then fix the cause and start it again for the rest",
        phase=Phase.ATTENTION)
    PIPELINE_EXCLUDED = "PIPELINE_EXCLUDED", EventSpec(
        "a reading would have opened a run on an excluded date", "admit", Severity.INFO, Alert.NO,
        (), ("key", "excludedBy", "name"))
    DATE_ALREADY_RUN = "DATE_ALREADY_RUN", EventSpec(
        "an edited schedule comes to a date that ran before the edit; it is not run again",
        "admit, fire_cron", Severity.INFO, Alert.NO,
        ("schedule in force since",), ("openedAt", "runStatus", "since", "due", "key"),
        "`interlock rerun {pipeline} {date}` runs it again")
    SENSOR_REJECTED = "SENSOR_REJECTED", EventSpec(
        "a stored reading can't be used", "admit", Severity.WARNING, Alert.YES,
        ("key", "problem", "day received"), ("key", "problem", "field", "value", "allowed"),
        "correct the producer and send the reading again",
        phase=Phase.ATTENTION)
    CONFIG_ADOPTED = "CONFIG_ADOPTED", EventSpec(
        "a stored config came into force, or was retired", "adopt_config", Severity.INFO, Alert.NO,
        ("hash", "change time"), ("change", "hash", "previousHash", "changedPaths", "schedules"))
    CONFIG_REJECTED = "CONFIG_REJECTED", EventSpec(
        "a stored config does not validate", "adopt_config", Severity.ERROR, Alert.YES,
        ("hash",), ("problems", "inForce"), "run `interlock validate` on the file and mend it",
        phase=Phase.ATTENTION)
    PIPELINE_PAUSED = "PIPELINE_PAUSED", EventSpec(
        "an operator paused a pipeline, or changed its pause", "pause", Severity.INFO, Alert.NO,
        ("config version",), ("reason", "requestedBy", "since", "until"),
        "`interlock resume {pipeline}` ends the pause")
    PIPELINE_RESUMED = "PIPELINE_RESUMED", EventSpec(
        "an operator ended the pause of a pipeline", "resume", Severity.INFO, Alert.NO,
        ("config version",), ("reason", "requestedBy", "since"))
    CONFIG_MISSING = "CONFIG_MISSING", EventSpec(
        "the file of a pipeline in force is missing; an error without a pipeline: those of many at once",
        "follow_files", Severity.WARNING, Alert.YES,
        ("since",), ("since", "until", "pipelines", "inForce"),
        "put the file back, or confirm that it was meant to go: `interlock retire {pipeline}`",
        phase=Phase.ATTENTION)
    WATCHDOG_DEGRADED = "WATCHDOG_DEGRADED", EventSpec(
        "a check failed, for one pipeline or all", "watchdog", Severity.ERROR, Alert.YES,
        ("failing since", "failures", "days"), ("failures", "count", "since"), "run `interlock doctor`",
        phase=Phase.ATTENTION)
    WATCHDOG_RECOVERED = "WATCHDOG_RECOVERED", EventSpec(
        "first clean pass after failures or after a gap", "watchdog", Severity.WARNING, Alert.YES,
        ("since",), ("from", "until", "firedLate", "missed", "recovered", "notWatched"),
        "look at what was missed: `interlock events --since DATE`",
        phase=Phase.ATTENTION)
    ALERT_UNDELIVERED = "ALERT_UNDELIVERED", EventSpec(
        "a sink gave up on an alert", "send_alert", Severity.ERROR, Alert.OTHER_SINKS,
        ("sink", "event id"), ("sink", "channel", "error", "tries"),
        "check the sink's settings with `interlock alert test`",
        phase=Phase.ATTENTION)
    ALERT_ACKNOWLEDGED = "ALERT_ACKNOWLEDGED", EventSpec(
        "a person looks after the alerts of a date; they no longer escalate", "acknowledge_alert",
        Severity.INFO, Alert.THREAD, ("change", "time"), ("reason", "requestedBy", "alerts"))
    ALERT_SNOOZED = "ALERT_SNOOZED", EventSpec(
        "further alerts of a date are held until an instant", "snooze_alert", Severity.INFO, Alert.THREAD,
        ("change", "time"), ("reason", "requestedBy", "until", "includeCritical", "alerts"),
        shown={"until": "until"})
    ALERT_UNSNOOZED = "ALERT_UNSNOOZED", EventSpec(
        "a person ended the snooze of a date; what it held is sent", "snooze_alert",
        Severity.INFO, Alert.THREAD, ("change", "time"), ("reason", "requestedBy", "alerts"))
    ROW_UNREADABLE = "ROW_UNREADABLE", EventSpec(
        "a stored row can't be read: it is left as it is, and its date neither runs nor counts as late",
        "report_unreadable", Severity.ERROR, Alert.YES,
        ("table", "row"), ("table", "key", "problem", "kind"),
        "`interlock doctor` names the row and what to do about it",
        phase=Phase.ATTENTION)
    DRY_RUN_WOULD_TRIGGER = "DRY_RUN_WOULD_TRIGGER", EventSpec(
        "rules hold", "trigger", Severity.INFO, Alert.NO, ("attempt",), ("results", "wouldLaunch"))
    DRY_RUN_SLA_PROJECTION = "DRY_RUN_SLA_PROJECTION", EventSpec(
        "with it, if there is an SLA", "trigger", Severity.INFO, Alert.NO,
        ("attempt",), ("estimatedCompletion", "breachAt", "marginSeconds", "status"))
    DRY_RUN_COMPLETED = "DRY_RUN_COMPLETED", EventSpec(
        "the date is closed", "complete-trigger", Severity.INFO, Alert.NO,
        ("attempt",), ("triggeredAt", "slaStatus"))
    DRY_RUN_LATE_DATA = "DRY_RUN_LATE_DATA", EventSpec(
        "as LATE_DATA_ARRIVAL", "admit", Severity.INFO, Alert.NO,
        ("attempt", "hash"), (*_LATE, "triggeredAt"))
    DRY_RUN_DRIFT = "DRY_RUN_DRIFT", EventSpec(
        "as POST_RUN_DRIFT", "judge_post_run", Severity.INFO, Alert.NO,
        ("attempt", "key", "hash"), _DRIFT)
    DRY_RUN_WOULD_RERUN = "DRY_RUN_WOULD_RERUN", EventSpec(
        "as RERUN_ACCEPTED", "judge_rerun", Severity.INFO, Alert.NO,
        ("request",), ("reason", "requestedBy", "budget", "spent", "max"))
    DRY_RUN_RERUN_REJECTED = "DRY_RUN_RERUN_REJECTED", EventSpec(
        "as RERUN_REJECTED", "judge_rerun", Severity.INFO, Alert.NO, ("request",), _REJECTED)
    DRY_RUN_WOULD_RETRY = "DRY_RUN_WOULD_RETRY", EventSpec(
        "a failure would be retried", "retry_job", Severity.INFO, Alert.NO,
        ("attempt",), ("category", "spent", "max", "retryAt"))
    DRY_RUN_RETRY_EXHAUSTED = "DRY_RUN_RETRY_EXHAUSTED", EventSpec(
        "a failure would not be", "retry_job", Severity.INFO, Alert.NO,
        ("attempt",), ("category", "spent", "max"))
    # fmt: on


#: Who asks for a rerun that no person asked for.
AUTOMATIC = "interlock"

#: Older names of types: queries, routes and scenarios accept them, but no event carries them.
ALIASES = {"JOB_STARTED": EventType.JOB_TRIGGERED}


class Event(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """A fact, as it is stored and sent."""

    event_id: str
    type: EventType
    severity: Severity
    timestamp: datetime
    message: str
    pipeline_id: str | None = None
    schedule_id: str | None = None
    date: str | None = None
    attempt: int | None = None
    run_id: str | None = None
    owner: str | None = None
    tags: dict[str, str] = {}
    detail: dict[str, Any] = {}


def is_told_elsewhere(event: Event) -> bool:
    """Whether people know of it without an alert of its own: another event tells the same failure, or the
    person who asked for a rerun sees that it was refused.
    """
    if event.type is EventType.RERUN_REJECTED:
        return event.detail.get("requestedBy") not in (None, "", AUTOMATIC)
    return event.detail.get("follows") is not None


class RowOverride(msgspec.Struct, frozen=True):
    """Where one event differs from the row of its type; None: it does not."""

    severity: Severity | None = None
    source: str | None = None


#: Most events are as their row says.
AS_ROW = RowOverride()


class Subject(msgspec.Struct, frozen=True):
    """Whom an event is about; whatever does not apply is None."""

    pipeline_id: str | None = None
    schedule_id: str | None = None
    date: str | None = None
    attempt: int | None = None
    run_id: str | None = None
    owner: str | None = None
    tags: Mapping[str, str] = {}
    #: Whether it is about a dry run, which tells of some things by another type and of some not at all.
    dry: bool = False


def subject(
    pipeline: Pipeline | None,
    key: RunKey | None = None,
    attempt: int | None = None,
    run_id: str | None = None,
) -> Subject:
    """The subject of an event about a run, or about a pipeline as a whole."""
    return Subject(
        pipeline_id=key.pipeline_id if key else pipeline.id if pipeline else None,
        schedule_id=key.schedule_id if key else None,
        date=key.date if key else None,
        attempt=attempt,
        run_id=run_id,
        owner=pipeline.pipeline.owner if pipeline else None,
        tags=pipeline.pipeline.tags if pipeline else {},
        dry=key is not None and key.dry,
    )


def happened(
    kind: EventType,
    about: Subject,
    at: datetime,
    message: str,
    /,
    *,
    parts: Sequence[object] = (),
    override: RowOverride = AS_ROW,
    **detail: Any,
) -> Event:
    """Make an event. Raises ValueError for a detail key or a number of id parts its row lacks."""
    entry = kind.spec
    unknown = set(detail) - set(entry.detail)
    if unknown:
        raise ValueError(f"{kind} has no detail {', '.join(sorted(unknown))}")
    if len(parts) != len(entry.id):
        raise ValueError(f"the id of {kind} is made of {entry.id}, not of {parts}")
    level = override.severity or entry.severity
    facts = {name: value for name, value in detail.items() if value is not None}
    facts["source"] = override.source or entry.by
    if level is not Severity.INFO and entry.hint is not None:
        facts["actionHint"] = _hint(entry.hint, about)
    return Event(
        event_id=event_id(kind, about, parts),
        type=kind,
        severity=level,
        timestamp=at,
        message=clean(message, LONGEST_MESSAGE),
        pipeline_id=about.pipeline_id,
        schedule_id=about.schedule_id,
        date=about.date,
        attempt=about.attempt,
        run_id=about.run_id,
        owner=about.owner,
        tags=dict(about.tags),
        detail=bounded(facts),
    )


def bare_event(kind: EventType, about: Subject, at: datetime, event_id: str) -> Event:
    """An event of which no more is stored than what happened, when, and to whom."""
    entry = kind.spec
    return Event(
        event_id=event_id,
        type=kind,
        severity=entry.severity,
        timestamp=at,
        message=clean(entry.when, LONGEST_MESSAGE),
        pipeline_id=about.pipeline_id,
        schedule_id=about.schedule_id,
        date=about.date,
    )


def event_from_id(event_id: str, at: datetime) -> Event:
    """What an id says by itself. Raises ValueError when it is not the id of a known type of event."""
    parts = event_id.split("/", 4)
    if len(parts) < _PLACES + 1:
        raise ValueError(f"{event_id!r} is not the id of an event")
    pipeline_id, schedule_id, date = (None if each == "-" else each for each in parts[:_PLACES])
    about = Subject(pipeline_id, schedule_id, date)
    return bare_event(EventType(parts[_PLACES]), about, at, event_id)


def event_id(kind: EventType, about: Subject, parts: Sequence[object]) -> str:
    """What happened, spelt out; the same fact has the same id, whichever process publishes it."""
    place = (about.pipeline_id, about.schedule_id, about.date)
    whole = "/".join([*(part or "-" for part in place), kind, *map(str, parts)])
    if len(whole) <= LONGEST_ID:
        return whole
    digest = hashlib.sha256(whole.encode()).hexdigest()[:16]
    return f"{whole[: LONGEST_ID - len(digest) - 1]}~{digest}"


def envelope(event: Event) -> dict[str, Any]:
    """The event as it goes over the wire."""
    detail = {
        "pipelineId": event.pipeline_id,
        "scheduleId": event.schedule_id,
        "date": event.date,
        "message": event.message,
        "timestamp": timestamp.spell(event.timestamp),
        "eventId": event.event_id,
        "severity": event.severity,
        "attempt": event.attempt,
        "runId": event.run_id,
        "owner": event.owner,
        "tags": event.tags or None,
        "detail": event.detail,
    }
    applies = {name: value for name, value in detail.items() if value is not None}
    return {"source": "interlock", "detail-type": event.type, "detail": applies}


def dry(kind: EventType) -> EventType | None:
    """The type under which a dry run tells of this; None when it keeps silent."""
    if kind.startswith("DRY_RUN_"):
        return kind
    return None if kind.spec.twin is None else EventType(kind.spec.twin)


def plain(text: str) -> str:
    """Text without control and direction characters: it can't pretend to be anything else."""
    return _CONTROL.sub(" ", text)


def clean(text: str, limit: int = LONGEST_ERROR) -> str:
    """Plain text, cut to a length."""
    found = plain(text).strip()
    return found if len(found) <= limit else f"{found[: limit - 1]}…"


def bounded(detail: dict[str, Any]) -> dict[str, Any]:
    """A detail of at most 64 KB: its longest lists are cut until it fits, and that is said."""
    cut = 0
    while len(msgspec.json.encode(detail)) > LARGEST_DETAIL:
        name = max(detail, key=lambda key: len(msgspec.json.encode(detail[key])))
        value = detail[name]
        if isinstance(value, list | tuple) and len(value) > 1:
            keep = len(value) // 2
            cut += len(value) - keep
            detail = {**detail, name: list(value[:keep])}
        else:
            cut += 1
            text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
            detail = {**detail, name: clean(text, min(LONGEST_ERROR, len(text) // 2))}
    return {**detail, "truncated": cut} if cut else detail


def _hint(hint: str, about: Subject) -> str:
    return hint.format(pipeline=about.pipeline_id or "PIPELINE", date=about.date or "DATE")
