"""Pipelines: the wanted configs, the configs in force, and which pipelines open after which."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from interlock.adapters.sqlite import changes, outbox
from interlock.adapters.sqlite.changes import NewChange
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.rows import (
    Reader,
    Row,
    decoder,
    instant,
    listed,
    maybe_instant,
    maybe_micros,
    micros,
)
from interlock.adapters.unreadable_rows import DAMAGED
from interlock.domain import canonical
from interlock.domain.change import ChangeKind
from interlock.domain.config import Config, Downstream, Wanted
from interlock.domain.event import Event
from interlock.domain.pipeline import Pipeline, UpstreamHours
from interlock.domain.schedule import Occurrence
from interlock.domain.standing import Standing
from interlock.domain.unreadable import RowKind, UnreadableRow, unreadable_error
from interlock.ports.engine import Clock

_WANTED = "SELECT id, wanted, wanted_hash, wanted_at FROM pipelines"

#: These two must match their indexes word for word.
_IN_FORCE = "active IS NOT NULL AND retired_at IS NULL"
_UNADOPTED = (
    "wanted_at IS NOT NULL AND CASE"
    " WHEN wanted IS NULL THEN active IS NOT NULL AND retired_at IS NULL"
    " ELSE wanted_hash IS NOT rejected_hash"
    " AND (wanted_hash IS NOT active_hash OR retired_at IS NOT NULL) END"
)


class SqlitePipelines:
    """Caches decoded configs by version: a listing fetches only what has changed."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._kept: dict[str, Config] = {}
        self._unreadable: set[str] = set()

    def want(self, wanted: Wanted) -> None:
        self._database.write(lambda connection: _want(connection, wanted))

    def wanted(self, pipeline_id: str) -> Wanted | None:
        row = self._database.read(
            lambda connection: connection.execute(
                f"{_WANTED} WHERE id = ? AND wanted_at IS NOT NULL", (pipeline_id,)
            ).fetchone()
        )
        return None if row is None else _wanted(row)

    def unadopted(self) -> list[Wanted]:
        rows = self._database.read(
            lambda connection: connection.execute(
                f"{_WANTED} WHERE {_UNADOPTED} ORDER BY id"
            ).fetchall()
        )
        return [_wanted(row) for row in rows]

    def refused(self) -> list[Wanted]:
        """For people only: it reads the whole table, one row per pipeline."""
        rows = self._database.read(
            lambda connection: connection.execute(
                f"{_WANTED} WHERE wanted IS NOT NULL AND wanted_hash = rejected_hash ORDER BY id"
            ).fetchall()
        )
        return [_wanted(row) for row in rows]

    def find(self, pipeline_id: str) -> Config | None:
        """Raises UnreadableError when the stored config is unreadable."""
        versions = "SELECT id, version FROM pipelines WHERE id = ? AND active IS NOT NULL"
        for _, found in self._configs(versions, pipeline_id):
            if isinstance(found, UnreadableRow):
                raise unreadable_error(f"the stored config of {pipeline_id}", found.problem)
            return found
        return None

    def in_force(self) -> list[Config]:
        """Leaves out unreadable configs: they must not hide the others."""
        versions = f"SELECT id, version FROM pipelines WHERE {_IN_FORCE} ORDER BY id"
        found = list(self._configs(versions))
        self._unreadable = {name for name, each in found if isinstance(each, UnreadableRow)}
        return [each for _, each in found if isinstance(each, Config)]

    def unreadable(self) -> set[str]:
        return self._unreadable

    def save(self, config: Config, events: Sequence[Event] = ()) -> bool:
        now = self._clock()

        def unit(connection: sqlite3.Connection) -> bool:
            won = _save(connection, config)
            if won:
                _replace_downstreams(connection, config)
                outbox.put_in(connection, config_owner(config.pipeline.id), events, now)
            return won

        return self._database.write(unit)

    def refuse(self, wanted: Wanted) -> None:
        self._database.write(lambda connection: _refuse(connection, wanted))

    def downstream_of(self, pipeline_id: str) -> list[Downstream]:
        rows = self._database.read(
            lambda connection: connection.execute(
                "SELECT pipeline, schedule, whole_day FROM downstreams WHERE upstream = ?"
                " ORDER BY pipeline, schedule",
                (pipeline_id,),
            ).fetchall()
        )
        return [Downstream(pipeline, schedule, bool(whole)) for pipeline, schedule, whole in rows]

    def _configs(self, versions: str, *given: str) -> Iterator[tuple[str, Config | UnreadableRow]]:
        def query(connection: sqlite3.Connection) -> tuple[list[Any], list[Any]]:
            listing = connection.execute(versions, given).fetchall()
            changed = [name for name, version in listing if not self._has(name, version)]
            return listing, _bodies(connection, changed) if changed else []

        listing, bodies = self._database.read(query)
        fresh = {row[0]: row for row in bodies}
        for name, _ in listing:
            yield name, self._read(fresh[name]) if name in fresh else self._kept[name]

    def _has(self, name: str, version: int) -> bool:
        kept = self._kept.get(name)
        return kept is not None and kept.version == version

    def _read(self, row: Row) -> Config | UnreadableRow:
        found = CONFIGS.read(self._database, row)
        if isinstance(found, Config):
            self._kept[row[0]] = found
        return found


def config_owner(pipeline_id: str) -> str:
    """The owner key of a config's waiting events."""
    return f"{pipeline_id}/config"


