"""Alerts: the queue of events on their way to people.

Each (sink, channel, event) is queued once and claimed by one sender at a time. Within a thread the
order is kept: an alert waits until those before it are sent or given up.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec

from interlock.adapters.local.database import Database
from interlock.adapters.local.rows import decoder, instant, listed, maybe_instant, micros
from interlock.domain import canonical
from interlock.domain.event import Event

_event = decoder(Event).decode

_ALERT = "SELECT id, sink, channel, thread, body, state, due_at, tries, error FROM alerts"


class AlertState(StrEnum):
    """Where an alert is. Sent and dead ones are settled."""

    QUEUED = "queued"
    SENDING = "sending"
    HELD = "held"
    SENT = "sent"
    DEAD = "dead"


class QueuedAlert(msgspec.Struct, frozen=True):
    """An event for one channel of one sink. While it is being sent, `due_at` ends the claim."""

    id: int
    sink: str
    channel: str
    thread: str
    event: Event
    state: AlertState
    due_at: datetime
    tries: int
    error: str | None


class SqliteAlerts:
    """Every answer to a claim is conditional on that claim: False if it had expired."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def enqueue(
        self, sink: str, channel: str, event: Event, due_at: datetime, *, thread: str = ""
    ) -> bool:
        """False if this event was queued for that channel before."""
        return self._put(sink, channel, event, due_at, thread, AlertState.QUEUED)

    def hold(
        self, sink: str, channel: str, event: Event, until: datetime, *, thread: str = ""
    ) -> bool:
        """Queue it for after a mute. False if this event was queued for that channel before."""
        return self._put(sink, channel, event, until, thread, AlertState.HELD)

    def claim(self, now: datetime, lease: timedelta, limit: int) -> list[QueuedAlert]:
        """What is due, and whose turn it is in its thread; nobody else gets it until the lease ends."""
        return self._database.write(
            lambda connection: _claim(connection, micros(now), micros(now + lease), limit)
        )

    def sent(self, alert: QueuedAlert, now: datetime, receipt: str | None = None) -> bool:
        return self._answer(
            alert, "state = 'sent', settled_at = ?, receipt = ?", micros(now), receipt
        )

    def failed(self, alert: QueuedAlert, error: str, next_at: datetime) -> bool:
        """One more try is spent; the next is due then."""
        return self._answer(
            alert,
            "state = 'queued', tries = tries + 1, error = ?, due_at = ?",
            error,
            micros(next_at),
        )

    def postponed(self, alert: QueuedAlert, next_at: datetime) -> bool:
        """It waits for its thread or for a slot, which costs no try."""
        return self._answer(alert, "state = 'queued', due_at = ?", micros(next_at))

    def held(self, alert: QueuedAlert, until: datetime) -> bool:
        """A mute covers it."""
        return self._answer(alert, "state = 'held', due_at = ?", micros(until))

    def dead(self, alert: QueuedAlert, error: str, now: datetime) -> bool:
        return self._answer(
            alert,
            "state = 'dead', tries = tries + 1, error = ?, settled_at = ?",
            error,
            micros(now),
        )

    def held_until(self, now: datetime) -> list[QueuedAlert]:
        """Held alerts whose mute is over."""
        rows = self._database.read(
            lambda connection: connection.execute(
                f"{_ALERT} WHERE state = 'held' AND due_at <= ? ORDER BY due_at, id", (micros(now),)
            ).fetchall()
        )
        return [_alert(row) for row in rows]

    def release(self, alerts: Iterable[QueuedAlert], now: datetime) -> None:
        """Held ones take their place in the queue."""
        self._unhold(alerts, "state = 'queued', due_at = ?", now)

    def summarised(self, alerts: Iterable[QueuedAlert], now: datetime) -> None:
        """Held ones that a summary has told of are not sent themselves."""
        self._unhold(alerts, "state = 'sent', receipt = 'summary', settled_at = ?", now)

    def waiting(self, sink: str, channel: str, now: datetime) -> int:
        """How many are due for one channel."""
        (count,) = self._database.read(
            lambda connection: connection.execute(
                "SELECT count(*) FROM alerts WHERE sink = ? AND channel = ?"
                " AND state IN ('queued', 'sending') AND due_at <= ?",
                (sink, channel, micros(now)),
            ).fetchone()
        )
        return int(count)

    def next_due(self) -> datetime | None:
        """When somebody must look again: an alert is due, a claim ends, or a mute does."""
        (due,) = self._database.read(
            lambda connection: connection.execute(
                "SELECT min(due_at) FROM ("
                "SELECT min(due_at) AS due_at FROM alerts WHERE state IN ('queued', 'sending')"
                " UNION ALL SELECT min(due_at) FROM alerts WHERE state = 'held')"
            ).fetchone()
        )
        return maybe_instant(due)

    def of_event(self, event_id: str) -> list[QueuedAlert]:
        """Where an event went, for people."""
        rows = self._database.read(
            lambda connection: connection.execute(
                f"{_ALERT} WHERE event_id = ? ORDER BY id", (event_id,)
            ).fetchall()
        )
        return [_alert(row) for row in rows]

    def _put(
        self,
        sink: str,
        channel: str,
        event: Event,
        due_at: datetime,
        thread: str,
        state: AlertState,
    ) -> bool:
        body = canonical.encode(event)
        done = self._database.write(
            lambda connection: connection.execute(
                "INSERT INTO alerts (sink, channel, event_id, thread, body, state, due_at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (sink, channel, event.event_id, thread, body, state, micros(due_at)),
            )
        )
        return done.rowcount == 1

    def _answer(self, alert: QueuedAlert, changes: str, *values: object) -> bool:
        done = self._database.write(
            lambda connection: connection.execute(
                f"UPDATE alerts SET {changes} WHERE id = ? AND state = 'sending' AND due_at = ?",
                (*values, alert.id, micros(alert.due_at)),
            )
        )
        return done.rowcount == 1

    def _unhold(self, alerts: Iterable[QueuedAlert], changes: str, now: datetime) -> None:
        chosen = listed(alert.id for alert in alerts)
        self._database.write(
            lambda connection: connection.execute(
                f"UPDATE alerts SET {changes} WHERE state = 'held'"
                " AND id IN (SELECT value FROM json_each(?))",
                (micros(now), chosen),
            )
        )


def _claim(connection: sqlite3.Connection, now: int, until: int, limit: int) -> list[QueuedAlert]:
    rows = connection.execute(
        f"{_ALERT} AS this WHERE state IN ('queued', 'sending') AND due_at <= ?"
        " AND (thread = '' OR NOT EXISTS (SELECT 1 FROM alerts AS earlier"
        " WHERE earlier.state IN ('queued', 'sending') AND earlier.sink = this.sink"
        " AND earlier.channel = this.channel AND earlier.thread = this.thread"
        " AND earlier.id < this.id)) ORDER BY due_at, id LIMIT ?",
        (now, limit),
    ).fetchall()
    connection.executemany(
        "UPDATE alerts SET state = 'sending', due_at = ? WHERE id = ?",
        [(until, row[0]) for row in rows],
    )
    claimed = (_alert(row) for row in rows)
    return [
        msgspec.structs.replace(alert, state=AlertState.SENDING, due_at=instant(until))
        for alert in claimed
    ]


def _alert(row: Sequence[Any]) -> QueuedAlert:
    number, sink, channel, thread, body, state, due_at, tries, error = row
    return QueuedAlert(
        number,
        sink,
        channel,
        thread,
        _event(body),
        AlertState(state),
        instant(due_at),
        tries,
        error,
    )
