"""Thread: the alerts of one date in one channel, and the state that its first message shows."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from interlock.domain import canonical
from interlock.domain.alerting.deliveries import Target
from interlock.domain.event import Event, EventType, Phase, Severity, is_told_elsewhere
from interlock.domain.run import MarkedAs, RunKey

#: How long a sender has to post the first message.
ROOT_CLAIM = timedelta(seconds=30)
#: The pipeline of events that have none.
SYSTEM = "_system"


class AlertKey(msgspec.Struct, frozen=True, order=True):
    """The alerts of one date, in every channel; of events without a date, those of one type and day."""

    pipeline: str
    schedule: str
    date: str

    def __str__(self) -> str:
        return f"{self.pipeline}/{self.schedule}/{self.date}"

    @property
    def run(self) -> RunKey | None:
        """The run that they are about; None if they have no date."""
        is_dated = self.pipeline != SYSTEM and self.schedule not in tuple(EventType)
        return RunKey(self.pipeline, self.schedule, self.date) if is_dated else None


class ThreadKey(msgspec.Struct, frozen=True):
    """One conversation."""

    pipeline: str
    schedule: str
    date: str
    channel: str

    @property
    def alert(self) -> AlertKey:
        return AlertKey(self.pipeline, self.schedule, self.date)


class Thread(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A conversation. Without `thread_ts` its first message is still to be posted."""

    key: ThreadKey
    created_at: datetime
    claim_until: datetime
    #: The sink of its channel.
    sink: str = ""
    claimed_by: str = ""
    thread_ts: str | None = None
    state: Phase | None = None
    state_at: datetime | None = None
    #: The severity of the event that set the state.
    severity: Severity | None = None
    #: The event that opened it, and the latest one.
    first: str = ""
    latest: str = ""
    root_hash: str = ""
    #: What people did about it.
    handled: str = ""
    version: int = 1

    def claimed(self, by: str, now: datetime) -> "Thread | None":
        """The right to post the first message. None if it is posted, or another sender is about to."""
        if self.thread_ts is not None or self.claim_until > now:
            return None
        return self._next(claimed_by=by, claim_until=now + ROOT_CLAIM)

    def rooted(self, receipt: str, face: str) -> "Thread":
        """Its first message is posted, and shows `face` as it was then."""
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
        """A digest of what its first message shows: another face is another text."""
        shown = (self.state, self.severity, self.latest, self.first)
        return canonical.content_hash((*shown, self.handled) if self.handled else shown, 16)

    def moved(self, event: Event) -> "Thread":
        """The state after this event, by the time at which it happened; unchanged if that changes nothing."""
        phase = phase_of(event)
        if phase is None or _rank(event.timestamp, phase) <= _rank(self.state_at, self.state):
            return self
        return self._next(
            state=phase,
            state_at=event.timestamp,
            severity=event.severity,
            latest=event.message,
        )

    def after(self, event: Event, handled: str) -> "Thread":
        """The next version: the state after this event, and what people did about it by now."""
        moved = self.moved(event)
        return moved if self.handled == handled else _noted(moved, handled, self.version + 1)

    def _next(self, **changes: object) -> "Thread":
        return msgspec.structs.replace(self, version=self.version + 1, **changes)


def _noted(thread: Thread, handled: str, version: int) -> Thread:
    return msgspec.structs.replace(thread, handled=handled, version=version)


def alert_key(event: Event) -> AlertKey:
    """One per pipeline, schedule and date; without a date, per type and day. What people did about alerts
    without a date says which they are.
    """
    pipeline = event.pipeline_id or SYSTEM
    if event.date:
        return AlertKey(pipeline, event.schedule_id or "-", event.date)
    kind, _, day = str(event.detail.get("alerts", "")).partition(" ")
    if kind in tuple(EventType) and day:
        return AlertKey(pipeline, kind, day)
    return AlertKey(pipeline, event.type, f"{event.timestamp:%Y-%m-%d}")


def thread_key(event: Event, place: str) -> ThreadKey:
    """One conversation per channel."""
    key = alert_key(event)
    return ThreadKey(key.pipeline, key.schedule, key.date, place)


def opened(event: Event, target: Target, now: datetime, told: Iterable[Event] = ()) -> Thread:
    """A thread for this alert, in the state that follows from all events of its date."""
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


def phase_now(told: Iterable[Event]) -> Phase | None:
    """The state that follows from all events of a date; None if none of them says."""
    latest, found = _rank(None, None), None
    for event in told:
        phase = phase_of(event)
        rank = _rank(event.timestamp, phase)
        if phase is not None and rank > latest:
            latest, found = rank, phase
    return found


def phase_of(event: Event) -> Phase | None:
    """What its date is like once it has happened; None: as before."""
    if event.type is EventType.INFRA_ALARM and event.severity is Severity.INFO:
        return Phase.DONE  # the alarm is over
    if event.type is EventType.RUN_MARKED and event.detail.get("outcome") == MarkedAs.FAILED:
        return Phase.FAILED
    if event.type is EventType.RERUN_REJECTED and is_told_elsewhere(event):
        return None  # the date is as it was before the request
    return event.type.spec.phase


def _rank(at: datetime | None, phase: Phase | None) -> tuple[datetime, int]:
    if at is None or phase is None:
        return _NEVER, -1
    return at, list(Phase).index(phase)


_NEVER = datetime.min.replace(tzinfo=UTC)
