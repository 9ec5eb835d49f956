"""Drift: whether what a job read has changed since.

Drift compares one number with its baseline; late data compares the whole content of a reading.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

from interlock.domain.numbers import EXACT, number
from interlock.domain.rules import field_value


class Drift(msgspec.Struct, frozen=True):
    """A number that moved from its baseline by more than the threshold."""

    field: str
    baseline: int | Decimal
    current: int | Decimal
    delta: Decimal


def drift(
    baseline: Mapping[str, Any],
    current: Mapping[str, Any],
    field: str,
    threshold: int | Decimal = 0,
) -> Drift | None:
    """The drift of one field; also None when a side is absent or not a number: nothing to compare."""
    before, after = number(field_value(baseline, field)), number(field_value(current, field))
    if before is None or after is None:
        return None
    delta = EXACT.subtract(Decimal(after), Decimal(before))
    return Drift(field, before, after, delta) if delta.copy_abs() > threshold else None


def changes(
    before: Mapping[str, Any], after: Mapping[str, Any], limit: int = 20
) -> list[dict[str, Any]]:
    """The top-level fields that differ, for people: field, before, after."""
    names = sorted({*before, *after})
    differing = [name for name in names if before.get(name) != after.get(name)]
    return [
        {"field": name, "before": before.get(name), "after": after.get(name)}
        for name in differing[:limit]
    ]
