"""Claims: facts without a run row, such as claims, baselines and deadlines of dates without a run."""

import sqlite3
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from interlock.adapters.sqlite import outbox
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import Reader, Row, decoder, listed, micros
from interlock.adapters.unreadable_rows import DAMAGED
from interlock.domain import canonical
from interlock.domain.baseline import Baseline
from interlock.domain.event import Event
from interlock.domain.places import Places
from interlock.domain.run import RunKey
from interlock.domain.sla import SlaWatch
from interlock.ports.engine import Clock

KEPT = timedelta(days=35)

_PLACES = "places"
_watch = decoder(SlaWatch).decode
_places = decoder(Places).decode
_baseline = decoder(Baseline).decode

Place = tuple[str, str]


class SqliteClaims:
    """An expired mark counts as absent, whether or not its row was removed."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def claim(self, event: Event) -> bool:
        now = self._clock()

        def unit(connection: sqlite3.Connection) -> bool:
            won = put_claim(connection, event, now)
            if won:
                outbox.put_in(connection, event.event_id, [event], now)
            return won

        return self._database.write(unit)

    def is_claimed(self, event_ids: Iterable[str]) -> set[str]:
        wanted = {_claim_place(event_id): event_id for event_id in event_ids}
        found = _bodies(self._database, wanted, self._clock())
        return {wanted[_place(row)] for row in found}

    def watch(self, key: RunKey) -> SlaWatch | None:
        return self.watches([key]).get(key)

    def watches(self, keys: Collection[RunKey]) -> dict[RunKey, SlaWatch]:
        wanted = {_watch_place(key): key for key in keys}
        rows = _bodies(self._database, wanted, self._clock())
        found = WATCHES.each(self._database, rows)
        return {wanted[_place(row)]: watch for row, watch in found}

    def save_watch(self, watch: SlaWatch, events: Sequence[Event] = ()) -> bool:
        now = self._clock()
        return self._database.write(lambda connection: put_watch(connection, watch, events, now))

    def places(self, pipeline_id: str) -> Places | None:
        rows = _bodies(self._database, [(pipeline_id, _PLACES)], self._clock())
        return next(iter(PLACES.all(self._database, rows)), None)

    def save_places(self, places: Places) -> bool:
        now = self._clock()
        place, text = (places.pipeline_id, _PLACES), canonical.encode(places)

        def unit(connection: sqlite3.Connection) -> bool:
            if places.version == 1:
                _drop_unreadable(connection, place, _read_places)
                return put_first(connection, place, text, now, now + KEPT)
            return _put_next(connection, place, text, places.version, now + KEPT)

        return self._database.write(unit)


def put_watch(
    connection: sqlite3.Connection, watch: SlaWatch, events: Sequence[Event], now: datetime
) -> bool:
    """Store a watch's next version with its events. False if another writer was first."""
    until = _kept_until(watch, now)
    place, text = _watch_place(watch.key), canonical.encode(watch)
    if watch.version == 1:
        _drop_unreadable(connection, place, _read_watch)
        won = put_first(connection, place, text, now, until)
    else:
        won = _put_next(connection, place, text, watch.version, until)
    if won:
        outbox.put_in(connection, watch_owner(watch.key), events, now)
    return won


def put_pruned(connection: sqlite3.Connection, watch: SlaWatch, now: datetime) -> None:
    """What remains of a pruned run replaces the earlier mark of its date."""
    place = _watch_place(watch.key)
    row = connection.execute(
        "SELECT version FROM marks WHERE pipeline = ? AND name = ?", place
    ).fetchone()
    version = 1 if row is None else row[0] + 1
    text = canonical.encode(msgspec.structs.replace(watch, version=version))
    connection.execute(
        "INSERT OR REPLACE INTO marks (pipeline, name, body, version, at, expires_at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (*place, text, version, micros(now), micros(_kept_until(watch, now))),
    )


def _kept_until(watch: SlaWatch, now: datetime) -> datetime:
    """What distinguishes the attempts of a pruned run from new ones is kept for ever: a platform may
    remember their jobs indefinitely.
    """
    if watch.attempts:
        return datetime.max.replace(tzinfo=UTC)
    return (watch.breach_at or watch.readiness_at or now) + KEPT


def watch_owner(key: RunKey) -> str:
    """The owner key of the waiting events of a date without a run."""
    return f"{key}/sla"


