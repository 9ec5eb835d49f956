"""Claims: facts without a run row, such as claims, baselines and deadlines of dates without a run."""

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

import msgspec

from interlock.adapters.aws.keys import baseline_key, claim_key, places_key, watch_key
from interlock.adapters.aws.outbox import box_of, joined, put_with_box
from interlock.adapters.aws.row_cache import Notes, Use
from interlock.adapters.aws.rows import (
    ABSENT,
    KEPT,
    as_of,
    expiry,
    is_live,
    text,
    unchanged,
    watched,
)
from interlock.adapters.aws.table import Key, Table
from interlock.adapters.aws.values import Item
from interlock.domain import canonical
from interlock.domain.baseline import Baseline
from interlock.domain.event import Event
from interlock.domain.places import Places
from interlock.domain.run import RunKey
from interlock.domain.sla import SlaWatch
from interlock.domain.unreadable import UnreadableRow
from interlock.domain.watching import TELL_GRACE
from interlock.ports.engine import Clock

#: The names of a watch's attributes on its row, where they are not its own.
_NAMES = {"armed": "slaArmed", "told": "slaTold", "verdict": "slaVerdict"}
_NESTED = frozenset({"armed", "told"})
_STORED = tuple(
    _NAMES.get(field.encode_name, field.encode_name)
    for field in msgspec.structs.fields(SlaWatch)
    if field.name != "key"
)


class DynamoClaims:
    """An expired mark counts as absent, whether or not DynamoDB has removed it."""

    def __init__(self, control: Table, notes: Notes, clock: Clock) -> None:
        self._control = control
        self._notes = notes
        self._clock = clock

    def claim(self, event: Event) -> bool:
        now = self._clock()
        key, item = claim_key(event.event_id), claim_item(event, now)
        self._notes.drop(key)
        answer = self._control.put(item, ABSENT, **as_of(now))
        self._notes.keep(key, item if answer.won else answer.found, Use.OUTBOX)
        return answer.won

    def is_claimed(self, event_ids: Iterable[str]) -> set[str]:
        wanted = {claim_key(event_id): event_id for event_id in event_ids}
        now = self._clock()
        found = self._control.get_many(wanted)
        return {wanted[key] for key, item in found.items() if is_live(item, now)}

    def watch(self, key: RunKey) -> SlaWatch | None:
        return self.watches([key]).get(key)

    def watches(self, keys: Collection[RunKey]) -> dict[RunKey, SlaWatch]:
        wanted = {watch_key(key): key for key in keys}
        now = self._clock()
        found = self._rows(wanted)
        live = [item for item in found.values() if is_live(item, now)]
        watches = self._control.readable(
            live, lambda item: _watch(wanted[item["PK"], item["SK"]], item)
        )
        return {watch.key: watch for watch in watches}

    def _rows(self, places: Collection[Key]) -> dict[Key, Item]:
        if not places or not all(self._notes.has(Use.WATCH, place) for place in places):
            return self._control.get_many(places)
        noted = {place: self._notes.take(Use.WATCH, place) for place in places}
        return {place: row for place, row in noted.items() if row is not None}

    def save_watch(self, watch: SlaWatch, events: Sequence[Event] = ()) -> bool:
        now = self._clock()
        key = watch_key(watch.key)

        def make(box: Item) -> Item:
            return watch_item(watch, box, now)

        box = box_of(events, now)
        self._notes.drop(key)
        if watch.version > 1:
            before = watch.version - 1
            stored = put_with_box(self._control, make, box, "#version = :before", before=before)
        else:
            stored = put_with_box(self._control, make, box, ABSENT, **as_of(now))
            stored = stored or self._replaced(watch.key, make, box)
        if stored is not None:
            self._notes.keep(key, stored, Use.OUTBOX)
        return stored is not None

    def places(self, pipeline_id: str) -> Places | None:
        item = self._control.get(places_key(pipeline_id))
        if item is None or not is_live(item, self._clock()):
            return None
        return next(self._control.readable([item], _places), None)

    def save_places(self, places: Places) -> bool:
        """An unreadable row counts as absent: places are recounted from the runs."""
        now = self._clock()
        item = {
            **_placed(places_key(places.pipeline_id)),
            "places": canonical.encode(places),
            "version": places.version,
            **expiry(now + KEPT),
        }
        if places.version > 1:
            return self._control.put(item, "#version = :before", before=places.version - 1).won
        answer = self._control.put(item, ABSENT, **as_of(now))
        found = answer.found
        if found is None or not isinstance(self._control.read(found, _places), UnreadableRow):
            return answer.won
        condition, seen = unchanged(found, ["places", "version"])
        return self._control.put(item, condition, **seen).won

    def _replaced(self, key: RunKey, make: Callable[[Item], Item], box: Item) -> Item | None:
        """A first watch lost its write. An unreadable row in the way counts as absent, and the events it had
        published keep their ids when they are published again.
        """
        found = self._control.get(watch_key(key))
        if found is None or not isinstance(
            self._control.read(found, lambda item: _watch(key, item)), UnreadableRow
        ):
            return None
        untold = isinstance(found.get("outbox"), list)
        item = make(joined(found, box) if untold else box)
        condition, seen = unchanged(found, [*_STORED, "outbox"])
        return item if self._control.put(item, condition, **seen).won else None


def watch_item(watch: SlaWatch, box: Item, now: datetime) -> Item:
    """The row of a watch, with its unpublished events."""
    until = expiry((watch.breach_at or watch.readiness_at or now) + KEPT)
    look = watched(watch.key.pipeline_id, now + TELL_GRACE) if box else {}
    return {**_placed(watch_key(watch.key)), **_attributes(watch), **until, **box, **look}


def baseline_item(key: RunKey, baseline: Baseline, item: Item) -> Item:
    """The post-run readings as a run's job saw them; `item` says when they expire."""
    return {
        **_placed(baseline_key(key)),
        "attempt": baseline.attempt,
        "baseline": canonical.encode(baseline.readings),
        **item,
    }


def baseline_from(item: Item) -> Baseline:
    readings = canonical.decode(item["baseline"])
    return msgspec.convert({"attempt": item["attempt"], "readings": readings}, Baseline)


def _places(item: Item) -> Places:
    return msgspec.convert(canonical.decode(item["places"]), Places)


def claim_item(event: Event, now: datetime) -> Item:
    """The row of a claimed event, which waits to be published."""
    return {
        **_placed(claim_key(event.event_id)),
        "eventId": event.event_id,
        "at": text(now),
        "version": 1,
        **box_of([event], now),
        **watched(event.pipeline_id or "", now + TELL_GRACE),
        **expiry(now + KEPT),
    }


def _placed(key: Key) -> Item:
    return {"PK": key[0], "SK": key[1]}


def _attributes(watch: SlaWatch) -> Item:
    plain: dict[str, Any] = canonical.as_json(watch)
    plain.pop("key")
    return {
        _NAMES.get(name, name): canonical.encode(value) if name in _NESTED else value
        for name, value in plain.items()
    }


def _watch(key: RunKey, item: Item) -> SlaWatch:
    plain: dict[str, Any] = {"version": item["version"]}
    for field in msgspec.structs.fields(SlaWatch):
        stored = _NAMES.get(field.encode_name, field.encode_name)
        if stored in item:
            value = item[stored]
            nested = field.encode_name in _NESTED
            plain[field.encode_name] = canonical.decode(value) if nested else value
    return msgspec.convert(plain | {"key": msgspec.to_builtins(key)}, SlaWatch)
