"""Deliveries: alerts on their way. Their rows are also the local queue: each has a due time."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import Reader, Row, decoder, instant, listed, micros
from interlock.domain import canonical
from interlock.domain.alerting.deliveries import Delivery, DeliveryState, SinkFigures, Target
from interlock.domain.event import Event, event_from_id
from interlock.domain.unreadable import UnreadableRow

_event = decoder(Event).decode

_DUE = "state IN ('queued', 'sending', 'given_up', 'waiting')"


#: The figure in which each state is counted.
_COUNTED = {
    DeliveryState.QUEUED: "queued",
    DeliveryState.SENDING: "queued",
    DeliveryState.WAITING: "waiting",
    DeliveryState.HELD: "held",
    DeliveryState.GIVEN_UP: "dead",
    DeliveryState.DEAD: "dead",
}


class SqliteDeliveries:
    """Every write is conditional on the version before it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, event: Event, target: Target) -> Delivery | None:
        rows = self._rows(
            "WHERE sink = ? AND channel = ? AND event_id = ?",
            target.sink,
            target.channel,
            event.event_id,
        )
        return next(iter(self._readable(rows, [event])), None)

    def of_events(self, events: Collection[Event]) -> dict[str, list[Delivery]]:
        chosen = listed(event.event_id for event in events)
        rows = self._rows(
            "WHERE event_id IN (SELECT value FROM json_each(?)) ORDER BY sink, channel", chosen
        )
        by_event: dict[str, list[Delivery]] = {}
        for delivery in self._readable(rows, events):
            by_event.setdefault(delivery.event.event_id, []).append(delivery)
        return by_event

    def save(self, delivery: Delivery) -> bool:
        return self._database.write(lambda connection: _save(connection, delivery))

    def held(self, target: Target, until: datetime) -> list[Delivery]:
        rows = self._rows(
            "WHERE state = 'held' AND sink = ? AND channel = ? AND due_at <= ? ORDER BY id",
            target.sink,
            target.channel,
            micros(until),
        )
        return sorted(self._readable(rows), key=lambda delivery: delivery.event.timestamp)

    def figures(self) -> dict[str, SinkFigures]:
        counted, failed = self._database.read(
            lambda connection: (
                connection.execute(
                    "SELECT sink, state, count(*), max(due_at) FROM alerts GROUP BY sink, state"
                ).fetchall(),
                connection.execute(
                    "SELECT sink, max(due_at), error FROM alerts INDEXED BY alerts_failed"
                    " WHERE error IS NOT NULL AND state <> 'cancelled' GROUP BY sink"
                ).fetchall(),
            )
        )
        found: dict[str, dict[str, Any]] = {}
        for sink, state, count, at in counted:
            figures = found.setdefault(sink, {})
            if state in _COUNTED:
                figures[_COUNTED[state]] = figures.get(_COUNTED[state], 0) + count
            elif state == DeliveryState.SENT:
                figures["sent_at"] = instant(at)
        for sink, at, error in failed:
            found[sink] |= {"failed_at": instant(at), "error": error}
        return {sink: SinkFigures(**figures) for sink, figures in found.items()}

    def due(self, now: datetime, limit: int, but: Sequence[str] = ()) -> list[Delivery]:
        """The deliveries due by now, the longest due first, except those of the sinks in `but`.

        A delivery whose event is unknown is given up: it would be due for ever.
        """
        rows = self._rows(
            f"WHERE {_DUE} AND due_at <= ? AND sink NOT IN (SELECT value FROM json_each(?))"
            " ORDER BY due_at LIMIT ?",
            micros(now),
            listed(but),
            limit,
        )
        found = [(row, self._read(row, {})) for row in rows]
        lost = [(row, each) for row, each in found if isinstance(each, UnreadableRow)]
        if lost:
            self._database.write(lambda connection: _bury(connection, lost))
        return [each for _, each in found if isinstance(each, Delivery)]

    def ended_mutes(self, now: datetime) -> list[Target]:
        """The targets whose held alerts may now be sent."""
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT DISTINCT sink, channel FROM alerts INDEXED BY alerts_held"
                " WHERE state = 'held' AND due_at <= ? ORDER BY sink, channel",
                (micros(now),),
            ).fetchall()
        )
        return [Target(*row) for row in rows]

    def _rows(self, where: str, *values: object) -> list[Row]:
        return self._database.read(
            lambda connection: connection.execute(
                f"SELECT {ALERTS.columns} FROM alerts {where}", values
            ).fetchall()
        )

    def _readable(self, rows: Iterable[Row], events: Iterable[Event] = ()) -> list[Delivery]:
        known = {event.event_id: event for event in events}
        found = (self._read(row, known) for row in rows)
        return [each for each in found if isinstance(each, Delivery)]

    def _read(self, row: Row, known: Mapping[str, Event]) -> Delivery | UnreadableRow:
        """Of an unreadable delivery, what its columns say about its event."""
        found = ALERTS.read(self._database, row)
        if isinstance(found, Delivery):
            return found
        try:
            event = known.get(row[2]) or event_from_id(row[2], instant(row[5]))
        except ValueError:
            return found
        return _of(row, event, _state(row[4]))


