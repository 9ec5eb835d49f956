"""Readings: sensor rows as producers write them, and as we write them on their behalf."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from interlock.adapters.aws.keys import SENSOR, pipeline_of, sensor_key
from interlock.adapters.aws.rows import text
from interlock.adapters.aws.values import Item, fits_a_map
from interlock.domain import canonical
from interlock.domain.sensor import Reading
from interlock.domain.timestamp import instant

#: The attributes of a flat row that are not fields.
_BESIDE = frozenset({"PK", "SK", "receivedAt", "fieldsText"})
_LAST_SECOND = 253_402_300_800


def reading_item(reading: Reading) -> Item:
    """Fields that a map can't hold exactly are stored as text."""
    place, sort_key = sensor_key(reading.pipeline_id, reading.key)
    as_map = fits_a_map(reading.fields)
    return {
        "PK": place,
        "SK": sort_key,
        "receivedAt": text(reading.received_at),
        **(
            {"data": reading.fields} if as_map else {"fieldsText": canonical.encode(reading.fields)}
        ),
        **({"own": True} if reading.own else {}),
        **_expiry(reading.fields),
    }


def reading_from(item: Item, now: datetime) -> Reading:
    """`now` is taken as the time of receipt if the row does not record it. Raises ValueError for an
    unreadable text.
    """
    fields = _fields(item)
    received = instant(item.get("receivedAt"))
    at = received or instant(fields.get("updatedAt"))
    key = item["SK"].removeprefix(SENSOR)
    own = item.get("own") is True
    return Reading(pipeline_of(item["PK"]), key, fields, at or now, timed=at is not None, own=own)


def _fields(item: Item) -> dict[str, Any]:
    data = item.get("data")
    if isinstance(data, dict):
        beside = {"updatedAt": item["updatedAt"]} if "updatedAt" in item else {}
        return beside | data
    if isinstance(item.get("fieldsText"), str):
        fields = canonical.decode(item["fieldsText"])
        if not isinstance(fields, dict):
            raise ValueError("fieldsText is not an object")
        return fields
    return {name: value for name, value in item.items() if name not in _BESIDE}


def _expiry(fields: Mapping[str, Any]) -> Item:
    """A producer's `ttl` is passed to DynamoDB too."""
    ttl = fields.get("ttl")
    if isinstance(ttl, bool) or not isinstance(ttl, int | Decimal) or not 0 <= ttl < _LAST_SECOND:
        return {}
    return {"ttl": ttl}
