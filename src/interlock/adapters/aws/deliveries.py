"""Deliveries: alerts on their way, stored beside their events.

The queue redelivers a message when its delivery is due. A held delivery is also listed by its target and the
end of its mute, in one write; a listed delivery that is no longer held is skipped until it expires.
"""

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

import msgspec

from interlock.adapters.aws.keys import AFTER, LAST, partition
from interlock.adapters.aws.parallel_reads import Fan
from interlock.adapters.aws.rows import KEPT, millis, seconds, unchanged
from interlock.adapters.aws.table import Key, Table, WriteResult
from interlock.adapters.aws.values import Item
from interlock.domain import canonical
from interlock.domain.alerting.deliveries import Delivery, DeliveryState, Target
from interlock.domain.event import Event
from interlock.ports.engine import Clock

_ALERTED = "ALERTED#"
_KEPT_HELD = timedelta(days=7)
_FIELDS = tuple(
    field.encode_name
    for field in msgspec.structs.fields(Delivery)
    if field.name not in ("event", "target")
)


class DynamoDeliveries:
    """`on_held` arranges a call when the mute ends, or the escalation is due."""

    def __init__(
        self,
        events: Table,
        clock: Clock,
        on_held: Callable[[Delivery], None] = lambda held: None,
        fan: Fan | None = None,
    ) -> None:
        self._events = events
        self._clock = clock
        self._on_held = on_held
        self._fan = fan or Fan()

    def find(self, event: Event, target: Target) -> Delivery | None:
        item = self._events.get(_key(event, target))
        return None if item is None else self._read(item, event, target)

    def of_events(self, events: Collection[Event]) -> dict[str, list[Delivery]]:
        """One request per date: the ids of its events share a prefix."""
        known = {event.event_id: event for event in events}
        places = {(partition(event.pipeline_id), _of_date(event)): None for event in events}
        found: dict[str, list[Delivery]] = {}
        for item in chain.from_iterable(self._fan.map(self._below, places)):
            name, target = _named_by(item)
            if name in known:
                found.setdefault(name, []).append(self._read(item, known[name], target))
        return {
            name: sorted(each, key=lambda delivery: delivery.target) for name, each in found.items()
        }

    def save(self, delivery: Delivery) -> bool:
        if delivery.state in (DeliveryState.HELD, DeliveryState.WAITING):
            self._on_held(delivery)
        first = delivery.version == 1
        condition = "attribute_not_exists(#PK)" if first else "#version = :before"
        answer = self._put(delivery, condition, before=delivery.version - 1)
        if answer.won or not first or not self._is_unreadable(answer.found):
            return answer.won
        condition, seen = unchanged(answer.found or {}, ("event", *_FIELDS))
        return self._put(delivery, condition, **seen).won

    def _put(self, delivery: Delivery, condition: str, **values: Any) -> WriteResult:
        item = self._item(delivery)
        if delivery.state is not DeliveryState.HELD:
            return self._events.put(item, condition, **values)
        writes = [self._events.putting(item, condition, **values)]
        writes.append(self._events.putting(_listed(delivery)))
        return self._events.transact(writes)[0]

    def _is_unreadable(self, found: Item | None) -> bool:
        """An unreadable row does not stop an alert."""
        return found is not None and not isinstance(self._events.read(found, _delivery), Delivery)

    def figures(self) -> None:
        """Deliveries are found by their events: counting them would read the whole table."""
        return

    def held(self, target: Target, until: datetime) -> list[Delivery]:
        found = [each for each in self._listed(target, until) if _is_held(each, until)]
        return sorted(found, key=lambda delivery: (delivery.event.timestamp, delivery.due_at))

    def freed(self, target: Target, until: datetime) -> list[Delivery]:
        """The deliveries of a target that were held, were released, and have not arrived yet."""
        released = (each for each in self._listed(target, until) if each.released)
        return [delivery for delivery in released if not delivery.is_settled]

    def _below(self, place: Key) -> list[Item]:
        return list(self._events.query(place[0], place[1], place[1] + LAST))

    def _listed(self, target: Target, until: datetime) -> list[Delivery]:
        """Every delivery that was held for a target until then, in its current state."""
        first = _held_prefix(target)
        listed = self._events.query(partition(None), first, f"{first}{millis(until):013}{AFTER}")
        places = list(self._events.readable(listed, _place_of))
        rows = self._events.get_many(places).values() if places else ()
        return list(self._events.readable(rows, _delivery))

    def _read(self, item: Item, event: Event, target: Target) -> Delivery:
        """An unreadable delivery counts as not sent: better twice than never."""
        found = self._events.read(item, _delivery)
        if isinstance(found, Delivery):
            return found
        version = item.get("version")
        return Delivery(
            event=event,
            target=target,
            due_at=event.timestamp,
            version=version if type(version) is int else 0,
        )

    def _item(self, delivery: Delivery) -> Item:
        place, sort_key = _key(delivery.event, delivery.target)
        plain: dict[str, Any] = canonical.as_json(delivery)
        return {
            "PK": place,
            "SK": sort_key,
            "eventId": delivery.event.event_id,
            "sink": delivery.target.sink,
            "channel": delivery.target.channel,
            "event": canonical.encode(delivery.event),
            **{name: plain[name] for name in _FIELDS if name in plain},
            "ttl": seconds(max(self._clock(), delivery.due_at) + KEPT),
        }


def _place_of(listed: Item) -> Key:
    if not isinstance(listed["ofPK"], str) or not isinstance(listed["ofSK"], str):
        raise ValueError("ofPK and ofSK are not strings")
    return listed["ofPK"], listed["ofSK"]


def _named_by(item: Item) -> tuple[str, Target]:
    """The key of a row holds both: ALERTED#{event id}#{sink}#{channel}."""
    parts = item["SK"].removeprefix(_ALERTED).rsplit("#", 2)
    return (parts[0], Target(*parts[1:])) if len(parts) == 3 else ("", Target(""))


def _delivery(item: Item) -> Delivery:
    plain = {name: item[name] for name in _FIELDS if name in item}
    plain["version"] = item["version"]
    target = {"sink": item["sink"], "channel": item["channel"]}
    event = canonical.decode(item["event"])
    found = msgspec.convert({**plain, "target": target, "event": event}, Delivery)
    if _key(found.event, found.target) != (item["PK"], item["SK"]):
        raise ValueError(f"its text belongs to {found.event.event_id} for {found.target}")
    return found


def _is_held(delivery: Delivery, until: datetime) -> bool:
    return delivery.state is DeliveryState.HELD and delivery.due_at <= until


def _listed(delivery: Delivery) -> Item:
    place, sort_key = _key(delivery.event, delivery.target)
    moment = f"{millis(delivery.due_at):013}"
    return {
        "PK": partition(None),
        "SK": f"{_held_prefix(delivery.target)}{moment}#{delivery.event.event_id}",
        "ofPK": place,
        "ofSK": sort_key,
        "ttl": seconds(delivery.due_at + _KEPT_HELD),
    }


def _key(event: Event, target: Target) -> Key:
    return partition(event.pipeline_id), f"{_prefix(event)}{target.sink}#{target.channel}"


def _prefix(event: Event) -> str:
    return f"{_ALERTED}{event.event_id}#"


def _of_date(event: Event) -> str:
    """The key prefix of everything sent for the event's date; an event without a date is alone."""
    parts = event.event_id.split("/", 3)
    return f"{_ALERTED}{'/'.join(parts[:3])}/" if len(parts) > 3 and event.date else _prefix(event)


def _held_prefix(target: Target) -> str:
    return f"HELD#{target.sink}#{target.channel}#"
