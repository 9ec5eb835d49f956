"""Quick tables: DynamoDB in this process, as far as the adapters use it, a hundred times faster than moto.

Every contract suite runs over these and over moto, so neither can be wrong alone. Numbers are kept as the
real one keeps them: without zeros that say nothing.
"""

import copy
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import count
from threading import RLock
from typing import Any

from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from aws.expressions import Stored, holds, updated

Key = tuple[str, str]

KEYS = ("PK", "SK")
WATCH_PROJECTION = (
    "status", "version", "attempt", "leaseUntil", "executionName", "warningAt", "breachAt",
    "slaVerdict", "configHash", "activeSince", "ttl",
)  # fmt: skip
INDEXES: dict[str, tuple[str, str, tuple[str, ...] | None]] = {
    "watch": ("watchShard", "watchAt", WATCH_PROJECTION),
    "GSI1": ("eventType", "timestamp", None),
}
LARGEST_ITEM = 400 * 1024


class QuickTables:
    """A client. Tables are there as soon as something is put into them."""

    def __init__(self, now: Any) -> None:
        self._tables: dict[str, dict[Key, Stored]] = {}
        self._listed: dict[tuple[str, str, str], set[Key]] = {}
        self._partitions: dict[tuple[str, str], set[str]] = {}
        self._streams: dict[str, list[dict[str, Any]]] = {}
        self._numbers = count(1)
        self._now = now
        self._lock = RLock()

    def records(self, table: str) -> list[dict[str, Any]]:
        """What the table's stream has told so far."""
        return self._streams.get(table, [])

    def scan(self, TableName: str) -> Any:  # noqa: N803
        """For tests: no adapter has the right."""
        with self._lock:
            return {"Items": copy.deepcopy(list(self._table(TableName).values()))}

    # --- the client's methods

    def get_item(self, TableName: str, Key: Stored, ConsistentRead: bool) -> Any:  # noqa: N803
        with self._lock:
            item = self._table(TableName).get(_key(Key))
        return {} if item is None else {"Item": copy.deepcopy(item)}

    def batch_get_item(self, RequestItems: Mapping[str, Any]) -> Any:  # noqa: N803
        ((table, asked),) = RequestItems.items()
        wanted = [_key(key) for key in asked["Keys"]]
        if not wanted or len(wanted) > 100 or len(set(wanted)) < len(wanted):
            raise _refused("BatchGetItem", "ValidationException", "too many keys, or a key twice")
        with self._lock:
            rows = self._table(table)
            found = [copy.deepcopy(rows[key]) for key in wanted if key in rows]
        return {"Responses": {table: found}, "UnprocessedKeys": {}}

    def put_item(self, **form: Any) -> Any:
        return self._alone("Put", form)

    def update_item(self, **form: Any) -> Any:
        return self._alone("Update", form)

    def transact_write_items(self, TransactItems: Any) -> Any:  # noqa: N803
        with self._lock:
            parts = [next(iter(part.items())) for part in TransactItems]
            found = [self._conflict(form) for _, form in parts]
            if any(each is not None for each in found):
                raise _refused("TransactWriteItems", "TransactionCanceledException", reasons=found)
            for verb, form in parts:
                self._apply(verb, form)
        return {}

    def query(self, **form: Any) -> Any:
        with self._lock:
            found = list(self._found(form))
        limit = form.get("Limit")
        start = _key(form["ExclusiveStartKey"]) if "ExclusiveStartKey" in form else None
        if start is not None:
            places = [_key(item) for item in found]
            found = found[places.index(start) + 1 :]
        page = found[:limit] if limit else found
        names, values = _scope(form)
        keep = form.get("FilterExpression", "")
        kept = [copy.deepcopy(item) for item in page if holds(keep, item, names, values)]
        more = {"LastEvaluatedKey": _keys(page[-1])} if len(page) < len(found) else {}
        return {"Items": kept, **more}

    # --- within

    def _alone(self, verb: str, form: Mapping[str, Any]) -> Any:
        with self._lock:
            reason = self._conflict(form)
            if reason is not None:
                code = "ConditionalCheckFailedException"
                raise _refused(f"{verb}Item", code, item=reason.get("Item"))
            self._apply(verb, form)
        return {}

    def _conflict(self, form: Mapping[str, Any]) -> dict[str, Any] | None:
        """Why a write can't be made; None when it can."""
        row = self._table(form["TableName"]).get(_key(form.get("Item") or form["Key"]))
        if holds(form.get("ConditionExpression", ""), row or {}, *_scope(form)):
            return None
        found = {"Item": copy.deepcopy(row)} if row is not None else {}
        return {"Code": "ConditionalCheckFailed", **found}

    def _apply(self, verb: str, form: Mapping[str, Any]) -> None:
        name = form["TableName"]
        key = _key(form.get("Item") or form["Key"])
        before = self._table(name).get(key)
        if verb == "Put":
            after = dict(form["Item"])
        else:
            row = before or dict(form["Key"])
            after = updated(form["UpdateExpression"], row, *_scope(form))
        after = {attribute: _normal(value) for attribute, value in after.items()}
        if len(str(after)) > LARGEST_ITEM * 1.2:
            raise _refused(f"{verb}Item", "ValidationException", "the item is too large")
        self._store(name, key, before, after)

    def _store(self, name: str, key: Key, before: Stored | None, after: Stored) -> None:
        if before == after:
            return  # a write that changes nothing makes no record
        for index, (hash_key, range_key, _) in INDEXES.items():
            if before is not None and hash_key in before:
                self._listed[name, index, before[hash_key]["S"]].discard(key)
            if hash_key in after and range_key in after:
                self._listed.setdefault((name, index, after[hash_key]["S"]), set()).add(key)
        self._table(name)[key] = after
        self._partitions.setdefault((name, key[0]), set()).add(key[1])
        self._streams.setdefault(name, []).append(self._record(before, after))

    def _record(self, before: Stored | None, after: Stored) -> dict[str, Any]:
        number = next(self._numbers)
        return {
            "eventID": f"{number:032x}",
            "eventName": "INSERT" if before is None else "MODIFY",
            "eventSource": "aws:dynamodb",
            "dynamodb": {
                "ApproximateCreationDateTime": self._now().timestamp(),
                "Keys": _keys(after),
                "NewImage": copy.deepcopy(after),
                "SequenceNumber": f"{number:021}",
                "StreamViewType": "NEW_IMAGE",
            },
        }

    def _found(self, form: Mapping[str, Any]) -> Iterator[Stored]:
        name, index = form["TableName"], form.get("IndexName")
        names, values = _scope(form)
        partition = values[":partition"]["S"]
        rows = self._table(name)
        if index is None:
            range_key, shown = "SK", None
            keys = {(partition, each) for each in self._partitions.get((name, partition), ())}
        else:
            _, range_key, shown = INDEXES[index]
            keys = self._listed.get((name, index, partition), set())
        condition = form["KeyConditionExpression"]
        chosen = [rows[key] for key in keys if holds(condition, rows[key], names, values)]
        chosen.sort(key=lambda item: (_order(item[range_key]), _key(item)))
        if not form.get("ScanIndexForward", True):
            chosen.reverse()
        visible = None if shown is None else {*KEYS, "watchShard", "watchAt", *shown}
        for item in chosen:
            yield item if visible is None else {n: v for n, v in item.items() if n in visible}

    def _table(self, name: str) -> dict[Key, Stored]:
        return self._tables.setdefault(name, {})