def put_baseline(
    connection: sqlite3.Connection, key: RunKey, baseline: Baseline, now: datetime
) -> None:
    """A later attempt's baseline replaces an earlier one's."""
    connection.execute(
        "INSERT INTO marks (pipeline, name, body, version, at, expires_at) VALUES (?, ?, ?, 1, ?, ?)"
        " ON CONFLICT DO UPDATE SET"
        " body = excluded.body, version = version + 1, at = excluded.at, expires_at = excluded.expires_at",
        (*_baseline_place(key), canonical.encode(baseline), micros(now), micros(now + KEPT)),
    )


def baseline_of(database: Database, key: RunKey, now: datetime) -> Baseline | None:
    rows = _bodies(database, [_baseline_place(key)], now)
    return next(iter(BASELINES.all(database, rows)), None)


def put_claim(connection: sqlite3.Connection, event: Event, now: datetime) -> bool:
    """False if the event was claimed before."""
    return put_first(connection, _claim_place(event.event_id), "{}", now, now + KEPT)


def put_first(
    connection: sqlite3.Connection,
    place: Place,
    body: str,
    now: datetime,
    until: datetime,
) -> bool:
    """False if the mark already exists."""
    done = connection.execute(
        "INSERT INTO marks (pipeline, name, body, version, at, expires_at) VALUES (?, ?, ?, 1, ?, ?)"
        " ON CONFLICT DO UPDATE SET"
        " body = excluded.body, version = 1, at = excluded.at, expires_at = excluded.expires_at"
        " WHERE expires_at <= excluded.at",
        (*place, body, micros(now), micros(until)),
    )
    return done.rowcount == 1


def _drop_unreadable(
    connection: sqlite3.Connection, place: Place, read: Callable[[Row], object]
) -> None:
    """An unreadable row counts as absent. Events of a watch keep their ids when they are published again;
    places are recounted from the runs.
    """
    row = connection.execute(
        f"SELECT {_MARK} FROM marks WHERE pipeline = ? AND name = ?", place
    ).fetchone()
    try:
        if row is not None:
            read(row)
    except DAMAGED:
        connection.execute("DELETE FROM marks WHERE pipeline = ? AND name = ?", place)


def _put_next(
    connection: sqlite3.Connection, place: Place, body: str, version: int, until: datetime
) -> bool:
    done = connection.execute(
        "UPDATE marks SET body = ?, version = ?, expires_at = ?"
        " WHERE pipeline = ? AND name = ? AND version = ?",
        (body, version, micros(until), *place, version - 1),
    )
    return done.rowcount == 1


def _bodies(database: Database, places: Collection[Place], now: datetime) -> list[Row]:
    if not places:
        return []
    return database.read(
        lambda connection: connection.execute(
            f"SELECT {_MARK} FROM json_each(?) AS wanted CROSS JOIN marks"
            " ON pipeline = wanted.value ->> 0 AND name = wanted.value ->> 1"
            " WHERE expires_at > ?",
            (listed(places), micros(now)),
        ).fetchall()
    )


def _place(row: Row) -> Place:
    return row[0], row[1]


def _read_watch(row: Row) -> SlaWatch:
    watch = _watch(row[2])
    if _watch_place(watch.key) != _place(row):
        raise ValueError(f"its text belongs to {watch.key}")
    return watch


def _read_places(row: Row) -> Places:
    return _places(row[2])


_MARK = "pipeline, name, body"
WATCHES = Reader("marks", _MARK, 2, _read_watch, where="name GLOB 'sla#*'")
PLACES = Reader("marks", _MARK, 2, _read_places, where=f"name = '{_PLACES}'")
BASELINES = Reader(
    "marks", _MARK, 2, lambda row: _baseline(row[2]), where="name GLOB 'postrun-baseline#*'"
)


def _claim_place(event_id: str) -> Place:
    """An event's id begins with its pipeline."""
    return event_id.partition("/")[0], f"event#{event_id}"


def _watch_place(key: RunKey) -> Place:
    return key.pipeline_id, f"sla#{key.schedule_id}#{key.date}{'#dry' * key.dry}"


def _baseline_place(key: RunKey) -> Place:
    return key.pipeline_id, f"postrun-baseline#{key.schedule_id}#{key.date}{'#dry' * key.dry}"
