"""Run: one date of one schedule of one pipeline. Lock and state in one row.

Every change is made by `to` or `changed`, which raise the version by one; stores write a version only
over the one before it. The table TRANSITIONS alone defines the legal moves.
"""

import hashlib
import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any, Self

import msgspec

from interlock.domain import canonical
from interlock.domain.budgets import Category, Spending
from interlock.domain.deadline import SlaVerdict
from interlock.domain.partition import Label
from interlock.errors import TransitionError

#: How long past the execution's own timeout an attempt may still be finishing.
LEASE_MARGIN = timedelta(minutes=30)
EXECUTION_TIMEOUT = timedelta(hours=4)

#: The limit of versions and attempts; no store can count beyond it.
Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]

_LONGEST_NAME = 80
_UNSAFE = re.compile(r"[^0-9A-Za-z_.-]")


class Status(StrEnum):
    """The status of a run."""

    PENDING = "PENDING"
    TRIGGERING = "TRIGGERING"
    RUNNING = "RUNNING"
    FAILED = "FAILED"
    COMPLETED = "COMPLETED"
    FAILED_FINAL = "FAILED_FINAL"
    #: An operator said that the date need not run.
    SKIPPED = "SKIPPED"
    #: A row that this version can't read. Never stored; only returned by stores.
    UNREADABLE = "UNREADABLE"


#: What lists and counters call a failed run whose next attempt is already due.
RETRYING = "RETRYING"

OPEN = frozenset({Status.PENDING, Status.TRIGGERING, Status.RUNNING})
FINAL = frozenset({Status.COMPLETED, Status.FAILED_FINAL, Status.SKIPPED})

_BY_ITSELF: dict[Status, frozenset[Status]] = {
    Status.PENDING: frozenset({Status.TRIGGERING, Status.FAILED, Status.FAILED_FINAL}),
    Status.TRIGGERING: frozenset({Status.RUNNING, Status.FAILED, Status.FAILED_FINAL}),
    Status.RUNNING: frozenset({Status.COMPLETED, Status.FAILED, Status.FAILED_FINAL}),
    Status.FAILED: frozenset({Status.PENDING, Status.FAILED_FINAL}),
    Status.COMPLETED: frozenset({Status.PENDING}),
    Status.FAILED_FINAL: frozenset({Status.PENDING}),
    Status.SKIPPED: frozenset({Status.PENDING}),
    Status.UNREADABLE: frozenset(),
}

#: The moves that only a person makes: skip a date, complete one without a job, take a completion back. The
#: run then says who, and no job of it is running.
BY_HAND: dict[Status, frozenset[Status]] = {
    Status.PENDING: frozenset({Status.SKIPPED, Status.COMPLETED}),
    Status.FAILED: frozenset({Status.SKIPPED, Status.COMPLETED}),
    Status.COMPLETED: frozenset({Status.FAILED_FINAL}),
    Status.FAILED_FINAL: frozenset({Status.SKIPPED, Status.COMPLETED}),
    Status.SKIPPED: frozenset({Status.COMPLETED}),
}

#: From where to where. PENDING is entered only with a new attempt.
TRANSITIONS: dict[Status, frozenset[Status]] = {
    status: to | BY_HAND.get(status, frozenset()) for status, to in _BY_ITSELF.items()
}


class EngineState(StrEnum):
    """What the engine says about an execution."""

    RUNNING = "running"
    ENDED = "ended"
    ABSENT = "absent"


class OpenedBy(StrEnum):
    """What opened an attempt."""

    SENSOR = "sensor"
    CRON = "cron"
    RERUN = "rerun"
    RETRY = "retry"
    RECOVERY = "recovery"
    CASCADE = "cascade"
    OPERATOR = "operator"
    #: Not recorded in the row: see `finished_run` and `unreadable_run`.
    UNKNOWN = "unknown"


