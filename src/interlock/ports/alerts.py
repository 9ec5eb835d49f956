"""Alerts: deliveries, threads and the sinks behind them."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any, Protocol

from interlock.domain.alerting.deliveries import Answer, Delivery, SinkFigures, Target
from interlock.domain.alerting.handling import Handling
from interlock.domain.alerting.manner import Manner
from interlock.domain.alerting.note import Note
from interlock.domain.alerting.threads import AlertKey, Thread, ThreadKey
from interlock.domain.event import Event


class Deliveries(Protocol):
    """Alerts to be sent: one row for each event, sink and channel.

    A waiting alert is looked at again at its `due_at`: locally by the sender that reads the due rows,
    on AWS because its message returns to the queue.
    """

    def find(self, event: Event, target: Target) -> Delivery | None: ...

    def of_events(self, events: Collection[Event]) -> dict[str, list[Delivery]]:
        """Where these events went, by event id and in the order of targets; for people."""
        ...

    def save(self, delivery: Delivery) -> bool:
        """Store a delivery's next version (the first: if absent). False if another writer was first.

        A held delivery returns at its `due_at`: the sender then has to release its target. One that was
        held and is queued again is treated like a new one.
        """
        ...

    def figures(self) -> dict[str, SinkFigures] | None:
        """By sink; None where the store can't count them. For people."""
        ...

    def held(self, target: Target, until: datetime) -> list[Delivery]:
        """The held deliveries of a target whose mute has ended by that instant, oldest event first."""
        ...


class Threads(Protocol):
    """Conversations. Of two first alerts, one claims the thread; the other waits for its root."""

    def find(self, key: ThreadKey) -> Thread | None: ...

    def of_date(self, pipeline: str, schedule: str, date: str) -> list[Thread]:
        """In every channel that has one, by channel."""
        ...

    def open(self, pipelines: Collection[str], limit: int) -> list[Thread]:
        """Those of these pipelines, and of none, whose date has not recovered, newest first. For people."""
        ...

    def save(self, thread: Thread) -> bool:
        """Store a thread's next version (the first: if absent). False if another writer was first."""
        ...


class Handlings(Protocol):
    """What people did about the alerts of each date."""

    def find(self, key: AlertKey) -> Handling | None:
        """None for an unreadable row too: better alert twice than never."""
        ...

    def of_keys(self, keys: Collection[AlertKey]) -> dict[AlertKey, Handling]:
        """Those that exist; for people."""
        ...

    def save(self, handling: Handling, event: Event | None = None) -> bool:
        """Store the next version (the first: if absent). False if another writer was first.

        The event is claimed with it, in one write: the caller publishes it, or the watchdog does.
        """
        ...


class Paces(Protocol):
    """When each channel accepts its next message: one slot at a time, shared by all senders."""

    def take(self, channel: str, now: datetime, every: timedelta) -> datetime:
        """Take the slot if one is free, and return `now`; otherwise return when to try again."""
        ...

    def block(self, channel: str, until: datetime) -> None:
        """The channel asked for no messages until then. A longer block stays."""
        ...


class Switches(Protocol):
    """Sinks that asked for no more messages. `declared` identifies the sink's settings at that time."""

    def turn_off(self, sink: str, declared: str) -> None: ...

    def is_off(self, sink: str, declared: str) -> bool:
        """Whether it was turned off under its present settings: with other settings it is on again."""
        ...


class AlertRoutes(Protocol):
    """The last valid alerts file."""

    def kept(self) -> Any:
        """What is stored, decoded and not yet believed; None before the first."""
        ...


class AlertStores(Protocol):
    """Everything that is stored about alerts."""

    @property
    def deliveries(self) -> Deliveries: ...
    @property
    def threads(self) -> Threads: ...
    @property
    def handlings(self) -> Handlings: ...
    @property
    def switches(self) -> Switches: ...
    @property
    def alert_routes(self) -> AlertRoutes: ...


class Sink(Protocol):
    """A channel to people. Its answer says what became of a message; an exception counts as a failure."""

    @property
    def manner(self) -> Manner: ...

    def post(self, channel: str, note: Note, thread: str | None) -> Answer:
        """A new message, as a reply when there is a thread."""
        ...

    def update(self, channel: str, receipt: str, note: Note) -> Answer:
        """Replace the text of an earlier message. Only called on sinks with threads."""
        ...
