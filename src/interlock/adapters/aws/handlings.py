"""Handlings: what people did about the alerts of each date, stored beside its threads.

The event that announces it is claimed in the control table, in the same transaction.
"""

from collections.abc import Collection

from interlock.adapters.aws.claims import claim_item
from interlock.adapters.aws.keys import partition
from interlock.adapters.aws.rows import ABSENT, KEPT, as_of, decoder, seconds, unchanged
from interlock.adapters.aws.table import Key, Table, WriteResult
from interlock.adapters.aws.values import Item
from interlock.domain import canonical
from interlock.domain.alerting.handling import Handling
from interlock.domain.alerting.threads import AlertKey
from interlock.domain.event import Event
from interlock.domain.unreadable import UnreadableRow

_handling = decoder(Handling).decode


class DynamoHandlings:
    """Every write is conditional on the version before it; a first one also replaces an unreadable row."""

    def __init__(self, events: Table, control: Table) -> None:
        self._events, self._control = events, control

    def find(self, key: AlertKey) -> Handling | None:
        return self.of_keys([key]).get(key)

    def of_keys(self, keys: Collection[AlertKey]) -> dict[AlertKey, Handling]:
        rows = self._events.get_many([_key(key) for key in keys]).values() if keys else ()
        return {handling.key: handling for handling in self._events.readable(rows, _read)}

    def save(self, handling: Handling, event: Event | None = None) -> bool:
        first = handling.version == 1
        condition = "attribute_not_exists(#PK)" if first else "#version = :before"
        answer = self._put(handling, event, condition, before=handling.version - 1)
        if answer.won or not first or not self._is_unreadable(answer.found):
            return answer.won
        condition, seen = unchanged(answer.found or {}, ("body", "version"))
        return self._put(handling, event, condition, **seen).won

    def _put(
        self, handling: Handling, event: Event | None, condition: str, **values: object
    ) -> WriteResult:
        if event is None:
            return self._events.put(_item(handling), condition, **values)
        now = handling.changed_at
        claimed = self._control.putting(claim_item(event, now), ABSENT, **as_of(now))
        written = self._events.putting(_item(handling), condition, **values)
        answers = self._events.transact([written, claimed])
        return WriteResult(all(answer.won for answer in answers), answers[0].found)

    def _is_unreadable(self, found: Item | None) -> bool:
        return found is not None and isinstance(self._events.read(found, _read), UnreadableRow)


def _item(handling: Handling) -> Item:
    place, sort_key = _key(handling.key)
    return {
        "PK": place,
        "SK": sort_key,
        "body": canonical.encode(handling),
        "version": handling.version,
        "ttl": seconds(handling.changed_at + 2 * KEPT),
    }


def _read(row: Item) -> Handling:
    """Raises ValueError when the text belongs to another row: saving it would never update this one."""
    found: Handling = _handling(row["body"])
    if _key(found.key) != (row["PK"], row["SK"]) or found.version != row["version"]:
        raise ValueError(f"its text belongs to {found.key}, version {found.version}")
    return found


def _key(key: AlertKey) -> Key:
    return partition(key.pipeline), f"HANDLING#{key.schedule}#{key.date}"
