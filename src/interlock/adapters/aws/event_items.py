"""Event items: an event on the bus, and as a row of the events table."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from interlock.adapters.aws.keys import SYSTEM, partition, pipeline_of
from interlock.adapters.aws.rows import millis, seconds
from interlock.adapters.aws.values import Item, fits_a_map
from interlock.domain import canonical
from interlock.domain.event import Event, EventType, Subject, bare_event, clean, event_id
from interlock.domain.timestamp import instant

UNREADABLE = "UNREADABLE"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_TYPES = frozenset(EventType)
#: What is the same on the bus and in the table.
_SAME = (
    "eventId",
    "severity",
    "message",
    "pipelineId",
    "scheduleId",
    "date",
    "attempt",
    "runId",
    "owner",
)


def event_from_envelope(envelope: Mapping[str, Any]) -> Event:
    """An event forwarded by a rule. Raises ValueError for anything that is not our event."""
    detail = envelope.get("detail")
    if not isinstance(detail, Mapping):
        raise ValueError("there is no detail")
    at = instant(detail.get("timestamp")) or instant(envelope.get("time"))
    if at is None:
        raise ValueError("the timestamp can't be read")
    plain = {name: value for name, value in detail.items() if name in {*_SAME, "tags", "detail"}}
    if "message" not in plain:
        plain["message"] = _alarm_message(plain.get("detail"))
    return _event({**plain, "type": envelope.get("detail-type"), "timestamp": at})


def _alarm_message(detail: Any) -> str:
    """An alarm comes without a message: no EventBridge rule can write one."""
    if not isinstance(detail, Mapping) or "alarmName" not in detail:
        raise ValueError("there is no message")
    return f"alarm {detail['alarmName']} is {detail.get('alarmState', 'UNKNOWN')}"


def event_item(event: Event, kept: timedelta) -> Item:
    """The sort key contains the id: a redelivery overwrites itself, two events of one millisecond don't
    collide.
    """
    at = millis(event.timestamp)
    plain: dict[str, Any] = canonical.as_json(event)
    detail = event.detail if fits_a_map(event.detail) else None
    return {
        "PK": partition(event.pipeline_id),
        "SK": f"{at:013}#{event.type}#{event.event_id}",
        "eventType": event.type.value,
        "timestamp": at,
        **{name: plain[name] for name in _SAME if name in plain},
        "tags": event.tags or None,
        "detail": canonical.encode(event.detail) if detail is None else plain.get("detail"),
        "ttl": seconds(event.timestamp + kept),
    }


def unreadable_item(envelope: Any, why: str, now: datetime, kept: timedelta) -> Item:
    """Anything received is stored, so that an operator can inspect it."""
    found = canonical.encode(envelope)
    return {
        "PK": partition(None),
        "SK": f"{millis(now):013}#{UNREADABLE}#{canonical.content_hash(found, 16)}",
        "eventType": UNREADABLE,
        "timestamp": millis(now),
        "message": why,
        "text": found[:300_000],
        "ttl": seconds(now + kept),
    }


def is_known(item: Item) -> bool:
    """Whether a row is of an event that this version knows."""
    return _kind_of(item) in _TYPES


def event_from_item(item: Item) -> Event:
    """The event of a row of a known type. Raises ValueError for one that can't be read as a whole."""
    plain = {name: item[name] for name in (*_SAME, "tags", "detail") if name in item}
    if isinstance(plain.get("detail"), str):
        plain["detail"] = canonical.decode(plain["detail"])
    if "timestamp" in item and "eventType" in item and "eventId" in item:
        at = _EPOCH + int(item["timestamp"]) * _MILLISECOND
        return _event({**plain, "type": item["eventType"], "timestamp": at})
    return _event({**canonical.as_json(bare_event_from(item)), **plain})


def bare_event_from(item: Item) -> Event:
    """What the key of a row says, and, where readable, its message and its date. Raises ValueError for a row
    without a time.
    """
    kind, (moment, _, rest) = EventType(_kind_of(item)), item["SK"].partition("#")
    at = instant(item.get("timestamp")) or instant(moment)
    if at is None:
        raise ValueError("it has no time")
    name = pipeline_of(item["PK"])
    about = Subject(
        None if name == SYSTEM else name, _text(item, "scheduleId"), _text(item, "date")
    )
    known = _text(item, "eventId") or rest.partition("#")[2]
    bare = bare_event(kind, about, at, known or event_id(kind, about, (moment,)))
    message = _text(item, "message")
    return bare if message is None else msgspec.structs.replace(bare, message=clean(message))


def _kind_of(item: Item) -> str:
    """The type is in the key as well: a row may have nothing but its key."""
    stored = item.get("eventType")
    return stored if isinstance(stored, str) else item["SK"].partition("#")[2].partition("#")[0]


def _text(item: Item, name: str) -> str | None:
    value = item.get(name)
    return value if isinstance(value, str) and value else None


def _event(plain: Mapping[str, Any]) -> Event:
    try:
        return msgspec.convert(dict(plain), Event)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error
