"""Run: one date of one schedule of one pipeline. Lock and state in one row.

Every change is made by `to` or `changed`, which raise the version by one; stores write a version only
over the one before it. Where a run may go is the table TRANSITIONS, and nothing else.
"""

import hashlib
import re
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Self

import msgspec

from interlock.domain import canonical
from interlock.domain.budgets import Category, Spending
from interlock.domain.deadline import SlaVerdict
from interlock.errors import TransitionError

#: How long past the execution's own timeout an attempt may still be finishing.
LEASE_MARGIN = timedelta(minutes=30)
EXECUTION_TIMEOUT = timedelta(hours=4)

_LONGEST_NAME = 80
_UNSAFE = re.compile(r"[^0-9A-Za-z_.-]")


class Status(StrEnum):
    """Where a run is."""

    PENDING = "PENDING"
    TRIGGERING = "TRIGGERING"
    RUNNING = "RUNNING"
    FAILED = "FAILED"
    COMPLETED = "COMPLETED"
    FAILED_FINAL = "FAILED_FINAL"


OPEN = frozenset({Status.PENDING, Status.TRIGGERING, Status.RUNNING})
FINAL = frozenset({Status.COMPLETED, Status.FAILED_FINAL})

#: From where to where. PENDING is entered only with a new attempt.
TRANSITIONS: dict[Status, frozenset[Status]] = {
    Status.PENDING: frozenset({Status.TRIGGERING, Status.FAILED, Status.FAILED_FINAL}),
    Status.TRIGGERING: frozenset({Status.RUNNING, Status.FAILED, Status.FAILED_FINAL}),
    Status.RUNNING: frozenset({Status.COMPLETED, Status.FAILED, Status.FAILED_FINAL}),
    Status.FAILED: frozenset({Status.PENDING, Status.FAILED_FINAL}),
    Status.COMPLETED: frozenset({Status.PENDING}),
    Status.FAILED_FINAL: frozenset({Status.PENDING}),
}


class OpenedBy(StrEnum):
    """What opened an attempt."""

    SENSOR = "sensor"
    CRON = "cron"
    RERUN = "rerun"
    RETRY = "retry"
    RECOVERY = "recovery"
    CASCADE = "cascade"


class DeadlineKind(StrEnum):
    """The four moments of a deadline."""

    WARNING = "warning"
    BREACH = "breach"
    RELATIVE_WARNING = "rel-warning"
    RELATIVE_BREACH = "rel-breach"


class RunKey(msgspec.Struct, frozen=True, order=True, rename="camel"):
    """The identity of a run. A dry run of the same date is another run."""

    pipeline_id: str
    schedule_id: str
    date: str
    dry: bool = False

    def __str__(self) -> str:
        return f"{self.pipeline_id}/{self.schedule_id}/{self.date}"


class Evidence(msgspec.Struct, frozen=True, rename="camel"):
    """A reading as a passing evaluation saw it."""

    key: str
    version: str
    fields: dict[str, Any]


class Failure(msgspec.Struct, frozen=True, rename="camel"):
    """Why an attempt ended badly. `reason` is a stable word: job, stopped, window, launch, ..."""

    reason: str
    message: str
    category: Category | None = None


class RuleRecord(msgspec.Struct, frozen=True, rename="camel"):
    """How a rule fared at a recorded evaluation, and since when it has fared so."""

    key: str
    check: str
    field: str | None = None
    expected: Any = None
    actual: Any = None
    kind: str | None = None
    since: datetime | None = None


class Judgement(msgspec.Struct, frozen=True, rename="camel"):
    """The last evaluation of the rules, kept so that anybody can ask why."""

    at: datetime
    ready: bool
    results: tuple[RuleRecord, ...]
    evaluations: int = 1


class PostRunState(msgspec.Struct, frozen=True, rename="camel"):
    """What has been seen of the post-run readings of this attempt."""

    outcome: str | None = None
    n: int = 0
    seen: dict[str, datetime] = {}
    told: tuple[str, ...] = ()
    missing_judged: bool = False


