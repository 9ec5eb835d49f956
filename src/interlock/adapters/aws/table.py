"""Table: a DynamoDB table in plain values. The only place that knows its requests, and how a write loses.

Expressions are written with `#name` for attributes and `:name` for values: `#version = :before`. Values are
passed by those names, so no text of a caller ever becomes part of an expression.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from interlock.adapters.aws.failures import ask
from interlock.adapters.aws.values import Item, marshal, marshal_item, unmarshal_item
from interlock.adapters.unreadable_rows import DAMAGED, MetRows
from interlock.domain.canonical import content_hash
from interlock.domain.unreadable import RowKind, UnreadableRow, problem_of
from interlock.errors import TransientError

T = TypeVar("T")

Key = tuple[str, str]

_LOST = "ConditionalCheckFailedException"
_CANCELLED = "TransactionCanceledException"
_CONDITION = "ConditionalCheckFailed"
_BATCH = 100
_TRIES = 5
_NAME = re.compile(r"#\w+")
_VALUE = re.compile(r":(\w+)")


class WriteResult(msgspec.Struct, frozen=True):
    """The outcome of a conditional write; `found` is the row that was in its way."""

    won: bool
    found: Item | None = None


class TransactionWrite(msgspec.Struct, frozen=True):
    """Part of a transaction, in the client's format."""

    form: dict[str, Any]


