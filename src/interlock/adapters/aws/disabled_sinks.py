"""Disabled sinks: sinks that asked for no more messages."""

from interlock.adapters.aws.keys import partition
from interlock.adapters.aws.table import Key, Table


class DynamoSwitches:
    """A sink stays disabled until its declaration changes."""

    def __init__(self, events: Table) -> None:
        self._events = events

    def turn_off(self, sink: str, declared: str) -> None:
        place, sort_key = _key(sink)
        self._events.put({"PK": place, "SK": sort_key, "declared": declared})

    def is_off(self, sink: str, declared: str) -> bool:
        row = self._events.get(_key(sink))
        return row is not None and row.get("declared") == declared


def _key(sink: str) -> Key:
    return partition(None), f"SWITCH#{sink}"
