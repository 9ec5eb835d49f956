"""Watch: the watchdog's own row."""

from typing import Any

import msgspec

from interlock.adapters.aws.keys import watchdog_key
from interlock.adapters.aws.rows import unchanged
from interlock.adapters.aws.table import Table
from interlock.adapters.aws.values import Item
from interlock.domain import canonical
from interlock.domain.unreadable import UnreadableRow
from interlock.domain.watchdog_state import WatchdogState

_NESTED = ("lagging", "failures", "suspects")
_FIELDS = tuple(field.encode_name for field in msgspec.structs.fields(WatchdogState))


class DynamoWatch:
    """Before the first save there is version 0."""

    def __init__(self, control: Table) -> None:
        self._control = control

    def load(self) -> WatchdogState:
        item = self._control.get(watchdog_key())
        found = None if item is None else self._control.read(item, _state)
        return found if isinstance(found, WatchdogState) else WatchdogState()

    def save(self, state: WatchdogState) -> bool:
        """False if another writer stored that version first."""
        place, sort_key = watchdog_key()
        plain: dict[str, Any] = canonical.as_json(state)
        nested = {name: canonical.encode(plain[name]) for name in _NESTED}
        first = state.version == 1
        condition = "attribute_not_exists(#PK)" if first else "#version = :before"
        item = {"PK": place, "SK": sort_key, **plain, **nested}
        answer = self._control.put(item, condition, before=state.version - 1)
        if answer.won or not first or answer.found is None:
            return answer.won
        return self._replace(answer.found, item)

    def _replace(self, found: Item, item: Item) -> bool:
        """The first state replaces an unreadable one: a pass must not wait for it."""
        if not isinstance(self._control.read(found, _state), UnreadableRow):
            return False
        condition, seen = unchanged(found, _FIELDS)
        return self._control.put(item, condition, **seen).won


def _state(item: Item) -> WatchdogState:
    plain: dict[str, Any] = {name: item[name] for name in _FIELDS if name in item}
    for name in _NESTED:
        if name in plain:
            plain[name] = canonical.decode(plain[name])
    return msgspec.convert({**plain, "version": item["version"]}, WatchdogState)