def _save(connection: sqlite3.Connection, delivery: Delivery) -> bool:
    write = _insert if delivery.version == 1 else _update
    return write(connection, delivery).rowcount == 1


def _insert(connection: sqlite3.Connection, delivery: Delivery) -> sqlite3.Cursor:
    return connection.execute(
        "INSERT INTO alerts (state, due_at, tries, error, receipt, quiet, released, note, version,"
        " settled_at, sink, channel, event_id, body, escalates)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (
            *_columns(delivery),
            *_place(delivery),
            canonical.encode(delivery.event),
            delivery.escalates,
        ),
    )


def _update(connection: sqlite3.Connection, delivery: Delivery) -> sqlite3.Cursor:
    return connection.execute(
        "UPDATE alerts SET state = ?, due_at = ?, tries = ?, error = ?, receipt = ?, quiet = ?,"
        " released = ?, note = ?, version = ?, settled_at = ?"
        " WHERE sink = ? AND channel = ? AND event_id = ? AND version = ?",
        (*_columns(delivery), *_place(delivery), delivery.version - 1),
    )


def _columns(delivery: Delivery) -> tuple[object, ...]:
    due_at = micros(delivery.due_at)
    return (
        delivery.state,
        due_at,
        delivery.tries,
        delivery.error,
        delivery.receipt,
        int(delivery.quiet),
        int(delivery.released),
        delivery.note,
        delivery.version,
        due_at if delivery.is_settled else None,
    )


def _place(delivery: Delivery) -> tuple[str, str, str]:
    return delivery.target.sink, delivery.target.channel, delivery.event.event_id


def _bury(connection: sqlite3.Connection, lost: Iterable[tuple[Row, UnreadableRow]]) -> None:
    connection.executemany(
        "UPDATE alerts SET state = 'dead', settled_at = due_at, error = ?, version = version + 1"
        " WHERE sink = ? AND channel = ? AND event_id = ? AND version = ?",
        [(found.problem, *row[:3], row[-1]) for row, found in lost],
    )


def _delivery(row: Row) -> Delivery:
    """Raises ValueError if the text belongs to another alert: saving it would never update this row."""
    event = _event(row[3])
    if event.event_id != row[2]:
        raise ValueError(f"its text belongs to {event.event_id}")
    return _of(row, event, DeliveryState(row[4]))


def _state(text: str) -> DeliveryState:
    """An unknown state may mean that it was not sent: better twice than never."""
    return DeliveryState(text) if text in tuple(DeliveryState) else DeliveryState.QUEUED


def _of(row: Row, event: Event, state: DeliveryState) -> Delivery:
    sink, channel, _, _, _, due_at, tries, error, receipt, quiet, released, note = row[:12]
    escalates, version = row[12:]
    return Delivery(
        event=event,
        target=Target(sink, channel),
        due_at=instant(due_at),
        state=state,
        tries=tries,
        error=error,
        receipt=receipt,
        quiet=bool(quiet),
        released=bool(released),
        note=note,
        escalates=escalates,
        version=version,
    )


ALERTS = Reader(
    "alerts",
    "sink, channel, event_id, body, state, due_at, tries, error, receipt, quiet, released, note,"
    " escalates, version",
    3,
    _delivery,
    text=3,
)
