"""Paces: when each channel accepts its next message."""

from datetime import datetime, timedelta

from interlock.adapters.aws.keys import partition
from interlock.adapters.aws.rows import text, unchanged
from interlock.adapters.aws.table import Key, Table
from interlock.domain.timestamp import instant

_SET = "SET #nextAt = :next"


class DynamoPaces:
    """One slot at a time, shared by all senders: of two that want it, one wins the write."""

    def __init__(self, events: Table) -> None:
        self._events = events

    def take(self, channel: str, now: datetime, every: timedelta) -> datetime:
        """Take the slot if one is free, and return `now`; otherwise return when to try again."""
        free = "attribute_not_exists(#nextAt) OR #nextAt <= :now"
        moments = {"next": text(now + every), "now": text(now)}
        answer = self._events.update(_key(channel), _SET, free, **moments)
        found = answer.found or {}
        if not answer.won and instant(found.get("nextAt")) is None:  # no slot is ever free after it
            condition, seen = unchanged(found, ["nextAt"])
            answer = self._events.update(_key(channel), _SET, condition, **moments, **seen)
        if answer.won:
            return now
        return instant((answer.found or {}).get("nextAt")) or now + every

    def block(self, channel: str, until: datetime) -> None:
        """The channel asked for no messages until then."""
        longer = "attribute_not_exists(#nextAt) OR #nextAt < :next"
        self._events.update(_key(channel), _SET, longer, next=text(until))


def _key(channel: str) -> Key:
    return partition(None), f"SINK#{channel}"
