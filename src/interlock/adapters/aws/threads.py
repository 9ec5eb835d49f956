"""Threads: the thread of one date's alerts in one channel.

The first channel of a date has the plain row; a further channel has its own row, named after it.
"""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import msgspec

from interlock.adapters.aws.keys import AFTER, partition
from interlock.adapters.aws.rows import KEPT, seconds, unchanged
from interlock.adapters.aws.table import Key, Table, WriteResult
from interlock.adapters.aws.values import Item
from interlock.domain import canonical
from interlock.domain.alerting.threads import Thread, ThreadKey
from interlock.domain.unreadable import UnreadableRow

_FIELDS = tuple(
    field.encode_name for field in msgspec.structs.fields(Thread) if field.name != "key"
)


#: The start of a thread whose row does not record it.
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


class DynamoThreads:
    """Every write is conditional on the version before it."""

    def __init__(self, events: Table) -> None:
        self._events = events

    def find(self, key: ThreadKey) -> Thread | None:
        """A row without a channel serves every channel until one of them claims it."""
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

    def save(self, thread: Thread) -> bool:
        answer = self._put(_plain(thread.key), thread)
        if answer.won or (answer.found or {}).get("channelId") == thread.key.channel:
            return answer.won
        if answer.found is None:
            return False  # a next version of what was never stored
        return self._put(_of_channel(thread.key), thread).won

    def _put(self, place: Key, thread: Thread) -> WriteResult:
        """A first version also replaces a row without a channel, or an unreadable one: alerts must be
        sent, and their thread matters less than that.
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
        """Whether a conflicting row belongs to no thread, or to an unreadable one."""
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
    """As others may have written it: with only the position of its first message, it is version 0, and that
    message is left as it is.
    """
    plain = {name: row[name] for name in _FIELDS if name in row}
    if isinstance(plain.get("threadTs"), int | Decimal):
        plain["threadTs"] = f"{plain['threadTs']:.6f}"
    bare = {"version": 0, "createdAt": _LONG_AGO, "claimUntil": _LONG_AGO}
    thread = msgspec.convert({**bare, **plain, "key": msgspec.to_builtins(key)}, Thread)
    shown = thread.root_hash or (thread.face if thread.version == 0 else "")
    return msgspec.structs.replace(thread, root_hash=shown)


def _plain(key: ThreadKey) -> Key:
    return partition(key.pipeline), f"THREAD#{key.schedule}#{key.date}"


def _of_channel(key: ThreadKey) -> Key:
    place, sort_key = _plain(key)
    return place, f"{sort_key}#{key.channel}"