class DeadlineKind(StrEnum):
    """The instants of a date: the two of each deadline, and the one by which its rules must hold."""

    WARNING = "warning"
    BREACH = "breach"
    RELATIVE_WARNING = "rel-warning"
    RELATIVE_BREACH = "rel-breach"
    READINESS = "readiness"


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
    """Why an attempt failed. `reason` is a stable word: job, stopped, window, launch, ..."""

    reason: str
    message: str
    category: Category | None = None


class RuleRecord(msgspec.Struct, frozen=True, rename="camel"):
    """The result of a rule at a recorded evaluation, and since when."""

    key: str
    check: str
    field: str | None = None
    expected: Any = None
    actual: Any = None
    kind: str | None = None
    since: datetime | None = None
    #: The value of the other field, or of the previous date, that `actual` was compared with.
    against: Any = None
    #: The group that the rule belongs to, such as `anyOf[1]`: the second entry of the rules.
    group: str | None = None
    stable_for: str | None = None


class Judgement(msgspec.Struct, frozen=True, rename="camel"):
    """The last evaluation of the rules, stored so that `why` can explain it."""

    at: datetime
    ready: bool
    results: tuple[RuleRecord, ...]
    evaluations: int = 1


class PostRunState(msgspec.Struct, frozen=True, rename="camel"):
    """The state of this attempt's post-run readings."""

    outcome: str | None = None
    n: int = 0
    seen: dict[str, datetime] = {}
    told: tuple[str, ...] = ()
    missing_judged: bool = False