def _key(item: Stored) -> Key:
    partition, sort_key = (item[name]["S"] for name in KEYS)
    if not partition or not sort_key:
        raise _refused("any", "ValidationException", "a key can't be empty")
    return partition, sort_key


def _keys(item: Stored) -> Stored:
    return {name: item[name] for name in KEYS}


def _scope(form: Mapping[str, Any]) -> tuple[Mapping[str, str], Mapping[str, Any]]:
    names = form.get("ExpressionAttributeNames", {})
    values = {
        name: _normal(value) for name, value in form.get("ExpressionAttributeValues", {}).items()
    }
    return names, values


def _order(attribute: Mapping[str, Any]) -> Any:
    ((kind, value),) = attribute.items()
    return Decimal(value) if kind == "N" else value.encode()


def _normal(attribute: Any) -> Any:
    """As DynamoDB keeps it; raises for what it would refuse."""
    ((kind, value),) = attribute.items()
    if kind == "N":
        text = format(Decimal(value), "f")
        if len(text.strip("-0.").replace(".", "")) > 38:
            raise _refused("any", "ValidationException", "more than 38 digits")
        short = text.rstrip("0").rstrip(".") if "." in text else text
        return {"N": short if Decimal(value) else "0"}
    if kind == "L":
        return {"L": [_normal(each) for each in value]}
    if kind == "M":
        if "" in value:
            raise _refused("any", "ValidationException", "an attribute has a name")
        return {"M": {name: _normal(each) for name, each in value.items()}}
    return attribute


def _refused(
    operation: str,
    code: str,
    message: str = "",
    *,
    item: Stored | None = None,
    reasons: list[dict[str, Any] | None] | None = None,
) -> ClientError:
    answer: dict[str, Any] = {"Error": {"Code": code, "Message": message}}
    if item is not None:
        answer["Item"] = item
    if reasons is not None:
        answer["CancellationReasons"] = [each or {"Code": "None"} for each in reasons]
    return ClientError(answer, operation)
