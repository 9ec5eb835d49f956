"""Threads: where the alerts of one date in one channel hang together.

The first channel of a date has the plain row; a further one has a row of its own, named after it.
"""

from typing import Any

import msgspec

from interlock.adapters.aws.keys import AFTER, partition
from interlock.adapters.aws.rows import KEPT, seconds
from interlock.adapters.aws.table import Answer, Key, Table
from interlock.adapters.aws.values import Item
from interlock.domain import canonical
from interlock.domain.thread import Thread, ThreadKey

_FIELDS = tuple(
    field.encode_name for field in msgspec.structs.fields(Thread) if field.name != "key"
)


class DynamoThreads:
    """Every write is conditional on the version before it."""

    def __init__(self, events: Table) -> None:
        self._events = events

    def find(self, key: ThreadKey) -> Thread | None:
        rows = self._events.get_many([_plain(key), _of_channel(key)]).values()
        mine = (row for row in rows if row["channelId"] == key.channel)
        return next((_thread(key, row) for row in mine), None)

    def of_date(self, pipeline: str, schedule: str, date: str) -> list[Thread]:
        first = f"THREAD#{schedule}#{date}"
        rows = self._events.query(partition(pipeline), first, f"{first}#{AFTER}")
        threads = [
            _thread(ThreadKey(pipeline, schedule, date, row["channelId"]), row) for row in rows
        ]
        return sorted(threads, key=lambda thread: thread.key.channel)

    def save(self, thread: Thread) -> bool:
        answer = self._put(_plain(thread.key), thread)
        if answer.won or (answer.found or {}).get("channelId") == thread.key.channel:
            return answer.won
        if answer.found is None:
            return False  # a next version of what was never stored
        return self._put(_of_channel(thread.key), thread).won

    def _put(self, place: Key, thread: Thread) -> Answer:
        first = thread.version == 1
        condition = (
            "attribute_not_exists(#PK)" if first else "#version = :before AND #channelId = :channel"
        )
        values = {"before": thread.version - 1, "channel": thread.key.channel}
        return self._events.put(_item(place, thread), condition, **values)


def _item(place: Key, thread: Thread) -> Item:
    plain: dict[str, Any] = canonical.as_json(thread)
    return {
        "PK": place[0],
        "SK": place[1],
        "channelId": thread.key.channel,
        **{name: plain[name] for name in _FIELDS if name in plain},
        "ttl": seconds(thread.created_at + 2 * KEPT),
    }


def _thread(key: ThreadKey, row: Item) -> Thread:
    plain = {name: row[name] for name in _FIELDS if name in row}
    return msgspec.convert({**plain, "key": msgspec.to_builtins(key)}, Thread)


def _plain(key: ThreadKey) -> Key:
    return partition(key.pipeline), f"THREAD#{key.schedule}#{key.date}"


def _of_channel(key: ThreadKey) -> Key:
    place, sort_key = _plain(key)
    return place, f"{sort_key}#{key.channel}"
