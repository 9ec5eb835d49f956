"""Stream: records of DynamoDB Streams as changes."""

import logging
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from interlock.adapters.aws.job_log import record_from
from interlock.adapters.aws.keys import CONFIG, JOB, REQUEST, SENSOR, pipeline_of
from interlock.adapters.aws.readings import reading_from
from interlock.adapters.aws.reruns import request_from
from interlock.adapters.aws.table import unreadable_row
from interlock.adapters.aws.values import Item, unmarshal_item
from interlock.adapters.unreadable_rows import DAMAGED, MetRows
from interlock.domain.canonical import content_hash
from interlock.domain.change import Change, ChangeKind
from interlock.domain.timestamp import instant
from interlock.domain.unreadable import RowKind

log = logging.getLogger(__name__)

_BY_TTL = "dynamodb.amazonaws.com"


def read_change(record: Mapping[str, Any], met: MetRows) -> Change | None:
    """The changes of a record. An unreadable record is logged and skipped: retrying it would hold up
    everything behind it.
    """
    try:
        return change_of(record)
    except DAMAGED as error:
        row = unreadable_row(_table_of(record), _row_of(record), error, _kind_of(record))
        met.note(row)
        log.error(
            "unreadable record: %s: %s",
            row.key[:200],
            row.problem,
            extra={"action": "record_unreadable", "table": row.table},
        )
        return None


def _table_of(record: Mapping[str, Any]) -> str:
    """arn:aws:dynamodb:{region}:{account}:table/{name}/stream/{label}."""
    parts = str(record.get("eventSourceARN", "")).split("/")
    return parts[1] if len(parts) > 1 else "stream"


def _row_of(record: Mapping[str, Any]) -> Item:
    """As much of the row as is readable."""
    try:
        told = record["dynamodb"]
        return unmarshal_item({**told["Keys"], **told.get("NewImage", {})})
    except DAMAGED:
        return {"SK": content_hash(str(record), 16)}


def _kind_of(record: Mapping[str, Any]) -> RowKind:
    sort_key = str(_row_of(record).get("SK", ""))
    return RowKind.READING if sort_key.startswith(SENSOR) else RowKind.RECORD


def change_of(record: Mapping[str, Any]) -> Change | None:
    """The change of a record; None for records that need no reaction: our own bookkeeping, expired rows.

    Raises ValueError, and the like, for an unreadable record.
    """
    if (record.get("userIdentity") or {}).get("principalId") == _BY_TTL:
        return None
    told = record["dynamodb"]
    item = unmarshal_item({**told["Keys"], **told.get("NewImage", {})})
    place = _place(item["SK"])
    if place is None:
        log.info(
            "a row of an unknown kind", extra={"action": "row_ignored", "key": item["SK"][:80]}
        )
        return None
    if item.get("judged") is not None and item["judged"] == item.get("requestedAt"):
        return None  # only our own answer was recorded on it
    kind, prefix = place
    removed = record["eventName"] == "REMOVE" or "removedAt" in item
    at = _created_at(told)
    said_at = (instant(item.get(name)) for name in _TIMES)
    return Change(
        id=str(told["SequenceNumber"]),
        kind=kind,
        pipeline_id=pipeline_of(item["PK"]),
        key=item["SK"].removeprefix(prefix),
        at=next((moment for moment in said_at if moment is not None), at),
        removed=removed,
        **({} if removed else _READERS[kind](item, at)),
    )


def _place(sort_key: str) -> tuple[ChangeKind, str] | None:
    if sort_key == CONFIG:
        return ChangeKind.CONFIG, ""
    return next((place for place in _PREFIXES if sort_key.startswith(place[1])), None)


def _created_at(told: Mapping[str, Any]) -> datetime:
    """To the second; a number in a function's input, an instant in a client's response."""
    at = told["ApproximateCreationDateTime"]
    return at.astimezone(UTC) if isinstance(at, datetime) else datetime.fromtimestamp(at, UTC)


#: The attributes that may hold the time of writing.
_TIMES = ("removedAt", "receivedAt", "requestedAt", "wantedAt", "at")

_PREFIXES = ((ChangeKind.SENSOR, SENSOR), (ChangeKind.RERUN, REQUEST), (ChangeKind.JOB, JOB))

#: What each kind of change carries.
_READERS: dict[ChangeKind, Callable[[Item, datetime], dict[str, Any]]] = {
    ChangeKind.SENSOR: lambda item, at: {"reading": reading_from(item, at)},
    ChangeKind.RERUN: lambda item, at: {"request": request_from(item, at)},
    ChangeKind.JOB: lambda item, at: {"record": record_from(item, at)},
    ChangeKind.CONFIG: lambda item, at: {},
}