class ReadOrder(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows come first, how many at most, and how many are read at a time by a caller who may not
    want them all.
    """

    backwards: bool = False
    limit: int | None = None
    page: int | None = None


FORWARDS = ReadOrder()


class Table:
    """One table. Reads are consistent unless they go through an index. Unreadable rows are noted in `met`."""

    def __init__(self, client: Any, name: str, met: MetRows | None = None) -> None:
        self._client = client
        self.name = name
        self._met = met or MetRows()

    def read(
        self, item: Item, decode: Callable[[Item], T], kind: RowKind = RowKind.RECORD
    ) -> T | UnreadableRow:
        """The contents of a row."""
        try:
            return decode(item)
        except DAMAGED as error:
            return self.note(item, error, kind)

    def readable(
        self,
        items: Iterable[Item],
        decode: Callable[[Item], T],
        kind: RowKind = RowKind.RECORD,
    ) -> Iterator[T]:
        """The values of the readable rows."""
        for item in items:
            found = self.read(item, decode, kind)
            if not isinstance(found, UnreadableRow):
                yield found

    def note(self, item: Item, error: Exception, kind: RowKind = RowKind.RECORD) -> UnreadableRow:
        """Report an unreadable row."""
        row = unreadable_row(self.name, item, error, kind)
        self._met.note(row)
        return row

    def get(self, key: Key) -> Item | None:
        given = {"TableName": self.name, "Key": _key(key), "ConsistentRead": True}
        item = ask(self._client.get_item, **given).get("Item")
        return None if item is None else unmarshal_item(item)

    def get_many(self, keys: Collection[Key]) -> dict[Key, Item]:
        """The rows of these keys that exist."""
        wanted = list(dict.fromkeys(keys))
        if len(wanted) == 1:
            item = self.get(wanted[0])
            return {} if item is None else {wanted[0]: item}
        batches = (wanted[n : n + _BATCH] for n in range(0, len(wanted), _BATCH))
        items = (item for batch in batches for item in self._batch(batch))
        return {(item["PK"], item["SK"]): item for item in items}

    def put(self, item: Mapping[str, Any], condition: str = "", /, **values: Any) -> WriteResult:
        return self._write(self._client.put_item, self._put_form(item, condition, values))

    def update(self, key: Key, update: str, condition: str = "", /, **values: Any) -> WriteResult:
        return self._write(
            self._client.update_item, self._update_form(key, update, condition, values)
        )

    def putting(
        self, item: Mapping[str, Any], condition: str = "", /, **values: Any
    ) -> TransactionWrite:
        """A put as part of a transaction."""
        return TransactionWrite({"Put": self._put_form(item, condition, values)})

    def updating(
        self, key: Key, update: str, condition: str = "", /, **values: Any
    ) -> TransactionWrite:
        """An update as part of a transaction."""
        return TransactionWrite({"Update": self._update_form(key, update, condition, values)})

    def transact(self, writes: Sequence[TransactionWrite]) -> list[WriteResult]:
        """All of them or none: one answer each. The SDK gives each call its own token, so that its own
        retries have no further effect.
        """
        for _ in range(_TRIES):
            try:
                forms = [write.form for write in writes]
                call = self._client.transact_write_items
                ask(call, _CANCELLED, TransactItems=forms)
                return [WriteResult(True)] * len(writes)
            except ClientError as error:
                reasons = error.response.get("CancellationReasons", [])
                if any(reason.get("Code") == _CONDITION for reason in reasons):
                    return [_answer(reason) for reason in reasons]
        raise TransientError("a transaction kept conflicting with others")

    def query(
        self,
        partition: str,
        first: str | int | None = None,
        last: str | int | None = None,
        *,
        index: tuple[str, str, str] | None = None,
        order: ReadOrder = FORWARDS,
        keep: str = "",
        **values: Any,
    ) -> Iterator[Item]:
        """The rows of a partition between two sort keys, page by page.

        `index` is its name and its two attributes; `keep` is an expression that selects rows.
        """
        name, hash_key, range_key = index or (None, "PK", "SK")
        condition = f"#{hash_key} = :partition"
        given: dict[str, Any] = {"partition": partition, **values}
        if first is not None and last is not None:
            condition += f" AND #{range_key} BETWEEN :first AND :last"
            given |= {"first": first, "last": last}
        elif last is not None:
            condition += f" AND #{range_key} <= :last"
            given["last"] = last
        form = {
            "TableName": self.name,
            "KeyConditionExpression": condition,
            "ScanIndexForward": not order.backwards,
            **({"FilterExpression": keep} if keep else {}),
            **({"IndexName": name} if name else {"ConsistentRead": True}),
            **(
                {"Limit": at_a_time}
                if (at_a_time := order.page or order.limit) and not keep
                else {}
            ),
            **_named(f"{condition} {keep}", given),
        }
        return self._pages(form, order.limit)

    def _pages(self, form: dict[str, Any], limit: int | None) -> Iterator[Item]:
        count = 0
        while True:
            page = ask(self._client.query, **form)
            for item in page["Items"]:
                yield unmarshal_item(item)
                count += 1
                if limit is not None and count >= limit:
                    return
            if "LastEvaluatedKey" not in page:
                return
            form = {**form, "ExclusiveStartKey": page["LastEvaluatedKey"]}

    def _batch(self, keys: Sequence[Key]) -> Iterator[Item]:
        asked = {self.name: {"Keys": [_key(key) for key in keys], "ConsistentRead": True}}
        for _ in range(_TRIES):
            answer = ask(self._client.batch_get_item, RequestItems=asked)
            yield from map(unmarshal_item, answer["Responses"].get(self.name, ()))
            asked = answer.get("UnprocessedKeys") or {}
            if not asked:
                return
        raise TransientError("BatchGetItem: some keys were still unread after every retry")

    def _write(self, call: Any, form: dict[str, Any]) -> WriteResult:
        try:
            ask(call, _LOST, **form)
        except ClientError as error:
            return _answer({"Code": _CONDITION, "Item": error.response.get("Item")})
        return WriteResult(True)

    def _put_form(
        self, item: Mapping[str, Any], condition: str, values: Mapping[str, Any]
    ) -> dict[str, Any]:
        return {"TableName": self.name, "Item": marshal_item(item), **_condition(condition, values)}

    def _update_form(
        self, key: Key, update: str, condition: str, values: Mapping[str, Any]
    ) -> dict[str, Any]:
        form = {"TableName": self.name, "Key": _key(key), "UpdateExpression": update}
        return form | _condition(condition, values, update)


def unreadable_row(table: str, item: Item, error: Exception, kind: RowKind) -> UnreadableRow:
    """What the row belongs to, as far as its key says."""
    partition, sort_key = str(item.get("PK", "")), str(item.get("SK", ""))
    schedule_id, date = _of_date(sort_key)
    name = partition.partition("#")[2] if partition.startswith("PIPELINE#") else ""
    return UnreadableRow(
        table=table,
        key=f"{partition} {sort_key}",
        problem=problem_of(error),
        content=content_hash({n: v for n, v in item.items() if n not in _OURS}, 16),
        kind=kind,
        pipeline_id=name if name and not name.startswith("_") else None,
        schedule_id=schedule_id,
        date=date,
    )


def _of_date(sort_key: str) -> tuple[str | None, str | None]:
    """The schedule and date in the key of a row of one date."""
    kind, *rest = sort_key.split("#")
    return (rest[0], rest[1]) if kind in _OF_A_DATE and len(rest) > 1 else (None, None)


#: The attributes that we change even on unreadable rows: the outbox, and the place in the index.
_OURS = frozenset({"outbox", "outboxAt", "watchShard", "watchAt"})
#: The kinds of rows whose key continues with a schedule and a date.
_OF_A_DATE = frozenset(
    {
        "TRIGGER",
        "DRY_RUN",
        "RERUN_REQUEST",
        "JOB",
        "DRY_JOB",
        "RERUN",
        "DRY_RERUN",
        "THREAD",
        "HANDLING",
    }
)


def _answer(reason: Mapping[str, Any]) -> WriteResult:
    found = reason.get("Item")
    return WriteResult(reason.get("Code") == "None", None if not found else unmarshal_item(found))


def _condition(condition: str, values: Mapping[str, Any], update: str = "") -> dict[str, Any]:
    named = _named(f"{condition} {update}", values)
    if not condition:
        return named
    wanted = {"ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
    return {"ConditionExpression": condition, **wanted, **named}


def _named(expressions: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The names and values that the expressions use, and no others."""
    names = {name: name[1:] for name in _NAME.findall(expressions)}
    spoken = {f":{name}": marshal(values[name]) for name in _VALUE.findall(expressions)}
    return {
        **({"ExpressionAttributeNames": names} if names else {}),
        **({"ExpressionAttributeValues": spoken} if spoken else {}),
    }


def _key(key: Key) -> dict[str, Any]:
    return {"PK": {"S": key[0]}, "SK": {"S": key[1]}}