class Run(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A run as it is stored."""

    key: RunKey
    status: Status = Status.PENDING
    version: int = 1
    attempt: int = 0
    execution_name: str
    opened_at: datetime
    opened_by: OpenedBy
    opened_for: str = ""
    #: The request that opened a date without a run; it stays, so that a repeat of it is known as one.
    first_request: str | None = None
    changed_at: datetime
    recovered: bool = False
    started_at: datetime | None = None
    lease_until: datetime
    config_hash: str = ""
    trigger_version: str | None = None
    first_sensor_at: datetime | None = None
    verdict: Judgement | None = None
    evidence: dict[str, Evidence] = {}
    run_id: str | None = None
    job_type: str | None = None
    job: dict[str, Any] = {}
    launched_at: datetime | None = None
    job_message: str | None = None
    job_unseen: bool = False
    completed_at: datetime | None = None
    post_run_due_at: datetime | None = None
    failure: Failure | None = None
    retry_at: datetime | None = None
    infra_retries: int = 0
    spending: Spending = Spending()
    warning_at: datetime | None = None
    breach_at: datetime | None = None
    relative_warning_at: datetime | None = None
    relative_breach_at: datetime | None = None
    sla_armed: dict[DeadlineKind, datetime] = {}
    sla_told: tuple[DeadlineKind, ...] = ()
    sla_verdict: SlaVerdict | None = None
    post_run: PostRunState = PostRunState()
    late_told: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    @property
    def awaits_retry(self) -> bool:
        """Whether this attempt failed and the next one is already due at `retry_at`."""
        return self.status is Status.FAILED and self.retry_at is not None

    def changed(self, now: datetime, **changes: Any) -> Self:
        """The next version, in the same state."""
        return msgspec.structs.replace(self, version=self.version + 1, changed_at=now, **changes)

    def to(self, status: Status, now: datetime, **changes: Any) -> Self:
        """The next version, in another state. An illegal move can't be made, so it can't be written."""
        if status not in TRANSITIONS[self.status]:
            raise TransitionError(f"{self.key}: {self.status} does not lead to {status}")
        if status is Status.PENDING:
            raise TransitionError(f"{self.key}: only a new attempt is PENDING")
        return self.changed(now, status=status, **changes)

    def reopened(
        self, now: datetime, by: OpenedBy, opened_for: str, lease: timedelta, **changes: Any
    ) -> Self:
        """The next attempt: its own job, evidence and verdict; the date's budgets and deadlines stay."""
        if Status.PENDING not in TRANSITIONS[self.status]:
            raise TransitionError(f"{self.key}: {self.status} can't be opened again")
        attempt = self.attempt + 1
        fresh: dict[str, Any] = {
            "status": Status.PENDING,
            "attempt": attempt,
            "execution_name": execution_name(self.key, attempt),
            "opened_at": now,
            "opened_by": by,
            "opened_for": opened_for,
            "lease_until": now + lease,
            **_OF_ATTEMPT,
        }
        return self.changed(now, **fresh | changes)


#: What belongs to one attempt and is forgotten with it.
_OF_ATTEMPT: dict[str, Any] = {
    "recovered": False,
    "started_at": None,
    "verdict": None,
    "evidence": {},
    "run_id": None,
    "job_type": None,
    "job": {},
    "launched_at": None,
    "job_message": None,
    "job_unseen": False,
    "completed_at": None,
    "post_run_due_at": None,
    "failure": None,
    "retry_at": None,
    "post_run": PostRunState(),
    "late_told": (),
}


def predecessors(run: Run) -> set[tuple[int, Status]]:
    """The attempts and states from which a run may have come to this version, its own among them."""
    attempt = run.attempt - 1 if run.status is Status.PENDING else run.attempt
    before = {(attempt, status) for status, to in TRANSITIONS.items() if run.status in to}
    return {*before, (run.attempt, run.status)}


def execution_name(key: RunKey, attempt: int) -> str:
    """The same for the same attempt, and for no other: starting twice is starting once."""
    name = f"{key.pipeline_id}-{key.schedule_id}-{key.date}"
    if key.dry:
        name += "-dry"
    if attempt:
        name += f"-rerun-{attempt}"
    safe = _UNSAFE.sub("-", name)
    if len(safe) <= _LONGEST_NAME and "-" not in key.schedule_id:
        return safe
    parts: list[Any] = [key.pipeline_id, key.schedule_id, key.date, attempt]
    digest = canonical.content_hash([*parts, "dry"] if key.dry else parts, 8)
    return f"{safe[: _LONGEST_NAME - len(digest) - 1]}-{digest}"


def trial_token(instance: str, key: RunKey, at: datetime) -> str:
    """The token of a trial: as long as an attempt's, and never one, since no hex begins with `test`."""
    facts = [instance, key.pipeline_id, key.schedule_id, key.date, at.isoformat()]
    return f"il-test-{canonical.content_hash(facts, 27)}"


def job_token(instance: str, key: RunKey, attempt: int) -> str:
    """The idempotency token of an attempt, valid on every platform that takes one."""
    facts = [instance, key.pipeline_id, key.schedule_id, key.date, attempt]
    return f"il-{hashlib.sha256(canonical.encode(facts).encode()).hexdigest()[:32]}"
