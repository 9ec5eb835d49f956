"""Feed: follows the events table with one bounded look after another.

No index has the events in order of publication, so each look reads the newest of every type, reaching a
little further back than the last look: an event may be published some time after its instant.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from itertools import count

from interlock.adapters.aws.events import EventLog
from interlock.adapters.aws.parallel_reads import Fan
from interlock.adapters.aws.rows import millis
from interlock.domain.event import Event, EventType
from interlock.domain.history import LoggedEvent
from interlock.ports.engine import Clock

#: How far back a look reaches; every few looks reach further.
REACH = timedelta(minutes=2)
FAR_REACH = timedelta(minutes=15)
_FAR_EVERY = 12
#: The most events of one type per look, and in memory.
_OF_A_TYPE = 500
_MOST = 5_000
#: Positions per millisecond.
_STEP = 1_000


class DynamoFeed:
    """One thread looks; any thread may read what it found."""

    def __init__(self, log: EventLog, fan: Fan, clock: Clock) -> None:
        self._log = log
        self._fan = fan
        self._clock = clock
        self._looks = count()
        self._seen: dict[str, datetime] = {}
        self._told: tuple[LoggedEvent, ...] = ()
        self._oldest = self._last = 0
        self._changes = 0

    def look(self) -> None:
        """Raises UnavailableError or TransientError; the next look then finds what this one missed."""
        number, now = next(self._looks), self._clock()
        found = self._newest(now - (REACH if number % _FAR_EVERY else FAR_REACH))
        fresh = sorted(
            (event for event in found if event.event_id not in self._seen),
            key=lambda event: (event.timestamp, event.event_id),
        )
        if not self._last:
            self._begin(fresh, now)
        else:
            self._add(fresh, max(self._last + 1, millis(now) * _STEP))
        self._seen |= {event.event_id: event.timestamp for event in fresh}
        old = now - 2 * FAR_REACH
        self._seen = {name: at for name, at in self._seen.items() if at >= old}

    def changes(self) -> int:
        return self._changes

    def oldest(self) -> int:
        return self._oldest

    def last(self) -> int:
        return self._last

    def after(self, seq: int, limit: int) -> list[LoggedEvent]:
        return [told for told in self._told if told.seq > seq][:limit]

    def _newest(self, since: datetime) -> list[Event]:
        def of(kind: EventType) -> list[Event]:
            return list(self._log.backwards(kind=kind, since=since, limit=_OF_A_TYPE))

        return [event for events in self._fan.map(of, EventType) for event in events]

    def _begin(self, events: Iterable[Event], now: datetime) -> None:
        """Events published before the first look get the latest possible place: a client that followed
        another server gets some of them again rather than missing any.
        """
        self._oldest = millis(now - FAR_REACH + REACH) * _STEP
        self._last = self._oldest
        for event in events:
            self._add([event], max(self._last + 1, millis(event.timestamp + REACH) * _STEP))
        self._last = max(self._last, millis(now) * _STEP)

    def _add(self, events: Iterable[Event], place: int) -> None:
        fresh = tuple(LoggedEvent(place + n, event) for n, event in enumerate(events))
        if not fresh:
            return
        told = self._told + fresh
        if len(told) > _MOST:
            self._oldest = told[-_MOST - 1].seq
        self._told, self._last = told[-_MOST:], fresh[-1].seq
        self._changes += 1
