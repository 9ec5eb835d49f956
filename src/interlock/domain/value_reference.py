"""Value reference: a rule's value that is another field, of the same reading or of another key's."""

from collections.abc import Mapping
from typing import Any

import msgspec

_FIELD_ALONE, _FIELD_AND_KEY = frozenset({"field"}), frozenset({"field", "key"})


class ValueReference(msgspec.Struct, frozen=True):
    """Where the value stands: in a field of the rule's own reading, or of that key's for the same date."""

    field: str
    key: str | None = None

    def __str__(self) -> str:
        return f"field {self.field}" if self.key is None else f"{self.key}.{self.field}"


def is_reference(value: Any) -> bool:
    """Whether a value is a map of exactly `field`, or `field` and `key`; any other map is meant literally."""
    return isinstance(value, Mapping) and value.keys() in (_FIELD_ALONE, _FIELD_AND_KEY)


def reference_of(value: Any) -> ValueReference | None:
    """The reference that a value is; None for any other value."""
    if not is_reference(value):
        return None
    field, key = value["field"], value.get("key")
    return ValueReference(str(field), None if key is None else str(key))
