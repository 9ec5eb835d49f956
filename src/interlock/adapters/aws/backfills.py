"""Backfills: ranges of dates that run a few at a time, in the control table."""

from collections.abc import Sequence
from datetime import timedelta

from interlock.adapters.aws import keys
from interlock.adapters.aws.claims import claim_item
from interlock.adapters.aws.keys import BACKFILL, LAST, backfill_key, partition
from interlock.adapters.aws.rows import WATCH, expiry, is_live
from interlock.adapters.aws.table import ReadOrder, Table
from interlock.adapters.aws.values import Item
from interlock.adapters.backfill_text import decode_backfill, encode_backfill
from interlock.domain.backfill import Backfill
from interlock.domain.event import Event
from interlock.domain.unreadable import UnreadableRow, unreadable_error
from interlock.ports.engine import Clock

#: How long a finished backfill is kept.
_KEPT = timedelta(days=400)
#: The index partition of those that need attention.
_SHARD = "BACKFILL"
_PAGE = 25


class DynamoBackfills:
    """One row each. A write and the claims of its events are one transaction."""

    def __init__(self, control: Table, clock: Clock) -> None:
        self._control = control
        self._clock = clock

    def find(self, backfill_id: str) -> Backfill | None:
        item = self._control.get(backfill_key(backfill_id))
        if item is None or not is_live(item, self._clock()):
            return None
        found = self._control.read(item, _backfill)
        if isinstance(found, UnreadableRow):
            raise unreadable_error(f"the stored backfill {backfill_id}", found.problem)
        return found

    def save(self, backfill: Backfill, events: Sequence[Event] = ()) -> bool:
        item, now = _item(backfill), self._clock()
        first = backfill.version == 1
        condition = "attribute_not_exists(#PK)" if first else "#version = :before"
        last = backfill.version - 1
        if not events:
            return self._control.put(item, condition, before=last).won
        writes = [self._control.putting(item, condition, before=last)]
        writes += [self._control.putting(claim_item(event, now)) for event in events]
        return all(answer.won for answer in self._control.transact(writes))

    def unsettled(self) -> list[Backfill]:
        listed = [(item["PK"], item["SK"]) for item in self._control.query(_SHARD, index=WATCH)]
        rows = self._control.get_many(listed) if listed else {}
        found = self._control.readable(rows.values(), _backfill)
        return sorted((each for each in found if each.needs_attention), key=lambda each: each.id)

    def newest(
        self, limit: int, before: str | None = None, pipeline_id: str | None = None
    ) -> list[Backfill]:
        last = BACKFILL + LAST if before is None else keys.before(BACKFILL + before)
        order, now = ReadOrder(backwards=True, page=_PAGE), self._clock()
        rows = self._control.query(partition(None), BACKFILL, last, order=order)
        live = (row for row in rows if is_live(row, now))
        found = []
        for each in self._control.readable(live, _backfill):
            if pipeline_id in (None, each.pipeline_id):
                found.append(each)
            if len(found) == limit:
                break
        return found


def _item(backfill: Backfill) -> Item:
    place, sort_key = backfill_key(backfill.id)
    look = {"watchShard": _SHARD, "watchAt": backfill.id} if backfill.needs_attention else {}
    gone_at = backfill.changed_at + _KEPT if backfill.is_over else None
    return {
        "PK": place,
        "SK": sort_key,
        "version": backfill.version,
        "pipelineId": backfill.pipeline_id,
        "state": backfill.state,
        "backfill": encode_backfill(backfill),
        **look,
        **expiry(gone_at),
    }


def _backfill(item: Item) -> Backfill:
    found = decode_backfill(item["backfill"])
    stored = item["SK"].removeprefix(BACKFILL), item["version"]
    if (found.id, found.version) != stored:
        raise ValueError(f"its text belongs to version {found.version} of {found.id}")
    return found
