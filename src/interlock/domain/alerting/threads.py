"""Thread: the alerts of one date in one channel, and the state that its first message shows."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from enum import StrEnum

import msgspec

from interlock.domain import canonical
from interlock.domain.alerting.deliveries import Target
from interlock.domain.event import Event, EventType, Severity

#: How long the sender of the first message has to post it.
ROOT_CLAIM = timedelta(seconds=30)
#: The pipeline of events that have none.
SYSTEM = "_system"


class Phase(StrEnum):
    """The current state of a date. Of two at one instant, the later in this list counts."""

    WAITING = "waiting"
    RUNNING = "running"
    ATTENTION = "attention"
    MISSED = "missed"
    LATE = "late"
    FAILED = "failed"
    DONE = "done"


class ThreadKey(msgspec.Struct, frozen=True):
    """One conversation."""

    pipeline: str
    schedule: str
    date: str
    channel: str


class Thread(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A conversation. Without `thread_ts` its first message is still to be posted."""

    key: ThreadKey
    created_at: datetime
    claim_until: datetime
    #: The sink that reaches its channel.
    sink: str = ""
    claimed_by: str = ""
    thread_ts: str | None = None
    state: Phase | None = None
    state_at: datetime | None = None
    #: The severity of the event behind the state.
    severity: Severity | None = None
    #: The event that opened it, and the latest one.
    first: str = ""
    latest: str = ""
    root_hash: str = ""
    version: int = 1

    def claimed(self, by: str, now: datetime) -> "Thread | None":
        """Claim the first message. None if it is posted, or another sender is about to post it."""
        if self.thread_ts is not None or self.claim_until > now:
            return None
        return self._next(claimed_by=by, claim_until=now + ROOT_CLAIM)

    def rooted(self, receipt: str, face: str) -> "Thread":
        """Its first message is posted, and shows what `face` was then."""
        return self._next(thread_ts=receipt, root_hash=face)

    def unclaimed(self, now: datetime) -> "Thread":
        """There is no first message: the next sender posts one."""
        return self._next(thread_ts=None, root_hash="", claim_until=now)

    def shown(self) -> "Thread":
        """Its first message is up to date."""
        return self._next(root_hash=self.face)

    @property
    def target(self) -> Target:
        place = self.key.channel
        return Target(self.sink) if place == self.sink else Target(self.sink, place)

    @property
    def is_stale(self) -> bool:
        """Whether its first message is out of date."""
        return self.thread_ts is not None and self.root_hash != self.face

    @property
    def face(self) -> str:
        """A digest of what its first message shows: a different face is a different text."""
        return canonical.content_hash((self.state, self.severity, self.latest, self.first), 16)

    def moved(self, event: Event) -> "Thread":
        """The state after this event, by the time at which it happened; unchanged if that changes nothing."""
        phase = _phase(event)
        if phase is None or _rank(event.timestamp, phase) <= _rank(self.state_at, self.state):
            return self
        return self._next(
            state=phase,
            state_at=event.timestamp,
            severity=event.severity,
            latest=event.message,
        )

    def _next(self, **changes: object) -> "Thread":
        return msgspec.structs.replace(self, version=self.version + 1, **changes)


def thread_key(event: Event, place: str) -> ThreadKey:
    """One conversation per pipeline, schedule and date; without a date, per type and day."""
    day = event.date or f"{event.timestamp:%Y-%m-%d}"
    schedule = (event.schedule_id or "-") if event.date else event.type
    return ThreadKey(event.pipeline_id or SYSTEM, schedule, day, place)


def opened(event: Event, target: Target, now: datetime, told: Iterable[Event] = ()) -> Thread:
    """A thread for this alert, in the state that the events of its date lead to."""
    thread = Thread(
        key=thread_key(event, target.place),
        sink=target.sink,
        created_at=now,
        claim_until=now,
        first=event.message,
    )
    for each in (event, *told):
        thread = thread.moved(each)
    return msgspec.structs.replace(thread, version=1)


def _phase(event: Event) -> Phase | None:
    if event.type is EventType.INFRA_ALARM and event.severity is Severity.INFO:
        return Phase.DONE  # the alarm is over
    return PHASES.get(event.type)


def _rank(at: datetime | None, phase: Phase | None) -> tuple[datetime, int]:
    if at is None or phase is None:
        return _NEVER, -1
    return at, list(Phase).index(phase)


_NEVER = datetime.min.replace(tzinfo=UTC)


_E = EventType

#: The phase that each type leads to; the others change nothing.
PHASES: dict[EventType, Phase] = {
    _E.TRIGGER_STARTED: Phase.WAITING,
    _E.RERUN_ACCEPTED: Phase.WAITING,
    _E.TRIGGER_RECOVERED: Phase.WAITING,
    _E.JOB_TRIGGERED: Phase.RUNNING,
    _E.VALIDATION_EXHAUSTED: Phase.FAILED,
    _E.JOB_FAILED: Phase.FAILED,
    _E.JOB_POLL_EXHAUSTED: Phase.FAILED,
    _E.RETRY_EXHAUSTED: Phase.FAILED,
    _E.INFRA_FAILURE: Phase.FAILED,
    _E.SFN_TIMEOUT: Phase.FAILED,
    _E.POST_RUN_FAILED: Phase.FAILED,
    _E.SLA_WARNING: Phase.LATE,
    _E.SLA_BREACH: Phase.LATE,
    _E.RELATIVE_SLA_WARNING: Phase.LATE,
    _E.RELATIVE_SLA_BREACH: Phase.LATE,
    _E.READINESS_MISSED: Phase.LATE,
    _E.SCHEDULE_MISSED: Phase.MISSED,
    _E.IRREGULAR_SCHEDULE_MISSED: Phase.MISSED,
    _E.SENSOR_DEADLINE_EXPIRED: Phase.MISSED,
    _E.POST_RUN_DRIFT: Phase.ATTENTION,
    _E.POST_RUN_DRIFT_INFLIGHT: Phase.ATTENTION,
    _E.POST_RUN_SENSOR_MISSING: Phase.ATTENTION,
    _E.BASELINE_CAPTURE_FAILED: Phase.ATTENTION,
    _E.LATE_DATA_ARRIVAL: Phase.ATTENTION,
    _E.DEADLINE_UNKNOWN: Phase.ATTENTION,
    _E.RERUN_REJECTED: Phase.ATTENTION,
    _E.SENSOR_REJECTED: Phase.ATTENTION,
    _E.CONFIG_REJECTED: Phase.ATTENTION,
    _E.CONFIG_MISSING: Phase.ATTENTION,
    _E.INFRA_ALARM: Phase.ATTENTION,
    _E.WATCHDOG_DEGRADED: Phase.ATTENTION,
    _E.WATCHDOG_RECOVERED: Phase.ATTENTION,
    _E.ALERT_UNDELIVERED: Phase.ATTENTION,
    _E.ROW_UNREADABLE: Phase.ATTENTION,
    _E.JOB_COMPLETED: Phase.DONE,
    _E.SLA_MET: Phase.DONE,
    _E.POST_RUN_PASSED: Phase.DONE,
}
