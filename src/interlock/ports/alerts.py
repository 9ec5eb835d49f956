"""Alerts: deliveries, threads and the sinks behind them."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Protocol

from interlock.domain.alerting.deliveries import Answer, Delivery, Target
from interlock.domain.alerting.manner import Manner
from interlock.domain.alerting.note import Note
from interlock.domain.alerting.threads import Thread, ThreadKey
from interlock.domain.event import Event


class Deliveries(Protocol):
    """Alerts on their way: one row for each event, sink and channel.

    An alert that waits is looked at again when its `due_at` has come: locally by whoever reads the due
    rows, elsewhere because its message comes back to the queue.
    """

    def find(self, event: Event, target: Target) -> Delivery | None: ...

    def of_events(self, events: Collection[Event]) -> dict[str, list[Delivery]]:
        """Where these events went, by event id and in the order of targets; for people."""
        ...

    def save(self, delivery: Delivery) -> bool:
        """Store a delivery's next version (the first: if absent). False if somebody was first.

        A held one comes back at its `due_at`: whoever sends is then told to release its target. One
        that was held and is queued again is looked at like a new one.
        """
        ...

    def held(self, target: Target, until: datetime) -> list[Delivery]:
        """The held ones of a target whose mute has ended by that instant, oldest event first."""
        ...


class Threads(Protocol):
    """Conversations. Of two first alerts one claims the thread; the other waits for its root."""

    def find(self, key: ThreadKey) -> Thread | None: ...

    def of_date(self, pipeline: str, schedule: str, date: str) -> list[Thread]:
        """In every channel that has one, by channel."""
        ...

    def save(self, thread: Thread) -> bool:
        """Store a thread's next version (the first: if absent). False if somebody was first."""
        ...


class Paces(Protocol):
    """When each channel takes its next message: one slot at a time, shared by all senders."""

    def take(self, channel: str, now: datetime, every: timedelta) -> datetime:
        """Take the slot if there is one now: the answer is `now`. Else when to come again."""
        ...

    def block(self, channel: str, until: datetime) -> None:
        """The channel asked to be left alone until then. A longer block stays."""
        ...


class Switches(Protocol):
    """Sinks that asked for no more messages. `declared` names what the sink's settings were then."""

    def turn_off(self, sink: str, declared: str) -> None: ...

    def is_off(self, sink: str, declared: str) -> bool:
        """Whether it was turned off as it is declared now: with other settings it is on again."""
        ...


class Sink(Protocol):
    """A way to people. It says what became of a message; what it raises counts as a failure."""

    @property
    def manner(self) -> Manner: ...

    def post(self, channel: str, note: Note, thread: str | None) -> Answer:
        """A new message, as a reply when there is a thread."""
        ...

    def update(self, channel: str, receipt: str, note: Note) -> Answer:
        """Make an earlier message say this. Only sinks with threads are asked to."""
        ...