class Skip(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Who said that a date need not run, when and why."""

    by: str
    at: datetime
    reason: str
    #: Whether the date had no run before: then undoing it removes the row.
    created: bool = False

    def __str__(self) -> str:
        return f"skipped{f' by {self.by}' if self.by else ''}: {self.reason}"


class MarkedAs(StrEnum):
    """The outcome that a person may state."""

    DONE = "done"
    FAILED = "failed"


class OutcomeMark(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The outcome of a run as a person stated it: who, when, why, and what they know."""

    outcome: MarkedAs
    by: str
    at: datetime
    reason: str
    evidence: dict[str, str] = {}

    def __str__(self) -> str:
        return f"marked {self.outcome}{f' by {self.by}' if self.by else ''}: {self.reason}"


class Run(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A run as it is stored."""

    key: RunKey
    status: Status = Status.PENDING
    version: Number = 1
    attempt: Number = 0
    execution_name: str
    #: How many executions this attempt has had: another one continues where one failed.
    executions: int = 1
    opened_at: datetime
    opened_by: OpenedBy
    opened_for: str = ""
    #: The request that opened a date without a run; kept to recognise a repeat of it.
    first_request: str | None = None
    #: The backfill that asked for its last rerun; retries keep it.
    backfill: str | None = None
    changed_at: datetime
    recovered: bool = False
    started_at: datetime | None = None
    lease_until: datetime
    config_hash: str = ""
    trigger_version: str | None = None
    first_sensor_at: datetime | None = None
    verdict: Judgement | None = None
    evidence: dict[str, Evidence] = {}
    #: When its rules held last and no place was free for its job, and behind which runs it waits.
    waits_at: datetime | None = None
    waits_for: tuple[RunKey, ...] = ()
    #: How often a long wait continued in another execution, and since when.
    handovers: int = 0
    handed_over_at: datetime | None = None
    run_id: str | None = None
    job_type: str | None = None
    job: dict[str, Any] = {}
    launched_at: datetime | None = None
    job_message: str | None = None
    job_unseen: bool = False
    #: Since when its job can't be asked about a deadline that has passed.
    unasked_since: datetime | None = None
    completed_at: datetime | None = None
    #: Whether downstream pipelines still wait for its completion.
    cascading: bool = False
    post_run_due_at: datetime | None = None
    #: When its post-run rules are judged next without a reading, or their window ends.
    post_run_look_at: datetime | None = None
    failure: Failure | None = None
    retry_at: datetime | None = None
    infra_retries: int = 0
    spending: Spending = Spending()
    warning_at: datetime | None = None
    breach_at: datetime | None = None
    relative_warning_at: datetime | None = None
    relative_breach_at: datetime | None = None
    readiness_at: datetime | None = None
    #: When the rules of this date first held, in whichever attempt.
    ready_at: datetime | None = None
    sla_armed: dict[DeadlineKind, datetime] = {}
    sla_told: tuple[DeadlineKind, ...] = ()
    sla_verdict: SlaVerdict | None = None
    post_run: PostRunState = PostRunState()
    late_told: tuple[str, ...] = ()
    #: What an operator said about this attempt.
    skip: Skip | None = None
    mark: OutcomeMark | None = None

    @property
    def is_open(self) -> bool:
        return self.status in OPEN

    @property
    def is_bare(self) -> bool:
        """Whether its row says only how the date ended: what its job saw is not recorded."""
        return self.opened_by is OpenedBy.UNKNOWN

    @property
    def is_placeholder(self) -> bool:
        """Whether a skip made its row: then it is no sign that dates of its kind run."""
        skip = self.skip
        return self.status is Status.SKIPPED and skip is not None and skip.created

    @property
    def awaits_retry(self) -> bool:
        """Whether this attempt failed and the next one is already due at `retry_at`."""
        return self.status is Status.FAILED and self.retry_at is not None

    @property
    def state(self) -> str:
        """Its status as people see it: a failed run whose next attempt is due is retrying."""
        return RETRYING if self.awaits_retry else str(self.status)

    @property
    def has_given_up(self) -> bool:
        """Whether it failed, and no retry is due."""
        failed = self.status in (Status.FAILED, Status.FAILED_FINAL)
        return failed and not self.awaits_retry

    @property
    def is_unfinished(self) -> bool:
        """Whether it completed and what follows from that is not done: the cascade, the SLA verdict."""
        has_deadline = self.breach_at is not None or self.relative_breach_at is not None
        unsettled = has_deadline and self.sla_verdict is None and not self.key.dry
        return self.status is Status.COMPLETED and (self.cascading or unsettled)

    def changed(self, now: datetime, **changes: Any) -> Self:
        """The next version, in the same state."""
        return msgspec.structs.replace(self, version=self.version + 1, changed_at=now, **changes)

    def to(self, status: Status, now: datetime, **changes: Any) -> Self:
        """The next version, in another state. Raises TransitionError for an illegal move, so none is ever
        written.
        """
        if status not in TRANSITIONS[self.status]:
            raise TransitionError(f"{self.key}: {self.status} does not lead to {status}")
        if status is Status.PENDING:
            raise TransitionError(f"{self.key}: only a new attempt is PENDING")
        said = changes.get("skip") or changes.get("mark")
        if status in BY_HAND.get(self.status, ()) and said is None:
            raise TransitionError(
                f"{self.key}: only a person leads it from {self.status} to {status}"
            )
        return self.changed(now, status=status, **changes)

    def resumed(self, now: datetime, lease: timedelta) -> Self:
        """The next version, under the name of a further execution of this attempt. It continues under the
        lease of the attempt, or gets a new one if that is over.
        """
        number = self.executions + 1
        name = execution_name(self.key, self.attempt, number, self.handovers)
        until = now + lease if now > self.lease_until else self.lease_until
        return self.changed(now, executions=number, execution_name=name, lease_until=until)

    def handed_over(self, now: datetime, lease: timedelta) -> Self:
        """This version, with its attempt continuing in the next execution."""
        number = self.handovers + 1
        return msgspec.structs.replace(
            self,
            handovers=number,
            handed_over_at=now,
            execution_name=execution_name(self.key, self.attempt, self.executions, number),
            started_at=None,
            lease_until=now + lease,
        )

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


#: What belongs to one attempt and is reset with the next.
_OF_ATTEMPT: dict[str, Any] = {
    "executions": 1,
    "recovered": False,
    "started_at": None,
    "verdict": None,
    "evidence": {},
    "waits_at": None,
    "waits_for": (),
    "handovers": 0,
    "handed_over_at": None,
    "run_id": None,
    "job_type": None,
    "job": {},
    "launched_at": None,
    "job_message": None,
    "job_unseen": False,
    "unasked_since": None,
    "completed_at": None,
    "cascading": False,
    "post_run_due_at": None,
    "post_run_look_at": None,
    "failure": None,
    "retry_at": None,
    "post_run": PostRunState(),
    "late_told": (),
    "skip": None,
    "mark": None,
}


def finished_run(key: RunKey, status: Status, version: int, attempt: int, **said: Any) -> Run:
    """A finished run whose row says little more than its status. Raises ValueError for another status,
    or for a key whose date is not in the calendar. A skip names its operator, so its row is never sparse.

    A time missing from the row is its nominal one.
    """
    if status not in (Status.COMPLETED, Status.FAILED_FINAL):
        raise ValueError(f"a row with status {status} must also name its execution")
    return _bare_run(key, status=status, version=version, attempt=attempt, **said)


def unreadable_run(key: RunKey, problem: str) -> Run:
    """Represents an unreadable row: its date is taken, and nothing more is known."""
    failure = Failure("unreadable", problem)
    return _bare_run(key, status=Status.UNREADABLE, version=0, attempt=0, failure=failure)


def nominal_time(key: RunKey) -> datetime:
    """The substitute for a time missing from a row: the start of its date, in UTC. Raises ValueError for a
    date that is not in the calendar.
    """
    return Label.parse(key.date).wall.replace(tzinfo=UTC)


def _bare_run(key: RunKey, **said: Any) -> Run:
    begins = nominal_time(key)
    plain: dict[str, Any] = {
        "execution_name": execution_name(key, said["attempt"]),
        "opened_at": begins,
        "changed_at": begins,
        "lease_until": begins,
    }
    return Run(key=key, opened_by=OpenedBy.UNKNOWN, **plain | said)


def predecessors(run: Run) -> set[tuple[int, Status]]:
    """The attempts and states from which a run may have come to this version, its own among them."""
    attempt = run.attempt - 1 if run.status is Status.PENDING else run.attempt
    before = {(attempt, status) for status, to in TRANSITIONS.items() if run.status in to}
    return {*before, (run.attempt, run.status)}


def execution_name(key: RunKey, attempt: int, number: int = 1, handover: int = 0) -> str:
    """Unique to one execution of an attempt: starting it again has no effect."""
    name = f"{key.pipeline_id}-{key.schedule_id}-{key.date}"
    if key.dry:
        name += "-dry"
    if attempt:
        name += f"-rerun-{attempt}"
    if handover:
        name += f"-wait-{handover}"
    if number > 1:
        name += f"-again-{number}"
    safe = _UNSAFE.sub("-", name)
    if len(safe) <= _LONGEST_NAME and "-" not in key.schedule_id:
        return safe
    parts: list[Any] = [key.pipeline_id, key.schedule_id, key.date, attempt]
    parts += ["dry"] * key.dry + [number] * (number > 1) + [f"wait-{handover}"] * (handover > 0)
    digest = canonical.content_hash(parts, 8)
    return f"{safe[: _LONGEST_NAME - len(digest) - 1]}-{digest}"


def trial_token(instance: str, key: RunKey, at: datetime) -> str:
    """The token of a trial: as long as an attempt's, and never one, since no hex begins with `test`."""
    facts = [instance, key.pipeline_id, key.schedule_id, key.date, at.isoformat()]
    return f"il-test-{canonical.content_hash(facts, 27)}"


def job_token(instance: str, key: RunKey, attempt: int) -> str:
    """The idempotency token of an attempt, valid on every platform that accepts one."""
    facts = [instance, key.pipeline_id, key.schedule_id, key.date, attempt]
    return f"il-{hashlib.sha256(canonical.encode(facts).encode()).hexdigest()[:32]}"
