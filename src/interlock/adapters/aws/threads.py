"""Threads: the thread that holds the alerts of one date in one channel.

The first channel of a date has the plain row; each further channel has its own row, named after it.
"""

from collections.abc import Collection
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec

from interlock.adapters.aws.keys import AFTER, LAST, partition
from interlock.adapters.aws.parallel_reads import Fan
from interlock.adapters.aws.rows import KEPT, seconds, unchanged
from interlock.adapters.aws.table import Key, Table, WriteResult
from interlock.adapters.aws.values import Item
from interlock.domain import canonical
from interlock.domain.alerting.threads import SYSTEM, Thread, ThreadKey
from interlock.domain.event import Phase
from interlock.domain.unreadable import UnreadableRow

_FIELDS = tuple(
    field.encode_name for field in msgspec.structs.fields(Thread) if field.name != "key"
)


#: The start of a thread whose row does not say when it began.
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class DynamoThreads:
    """Every write is conditional on the version before it."""

    def __init__(self, events: Table, fan: Fan | None = None) -> None:
        self._events = events
        self._fan = fan or Fan()

    def find(self, key: ThreadKey) -> Thread | None:
        """A row without a channel serves every channel until one of them takes it."""
        rows = self._events.get_many([_plain(key), _of_channel(key)]).values()
        own = [row for row in rows if row.get("channelId") == key.channel]
        free = [row for row in rows if "channelId" not in row and "threadTs" in row]
        return next(self._events.readable([*own, *free], lambda row: _thread(key, row)), None)

    def of_date(self, pipeline: str, schedule: str, date: str) -> list[Thread]:
        first = f"THREAD#{schedule}#{date}"
        rows = self._events.query(partition(pipeline), first, f"{first}#{AFTER}")
        named = [row for row in rows if isinstance(row.get("channelId"), str)]
        threads = self._events.readable(
            named, lambda row: _thread(ThreadKey(pipeline, schedule, date, row["channelId"]), row)
        )
        return sorted(threads, key=lambda thread: thread.key.channel)

    def open(self, pipelines: Collection[str], limit: int) -> list[Thread]:
        """One request per pipeline."""
        found = [
            thread
            for threads in self._fan.map(self._open_of, (*pipelines, SYSTEM))
            for thread in threads
        ]
        newest = sorted(found, key=lambda thread: thread.created_at, reverse=True)
        return newest[:limit]

    def _open_of(self, pipeline: str) -> list[Thread]:
        rows = self._events.query(
            partition(pipeline),
            "THREAD#",
            f"THREAD#{LAST}",
            keep="(attribute_not_exists(#state) OR #state <> :done) AND attribute_exists(#channelId)",
            done=Phase.DONE,
        )
        return list(self._events.readable(rows, lambda row: _thread(_key_of(pipeline, row), row)))

    def save(self, thread: Thread) -> bool:
        answer = self._put(_plain(thread.key), thread)
        if answer.won or (answer.found or {}).get("channelId") == thread.key.channel:
            return answer.won
        if answer.found is None:
            return False  # a later version of a thread that was never stored
        return self._put(_of_channel(thread.key), thread).won

    def _put(self, place: Key, thread: Thread) -> WriteResult:
        """A first version also replaces a row without a channel, or an unreadable one: sending the alerts
        matters more than where they appear.
        """
        first = thread.version == 1
        condition = (
            "attribute_not_exists(#PK)" if first else "#version = :before AND #channelId = :channel"
        )
        values = {"before": thread.version - 1, "channel": thread.key.channel}
        item = _item(place, thread)
        answer = self._events.put(item, condition, **values)
        if answer.won or not first or not self._is_free(thread.key, answer.found or {}):
            return answer
        condition, seen = unchanged(answer.found or {}, ("channelId", *_FIELDS))
        return self._events.put(item, condition, **seen)

    def _is_free(self, key: ThreadKey, found: Item) -> bool:
        """Whether the row in the way belongs to no thread, or to an unreadable one."""
        if found.get("channelId", key.channel) != key.channel:
            return False
        if "channelId" not in found or "version" not in found:
            return True
        return isinstance(self._events.read(found, lambda row: _thread(key, row)), UnreadableRow)


def _item(place: Key, thread: Thread) -> Item:
    plain: dict[str, Any] = canonical.as_json(thread)
    return {
        "PK": place[0],
        "SK": place[1],
        "channelId": thread.key.channel,
        **{name: plain[name] for name in _FIELDS if name in plain},
        "ttl": None if thread.created_at == _LONG_AGO else seconds(thread.created_at + 2 * KEPT),
    }


def _thread(key: ThreadKey, row: Item) -> Thread:
    """Other writers may have written it: a row with only the place of its first message has version 0, and
    that message is left as it is.
    """
    plain = {name: row[name] for name in _FIELDS if name in row}
    if isinstance(plain.get("threadTs"), int | Decimal):
        plain["threadTs"] = f"{plain['threadTs']:.6f}"
    bare = {"version": 0, "createdAt": _LONG_AGO, "claimUntil": _LONG_AGO}
    thread = msgspec.convert({**bare, **plain, "key": msgspec.to_builtins(key)}, Thread)
    shown = thread.root_hash or (thread.face if thread.version == 0 else "")
    return msgspec.structs.replace(thread, root_hash=shown)


def _key_of(pipeline: str, row: Item) -> ThreadKey:
    """Raises ValueError when the sort key is none of a thread's."""
    _, schedule, date, *_ = str(row["SK"]).split("#")
    return ThreadKey(pipeline, schedule, date, str(row["channelId"]))


def _plain(key: ThreadKey) -> Key:
    return partition(key.pipeline), f"THREAD#{key.schedule}#{key.date}"


def _of_channel(key: ThreadKey) -> Key:
    place, sort_key = _plain(key)
    return place, f"{sort_key}#{key.channel}"
