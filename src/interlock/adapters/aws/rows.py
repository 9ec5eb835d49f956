"""Rows: instants, expiry and the sparse index, as in every row of ours."""

import math
import zlib
from collections.abc import Collection, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec

from interlock.adapters.aws.table import Key, Table
from interlock.adapters.aws.values import Item
from interlock.domain.timestamp import instant

#: The sparse index: its name, its hash and its range.
WATCH = ("watch", "watchShard", "watchAt")
SHARDS = 8
#: How long a fact without a run is kept.
KEPT = timedelta(days=35)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
#: After every instant.
_LAST = "~"

#: A conditional create treats an expired row as absent, as `is_live` does.
ABSENT = (
    "(attribute_not_exists(#PK) OR attribute_exists(#removedAt) OR #expiresAt <= :now"
    " OR (attribute_not_exists(#expiresAt) AND #ttl <= :seconds))"
)


def text(moment: datetime) -> str:
    """Of one width, so that text order is time order; to the microsecond."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def maybe_text(moment: datetime | None) -> str | None:
    return None if moment is None else text(moment)


def millis(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND


def seconds(moment: datetime) -> int:
    """Rounded up: DynamoDB must never remove a row before it has expired."""
    return math.ceil((moment - _EPOCH) / timedelta(seconds=1))


def expiry(at: datetime | None) -> Item:
    """Seconds for DynamoDB's garbage collection, and the exact instant for us."""
    return {} if at is None else {"expiresAt": text(at), "ttl": seconds(at)}


def is_live(item: Mapping[str, Any], now: datetime) -> bool:
    """Whether a row counts as present: DynamoDB removes expired rows at its own pace."""
    if "removedAt" in item:
        return False
    if "expiresAt" in item:
        until = item["expiresAt"]
        return not isinstance(until, str) or until > text(now)
    ttl = item.get("ttl")
    if isinstance(ttl, bool) or not isinstance(ttl, int | Decimal) or ttl < 0:
        return True
    gone_at = instant(ttl)
    return gone_at is None or gone_at > now


def as_of(now: datetime) -> Item:
    """The values that ABSENT refers to."""
    return {"now": text(now), "seconds": int(now.timestamp())}


def unchanged(found: Item, names: Collection[str]) -> tuple[str, Item]:
    """The condition that a row is still as it was found, judged by these attributes."""
    clauses, values = [], Item()
    for name in names:
        if name not in found:
            clauses.append(f"attribute_not_exists(#{name})")
        elif isinstance(
            found[name], list | dict
        ):  # a set is read as a list, but does not equal one
            clauses.append(f"attribute_exists(#{name})")
        else:
            clauses.append(f"#{name} = :seen_{name}")
            values[f"seen_{name}"] = found[name]
    return " AND ".join(clauses), values


def shard(pipeline_id: str, idle: bool = False) -> str:
    """A row with something due is in `RUN#n`; an open one with nothing due in `IDLE#n`."""
    number = zlib.crc32(pipeline_id.encode()) % SHARDS
    return f"{'IDLE' if idle else 'RUN'}#{number}"


def watched(pipeline_id: str, at: datetime | None) -> Item:
    """The two attributes that index a row by its due time."""
    if at is None:
        return {}
    return {"watchShard": shard(pipeline_id), "watchAt": text(at)}


def due_keys(table: Table, until: datetime) -> Iterator[Key]:
    """The keys of the rows due by then, shard by shard."""
    for number in range(SHARDS):
        for item in table.query(f"RUN#{number}", last=text(until), index=WATCH):
            yield item["PK"], item["SK"]


def listed(table: Table, *kinds: str, since: datetime | None = None) -> Iterator[Item]:
    """Every row in the shards of these kinds, or from an instant on, with the attributes in the index."""
    first, last = (None, None) if since is None else (text(since), _LAST)
    for kind in kinds:
        for number in range(SHARDS):
            yield from table.query(f"{kind}#{number}", first, last, index=WATCH)


def listed_keys(table: Table, *kinds: str, since: datetime | None = None) -> Iterator[Key]:
    """The keys of every row in the shards of these kinds, or from an instant on."""
    return ((item["PK"], item["SK"]) for item in listed(table, *kinds, since=since))


def decoder(kind: type[msgspec.Struct]) -> "msgspec.json.Decoder[Any]":
    """Reads what canonical JSON wrote; a number with a point becomes a Decimal again."""
    return msgspec.json.Decoder(kind, float_hook=Decimal)
