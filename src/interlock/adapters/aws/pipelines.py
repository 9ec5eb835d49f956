"""Pipelines: the wanted configs, the configs in force, and which pipelines open after which.

Owners (Terraform, the command line, any client) write the row `CONFIG`; `CONFIG#ACTIVE` is ours.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta

from interlock.adapters.aws import keys
from interlock.adapters.aws.config_items import (
    IN_FORCE,
    REFUSED,
    WANTED,
    config_from,
    config_item,
    downstream_from,
    downstream_item,
    downstreams,
    wanted_from,
    wanted_item,
)
from interlock.adapters.aws.outbox import box_of
from interlock.adapters.aws.row_cache import Notes
from interlock.adapters.aws.rows import WATCH, watched
from interlock.adapters.aws.table import Table, TransactionWrite, WriteResult
from interlock.adapters.aws.values import Item
from interlock.domain.config import Config, Downstream, Wanted
from interlock.domain.event import Event
from interlock.domain.unreadable import RowKind, UnreadableRow, unreadable_error
from interlock.domain.watching import TELL_GRACE
from interlock.ports.engine import Clock

_ADD_TO_BOX = (
    "SET #outbox = list_append(if_not_exists(#outbox, :none), :outbox),"
    " #outboxAt = if_not_exists(#outboxAt, :outboxAt),"
    " #version = if_not_exists(#version, :zero) + :one,"
    " #watchShard = :watchShard, #watchAt = :watchAt"
)
_LIST_AS_REFUSED = (
    "#watchShard = if_not_exists(#watchShard, :shard), #watchAt = if_not_exists(#watchAt, :name)"
)


class DynamoPipelines:
    """Caches decoded configs by version: a listing fetches only what has changed.

    `kept_for` is how long a cached config is trusted: a decision based on an outdated one is a
    conditional write, and so loses.
    """

    def __init__(
        self, control: Table, notes: Notes, clock: Clock, kept_for: timedelta = timedelta(0)
    ) -> None:
        self._control = control
        self._notes = notes
        self._clock = clock
        self._kept_for = kept_for
        self._kept: dict[str, Config] = {}
        self._read_at: dict[str, datetime] = {}
        self._unreadable: set[str] = set()

    def want(self, wanted: Wanted) -> None:
        news = (
            "attribute_not_exists(#removedAt)"
            if wanted.config is None
            else "attribute_not_exists(#PK) OR #configHash <> :hash OR attribute_exists(#removedAt)"
        )
        self._control.put(wanted_item(wanted), news, hash=wanted.config_hash)

    def wanted(self, pipeline_id: str) -> Wanted | None:
        """A config in force whose wanted row is gone was removed. Reads both rows, for comparison."""
        self._read_at.pop(pipeline_id, None)
        places = [keys.config_key(pipeline_id), keys.active_key(pipeline_id)]
        rows = self._control.get_many(places)
        item = rows.get(places[0])
        if item is None and not _is_in_force(rows.get(places[1])):
            return None
        return wanted_from(pipeline_id, item, self._clock())

    def unadopted(self) -> list[Wanted]:
        return [found for found, refused in self._awaiting() if not refused]

    def refused(self) -> list[Wanted]:
        """A row written by hand is not in the list of wanted configs; its refusal is listed instead."""
        names = [item["watchAt"] for item in self._listing(REFUSED)]
        return [found for found, refused in self._awaiting(names) if refused]

    def _awaiting(self, names: Iterable[str] = ()) -> Iterator[tuple[Wanted, bool]]:
        """The wanted configs that are not in force, and whether each was refused. Compares the two lists, and
        reads only the rows that differ and those of `names`.
        """
        wanted = {item["watchAt"]: item.get("configHash") for item in self._listing(WANTED)}
        active = {item["watchAt"]: item.get("configHash") for item in self._listing(IN_FORCE)}
        differing = {name for name in {*wanted, *active} if wanted.get(name) != active.get(name)}
        doubtful = sorted(differing.union(names))
        rows = self._control.get_many(
            [place for name in doubtful for place in (keys.config_key(name), keys.active_key(name))]
        )
        for name in doubtful:
            found = self._not_in_force(name, rows)
            if found is not None:
                yield found

    def find(self, pipeline_id: str) -> Config | None:
        """Raises UnreadableError when the stored config is unreadable."""
        if self._is_believed(pipeline_id):
            return self._kept.get(pipeline_id)
        item = self._control.get(keys.active_key(pipeline_id))
        if item is None or "config" not in item:
            return None
        found = self._keep(item)
        if isinstance(found, UnreadableRow):
            raise unreadable_error(f"the stored config of {pipeline_id}", found.problem)
        return found

    def read_before(self, pipeline_id: str) -> Config | None:
        """The config as last read, if that was too long ago to be trusted."""
        return None if self._is_believed(pipeline_id) else self._kept.get(pipeline_id)

    def read_again(self, item: Item | None) -> None:
        """Caches the row of a config that was just read."""
        if item is not None and "config" in item:
            self._keep(item)

    def in_force(self) -> list[Config]:
        """Leaves out unreadable configs: they must not hide the others."""
        listing = {item["watchAt"]: item for item in self._listing(IN_FORCE)}
        changed = [name for name, item in listing.items() if not self._has(name, item)]
        fresh = self._control.get_many([keys.active_key(name) for name in changed])
        for item in fresh.values():
            if _is_in_force(item):
                self._keep(item)
        gone = {name for name in changed if not _is_in_force(fresh.get(keys.active_key(name)))}
        names = sorted(listing.keys() - gone)
        self._unreadable = {name for name in names if name not in self._kept}
        return [self._kept[name] for name in names if name in self._kept]

    def unreadable(self) -> set[str]:
        return self._unreadable

    def save(self, config: Config, events: Sequence[Event] = ()) -> bool:
        name = config.pipeline.id
        parts = [self._putting(config), *self._downstream_writes(config)]
        if events:
            parts.append(self._adding_to_box(name, events))
        self._notes.drop(keys.config_outbox_key(name))
        self._forget(name)
        answers = self._control.transact(parts) if len(parts) > 1 else self._put(config)
        return all(answer.won for answer in answers)

    def refuse(self, wanted: Wanted) -> None:
        """Raises the version only if there is one: the first config to be adopted has version 1. A row that
        is not in force is listed as refused.
        """
        key, refused = keys.active_key(wanted.pipeline_id), wanted.config_hash
        listed = {"shard": REFUSED, "name": wanted.pipeline_id}
        self._forget(wanted.pipeline_id)
        news = "(attribute_not_exists(#rejectedHash) OR #rejectedHash <> :hash)"
        answer = self._control.update(
            key,
            f"SET #rejectedHash = :hash, #version = #version + :one, {_LIST_AS_REFUSED}",
            f"attribute_exists(#version) AND {news}",
            hash=refused,
            one=1,
            **listed,
        )
        if not answer.won and "version" not in (answer.found or {}):
            first = "attribute_not_exists(#version)"
            change = f"SET #rejectedHash = :hash, {_LIST_AS_REFUSED}"
            self._control.update(key, change, first, hash=refused, **listed)

    def downstream_of(self, pipeline_id: str) -> list[Downstream]:
        first = keys.DOWNSTREAM
        items = self._control.query(keys.partition(pipeline_id), first, first + keys.LAST)
        each = self._control.readable(
            items, lambda item: downstream_from(item["SK"].removeprefix(first), item)
        )
        found = [downstream for downstreams in each for downstream in downstreams]
        return sorted(found, key=lambda each: (each.pipeline_id, each.schedule_id))

    def _is_believed(self, pipeline_id: str) -> bool:
        read_at = self._read_at.get(pipeline_id)
        return read_at is not None and read_at <= self._clock() < read_at + self._kept_for

    def _listing(self, partition: str) -> Iterator[Item]:
        return self._control.query(partition, index=WATCH)

    def _not_in_force(
        self, name: str, rows: dict[tuple[str, str], Item]
    ) -> tuple[Wanted, bool] | None:
        wanted = wanted_from(name, rows.get(keys.config_key(name)), self._clock())
        active = rows.get(keys.active_key(name)) or {}
        if wanted.config is None:
            return (wanted, False) if _is_in_force(active) else None
        if wanted.config_hash == active.get("rejectedHash"):
            return wanted, True
        same = wanted.config_hash == active.get("configHash") and _is_in_force(active)
        return None if same else (wanted, False)

    def _putting(self, config: Config) -> TransactionWrite:
        condition, before = _next(config)
        return self._control.putting(config_item(config), condition, before=before)

    def _put(self, config: Config) -> list[WriteResult]:
        condition, before = _next(config)
        return [self._control.put(config_item(config), condition, before=before)]

    def _downstream_writes(self, config: Config) -> Iterator[TransactionWrite]:
        """The marks by which upstream pipelines find this one, if they change."""
        name, now = config.pipeline.id, downstreams(config)
        before = self._upstreams_before(config)
        if config.version > 1 and before == now:
            return
        for upstream in sorted({*before, *now}):
            if before.get(upstream) != now.get(upstream):
                item = downstream_item(upstream, name, now.get(upstream, []))
                yield self._control.putting(item)

    def _upstreams_before(self, config: Config) -> dict[str, object]:
        if config.version == 1:
            return {}
        kept = self._kept.get(config.pipeline.id)
        if kept is None or kept.version != config.version - 1:
            item = self._control.get(keys.active_key(config.pipeline.id))
            items = [item] if item is not None and "config" in item else []
            kept = next(self._control.readable(items, config_from, RowKind.CONFIG), None)
        return {} if kept is None else dict(downstreams(kept))

    def _adding_to_box(self, name: str, events: Sequence[Event]) -> TransactionWrite:
        now = self._clock()
        return self._control.updating(
            keys.config_outbox_key(name),
            _ADD_TO_BOX,
            none=[],
            zero=0,
            one=1,
            **box_of(events, now),
            **watched(name, now + TELL_GRACE),
        )

    def _has(self, name: str, item: Item) -> bool:
        kept = self._kept.get(name)
        return kept is not None and kept.version == item.get("version")

    def _keep(self, item: Item) -> Config | UnreadableRow:
        name = keys.pipeline_of(item["PK"])
        kept = self._kept.get(name)
        if kept is None or not self._has(name, item):
            found = self._control.read(item, config_from, RowKind.CONFIG)
            if isinstance(found, UnreadableRow):
                self._kept.pop(name, None)
                self._read_at.pop(name, None)
                return found
            self._kept[name] = kept = found
        self._read_at[name] = self._clock()
        return kept

    def _forget(self, name: str) -> None:
        """The row is about to be written; the next caller reads it again."""
        self._read_at.pop(name, None)


def _next(config: Config) -> tuple[str, int]:
    first = config.version == 1
    condition = "attribute_not_exists(#version)" if first else "#version = :before"
    return condition, config.version - 1


def _is_in_force(item: Item | None) -> bool:
    return item is not None and "config" in item and "retiredAt" not in item