def _want(connection: sqlite3.Connection, wanted: Wanted) -> None:
    text = None if wanted.config is None else canonical.encode(wanted.config)
    done = connection.execute(
        "INSERT INTO pipelines (id, wanted, wanted_hash, wanted_at) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET wanted = excluded.wanted,"
        " wanted_hash = excluded.wanted_hash, wanted_at = excluded.wanted_at"
        " WHERE wanted_hash IS NOT excluded.wanted_hash"
        " OR (wanted IS NULL) <> (excluded.wanted IS NULL)",
        (wanted.pipeline_id, text, wanted.config_hash, micros(wanted.wanted_at)),
    )
    if done.rowcount:
        gone = text is None
        place = wanted.pipeline_id, "CONFIG"
        change = NewChange(ChangeKind.CONFIG, *place, wanted.wanted_at, removed=gone)
        changes.append(connection, change)


def _refuse(connection: sqlite3.Connection, wanted: Wanted) -> None:
    """Raises the version only if there is one: the first config to be adopted has version 1."""
    connection.execute(
        "UPDATE pipelines SET rejected_hash = ?, version = version + (version > 0)"
        " WHERE id = ? AND rejected_hash IS NOT ?",
        (wanted.config_hash, wanted.pipeline_id, wanted.config_hash),
    )


def _save(connection: sqlite3.Connection, config: Config) -> bool:
    if config.version == 1:
        connection.execute(
            "INSERT INTO pipelines (id) VALUES (?) ON CONFLICT DO NOTHING", (config.pipeline.id,)
        )
    done = connection.execute(
        "UPDATE pipelines SET active = ?, active_hash = ?, adopted_at = ?, active_since = ?,"
        " version = ?, rejected_hash = ?, retired_at = ?, paused_since = ?, paused_until = ?,"
        " paused_by = ?, paused_reason = ?, armed = ?, standings = ? WHERE id = ? AND version = ?",
        (
            canonical.encode(config.pipeline),
            config.config_hash,
            micros(config.adopted_at),
            micros(config.active_since),
            config.version,
            config.rejected_hash,
            maybe_micros(config.retired_at),
            maybe_micros(config.paused_since),
            maybe_micros(config.paused_until),
            config.paused_by or None,
            config.paused_reason or None,
            canonical.encode(config.armed),
            canonical.encode(config.standings),
            config.pipeline.id,
            config.version - 1,
        ),
    )
    return done.rowcount == 1


def _replace_downstreams(connection: sqlite3.Connection, config: Config) -> None:
    connection.execute("DELETE FROM downstreams WHERE pipeline = ?", (config.pipeline.id,))
    if not config.is_retired:
        connection.executemany(
            "INSERT INTO downstreams (upstream, pipeline, schedule, whole_day) VALUES (?, ?, ?, ?)",
            _downstreams(config.pipeline),
        )


def _downstreams(pipeline: Pipeline) -> Iterator[tuple[str, str, str, int]]:
    for schedule in pipeline.schedules:
        trigger = schedule.trigger
        if trigger is not None and trigger.pipeline is not None:
            whole_day = int(trigger.hours is UpstreamHours.ALL)
            yield trigger.pipeline, pipeline.id, schedule.id, whole_day


def _bodies(connection: sqlite3.Connection, names: Iterable[str]) -> list[Any]:
    return connection.execute(
        f"SELECT {CONFIGS.columns}"
        " FROM json_each(?) AS wanted CROSS JOIN pipelines ON pipelines.id = wanted.value",
        (listed(names),),
    ).fetchall()


def _config(row: Row) -> Config:
    name, active, active_hash, adopted, since, version, rejected, *rest = row
    retired, paused, until, by, reason, armed, standings = rest
    pipeline = _pipeline(active)
    if pipeline.id != name:
        raise ValueError(f"its text belongs to the pipeline {pipeline.id}")
    return Config(
        pipeline=pipeline,
        config_hash=active_hash,
        adopted_at=instant(adopted),
        active_since=instant(since),
        version=version,
        rejected_hash=rejected,
        retired_at=maybe_instant(retired),
        paused_since=maybe_instant(paused),
        paused_until=maybe_instant(until),
        paused_by=by or "",
        paused_reason=reason or "",
        armed=_armed_or_none(armed),
        standings=_standings(standings),
    )


def _armed_or_none(text: str) -> dict[str, Occurrence]:
    """A timer not known to be armed is armed again, which changes nothing."""
    try:
        return _armed(text)
    except DAMAGED:
        return {}


def _wanted(row: Sequence[Any]) -> Wanted:
    name, text, config_hash, at = row
    return Wanted(name, None if text is None else _document(text), config_hash or "", instant(at))


def _document(text: str) -> Any:
    """Invalid or empty JSON is passed on as it is and then refused: the config was not removed."""
    try:
        found = canonical.decode(text)
    except DAMAGED:
        found = None
    return {"unreadable": text[:200]} if found is None else found


CONFIGS = Reader(
    "pipelines",
    "pipelines.id, active, active_hash, adopted_at, active_since, version, rejected_hash,"
    " retired_at, paused_since, paused_until, paused_by, paused_reason, armed, standings",
    1,
    _config,
    kind=RowKind.CONFIG,
    where="active IS NOT NULL",
    pipeline="id",
)
_pipeline = decoder(Pipeline).decode
_armed = decoder(dict[str, Occurrence]).decode
_standings = decoder(dict[str, Standing]).decode
