"""Delivery: an alert for one channel of one sink, and what the sink answers.

A delivery is a row with a version: the sender that stores its next version first owns it. Every step that
may be repeated finds in it what was already done.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

import msgspec

from interlock.domain.event import Event, Severity

#: How long one sender holds an alert exclusively.
CLAIM = timedelta(seconds=60)
#: The channel of sinks that have only one.
NO_CHANNEL = "-"


class Target(msgspec.Struct, frozen=True, order=True):
    """One channel of one sink."""

    sink: str
    channel: str = NO_CHANNEL

    def __str__(self) -> str:
        return self.sink if self.channel == NO_CHANNEL else f"{self.sink} {self.channel}"

    @property
    def place(self) -> str:
        """What distinguishes it from other targets: the channel, or the sink if it has only one."""
        return self.sink if self.channel == NO_CHANNEL else self.channel


class DeliveryState(StrEnum):
    """The state of an alert. Sent, dead and cancelled ones are settled; one given up still has to be
    reported. An escalation waits, and is cancelled if people act in time.
    """

    WAITING = "waiting"
    QUEUED = "queued"
    SENDING = "sending"
    HELD = "held"
    GIVEN_UP = "given_up"
    SENT = "sent"
    DEAD = "dead"
    CANCELLED = "cancelled"


_DUE = (
    DeliveryState.WAITING,
    DeliveryState.QUEUED,
    DeliveryState.SENDING,
    DeliveryState.GIVEN_UP,
)
_SETTLED = (DeliveryState.SENT, DeliveryState.DEAD, DeliveryState.CANCELLED)


class Delivery(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One event for one target.

    `due_at` is when it is looked at again: the next try, the end of a claim or of a mute. For a settled
    delivery, it is when it was settled.
    """

    event: Event
    target: Target
    due_at: datetime
    state: DeliveryState = DeliveryState.QUEUED
    tries: int = 0
    error: str | None = None
    #: The sink's id of the message, once it is posted.
    receipt: str | None = None
    #: It only updates the thread's first message, and posts none.
    quiet: bool = False
    #: It was held by a mute and is sent alone, not in a digest.
    released: bool = False
    #: What its reader must know besides the event, such as why it was sent here.
    note: str = ""
    #: For an escalation: after how long without an acknowledgement it is sent, such as `30m`.
    escalates: str = ""
    version: int = 1

    @property
    def is_settled(self) -> bool:
        return self.state in _SETTLED

    @property
    def is_critical(self) -> bool:
        return self.event.severity is Severity.CRITICAL

    @property
    def needs_post(self) -> bool:
        return not self.quiet and self.receipt is None

    def is_due(self, now: datetime) -> bool:
        return self.state in _DUE and self.due_at <= now

    def claimed(self, now: datetime) -> "Delivery":
        return self._next(DeliveryState.SENDING, now + CLAIM)

    def posted(self, receipt: str) -> "Delivery":
        """The message is posted; the thread's first message does not show it yet."""
        return self._next(self.state, self.due_at, receipt=receipt)

    def sent(self, now: datetime, receipt: str | None = None) -> "Delivery":
        return self._next(DeliveryState.SENT, now, receipt=receipt or self.receipt, error=None)

    def postponed(self, until: datetime) -> "Delivery":
        """It waits for its thread or for a slot, which does not count as a try."""
        return self._next(DeliveryState.QUEUED, until)

    def failed(self, error: str, now: datetime, delays: Sequence[timedelta]) -> "Delivery":
        """One more try is used up; after the last it is given up."""
        tries = self.tries + 1
        if tries > len(delays):
            return self.given_up(error, now)
        return self._next(DeliveryState.QUEUED, now + delays[tries - 1], tries=tries, error=error)

    def given_up(self, error: str, now: datetime) -> "Delivery":
        """No further tries; an event reports it next, with this instant however often it is repeated."""
        return self._next(DeliveryState.GIVEN_UP, now, tries=self.tries + 1, error=error)

    def told_later(self, until: datetime) -> "Delivery":
        """The event that it was given up can't be published now."""
        return self._next(DeliveryState.GIVEN_UP, until)

    def waits(self, until: datetime) -> "Delivery":
        """An escalation that is not due yet."""
        return self._next(DeliveryState.WAITING, until)

    def cancelled(self, now: datetime, why: str) -> "Delivery":
        """It is not needed any more."""
        return self._next(DeliveryState.CANCELLED, now, error=why)

    def dead(self, now: datetime, error: str | None = None) -> "Delivery":
        return self._next(DeliveryState.DEAD, now, error=error or self.error)

    def held(self, until: datetime) -> "Delivery":
        return self._next(DeliveryState.HELD, until)

    def freed(self, now: datetime) -> "Delivery":
        """Its mute is over, and it is queued."""
        return self._next(DeliveryState.QUEUED, now, released=True)

    def _next(self, state: DeliveryState, due_at: datetime, **changes: object) -> "Delivery":
        return msgspec.structs.replace(
            self, state=state, due_at=due_at, version=self.version + 1, **changes
        )


class SinkFigures(msgspec.Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """How many alerts of a sink are in which state, and how its last ones went."""

    queued: int = 0
    #: Escalations that are not due yet.
    waiting: int = 0
    held: int = 0
    dead: int = 0
    sent_at: datetime | None = None
    failed_at: datetime | None = None
    error: str | None = None


# --- what a sink answers --------------------------------------------------------------------------


class Posted(msgspec.Struct, frozen=True):
    """The message is posted, under this id."""

    receipt: str


class TryLater(msgspec.Struct, frozen=True):
    """The channel asks for no messages for this long. It does not count as a try."""

    after: timedelta


class SendFailed(msgspec.Struct, frozen=True):
    """Trying again may work; `unreachable` when the next message would fail as well."""

    error: str
    unreachable: bool = False


class NoThread(msgspec.Struct, frozen=True):
    """The message to reply to or change no longer exists."""

    error: str


class NoChannel(msgspec.Struct, frozen=True):
    """The channel does not exist, or we have no access to it."""

    error: str


class NoAccess(msgspec.Struct, frozen=True):
    """The sink rejects our credentials: no message would arrive."""

    error: str


class SinkGone(msgspec.Struct, frozen=True):
    """The sink accepts no more messages, ever."""

    error: str


Answer = Posted | TryLater | SendFailed | NoThread | NoChannel | NoAccess | SinkGone
