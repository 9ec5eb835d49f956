"""Reruns: requests to run a date again, and the granted attempts."""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from interlock.adapters.aws.keys import (
    LAST,
    REQUEST,
    partition,
    request_key,
    rerun_key,
    rerun_prefix,
    run_of,
)
from interlock.adapters.aws.rows import WATCH, expiry, is_live, seconds, text
from interlock.adapters.aws.table import Table
from interlock.adapters.aws.values import Item
from interlock.domain import canonical
from interlock.domain.rerun_request import RequestAnswer, RerunRecord, RerunRequest
from interlock.domain.run import RunKey, nominal_time
from interlock.domain.timestamp import instant
from interlock.ports.engine import Clock

_KEPT_REQUEST = timedelta(days=30)
_KEPT_RECORD = timedelta(days=400)
#: The index partition of our own requests that are not judged yet.
_SHARD = "REQUEST"

#: Requests that the index does not list and that have no recorded answer.
_BY_HAND_AND_WAITING = (
    "attribute_exists(#requestedAt) AND attribute_not_exists(#watchShard)"
    " AND (attribute_not_exists(#judged) OR #judged <> #requestedAt)"
)
#: Repeating the same request changes nothing, whether or not it was judged.
NEWER = "(attribute_not_exists(#PK) OR #requestedAt <> :at OR attribute_exists(#removedAt))"


class DynamoReruns:
    """A date has one request at a time: a newer one replaces it, and both are in the stream."""

    def __init__(self, control: Table, rerun: Table, clock: Clock) -> None:
        self._control = control
        self._rerun = rerun
        self._clock = clock

    def request(self, request: RerunRequest) -> None:
        item = request_item(request)
        self._control.put(item, NEWER, at=item["requestedAt"])

    def unjudged(self) -> list[RerunRequest]:
        listed = [(item["PK"], item["SK"]) for item in self._control.query(_SHARD, index=WATCH)]
        now = self._clock()
        rows = (
            row
            for row in self._control.get_many(listed).values()
            if is_live(row, now) and "watchShard" in row
        )
        return self._requests(rows, now)

    def unlisted(self, pipeline_ids: Collection[str]) -> list[RerunRequest]:
        """A request without a time is judged from the stream alone: here there is no way to tell whether it
        was judged already.
        """
        now = self._clock()
        rows = (
            row
            for each in pipeline_ids
            for row in self._control.query(
                partition(each), REQUEST, REQUEST + LAST, keep=_BY_HAND_AND_WAITING
            )
        )
        dated = (row for row in rows if is_live(row, now) and instant(row["requestedAt"]))
        return self._requests(dated, now)

    def judged(self, request: RerunRequest, refused: str = "") -> None:
        """Marks only this request: a newer one still waits."""
        key, at = request_key(request.key), text(request.requested_at)
        noted: Item = {"refused": refused} if refused else {}
        cause = ", #refused = if_not_exists(#refused, :refused)" if refused else ""
        update = f"SET #judged = #requestedAt, #ttl = :ttl{cause} REMOVE #watchShard, #watchAt"
        noted["ttl"] = seconds(self._clock() + _KEPT_REQUEST)
        condition = "#requestedAt = :at AND attribute_not_exists(#removedAt)"
        answer = self._control.update(key, update, condition, at=at, **noted)
        found = answer.found
        if found is None or instant(found.get("requestedAt")) != request.requested_at:
            return
        spelled = found["requestedAt"]  # as an operator wrote it
        self._control.update(key, update, condition, at=spelled, **noted)

    def answers(self, keys: Collection[RunKey]) -> dict[RunKey, RequestAnswer]:
        wanted = {request_key(key): key for key in keys}
        now = self._clock()
        rows = self._control.get_many(wanted) if wanted else {}
        found = ((wanted[place], _answer(row)) for place, row in rows.items() if is_live(row, now))
        return {key: answer for key, answer in found if answer is not None}

    def withdraw(self, key: RunKey, at: datetime) -> None:
        """Nothing is deleted: the row is marked as removed, and expires later."""
        self._control.update(
            request_key(key),
            "SET #removedAt = :at REMOVE #watchShard, #watchAt",
            "attribute_exists(#PK) AND attribute_not_exists(#removedAt)",
            at=text(at),
        )

    def granted(self, key: RunKey) -> list[RerunRecord]:
        prefix = rerun_prefix(key)
        items = self._rerun.query(partition(key.pipeline_id), prefix, prefix + LAST)
        records = self._rerun.readable(items, lambda item: _record(key, item))
        return sorted(records, key=lambda record: record.attempt)

    def _requests(self, rows: Iterable[Item], now: datetime) -> list[RerunRequest]:
        """Oldest first."""
        found = self._control.readable(rows, lambda row: request_from(row, now))
        return sorted(found, key=lambda request: request.requested_at)


def request_item(request: RerunRequest) -> Item:
    place, sort_key = request_key(request.key)
    at = text(request.requested_at)
    return {
        "PK": place,
        "SK": sort_key,
        "reason": request.reason,
        "requestedAt": at,
        "requestedBy": request.requested_by,
        "force": request.force,
        "overBudget": request.over_budget,
        **({} if request.backfill is None else {"backfill": request.backfill}),
        "watchShard": _SHARD,
        "watchAt": at,
    }


def request_from(item: Item, now: datetime) -> RerunRequest:
    """An operator may have written it: unreadable parts get safe defaults. Raises ValueError when its key
    names no schedule and date.
    """
    key = run_of((item["PK"], item["SK"]))
    if key is None:
        raise ValueError("its key is not made of a schedule and a date")
    return RerunRequest(
        key=key,
        reason=str(item.get("reason") or "manual"),
        requested_at=instant(item.get("requestedAt")) or now,
        requested_by=str(item.get("requestedBy") or ""),
        force=item.get("force") is True,
        over_budget=item.get("overBudget") is True,
        backfill=item["backfill"] if isinstance(item.get("backfill"), str) else None,
    )


def _answer(item: Item) -> RequestAnswer | None:
    """None for a row without a time, which only the stream can tell of."""
    at = instant(item.get("requestedAt"))
    if at is None:
        return None
    judged = item.get("judged") is not None and item["judged"] == item["requestedAt"]
    return RequestAnswer(at, judged, str(item.get("refused") or ""))


def record_item(record: RerunRecord) -> Item:
    """Part of the write that opens the attempt. Only one can, so an existing record is of a removed row."""
    plain: dict[str, Any] = canonical.as_json(record)
    plain.pop("key")
    place, sort_key = rerun_key(record.key, record.attempt)
    until = expiry(record.triggered_at + _KEPT_RECORD)
    return {"PK": place, "SK": sort_key, **plain, **until}


def _record(key: RunKey, item: Item) -> RerunRecord:
    """Any writer may have written it: the attempt is in its key."""
    attempt = item["SK"].rpartition("#")[2]
    return RerunRecord(
        key=key,
        attempt=int(attempt),
        source=str(item.get("source") or ""),
        reason=str(item.get("reason") or ""),
        triggered_at=instant(item.get("triggeredAt")) or nominal_time(key),
        requested_by=str(item.get("requestedBy") or ""),
        request=None if item.get("request") is None else str(item["request"]),
    )
