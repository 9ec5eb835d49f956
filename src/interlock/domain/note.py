"""Note: what a message to people is about, before any sink gives it a form."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import msgspec

from interlock.domain.event import Event, Severity
from interlock.domain.thread import Thread


class AlertNote(msgspec.Struct, frozen=True):
    """One event. `note` is what its reader must know beside it, such as why it came here."""

    event: Event
    note: str = ""


class RootNote(msgspec.Struct, frozen=True):
    """The first message of a thread: what its date is like now, and the alert that opened it."""

    thread: Thread
    event: Event
    #: Whether the alert is told with all its details: only while nothing else has happened.
    is_first: bool = False
    note: str = ""


class DigestNote(msgspec.Struct, frozen=True):
    """Many alerts that were due at once, in one message."""

    events: tuple[Event, ...]


class SummaryNote(msgspec.Struct, frozen=True):
    """What a mute held back: what is still open, and what recovered meanwhile."""

    until: datetime
    open: tuple[Event, ...]
    recovered: tuple[Event, ...]


class TrialNote(msgspec.Struct, frozen=True):
    """Somebody wants to see whether messages arrive."""

    text: str
    at: datetime


Note = AlertNote | RootNote | DigestNote | SummaryNote | TrialNote

_SEVEREST_FIRST = tuple(reversed(Severity))


def severest(events: Sequence[Event]) -> Severity:
    return max((event.severity for event in events), key=list(Severity).index)


def counts(events: Sequence[Event]) -> str:
    """How many of each severity and type, the severest first: `2 error SLA_BREACH, 1 warning ...`."""
    found = Counter((event.severity, event.type) for event in events)
    in_order = sorted(found, key=lambda pair: (_SEVEREST_FIRST.index(pair[0]), pair[1]))
    return ", ".join(f"{found[pair]} {pair[0]} {pair[1]}" for pair in in_order)
