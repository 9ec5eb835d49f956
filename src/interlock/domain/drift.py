"""Drift: whether what a job read has changed since.

Drift compares one number with its baseline; late data compares the whole content of a reading.
"""

from collections.abc import Mapping
from decimal import MAX_EMAX, MIN_EMIN, ROUND_DOWN, Context, Decimal
from typing import Any

import msgspec

from interlock.domain.check import number
from interlock.domain.rules import field_value

#: Exact for any two numbers whose digits span fewer than 5,000 places; the default 28 is not. Rounding
#: down and without traps, the farthest numbers that a reading can hold have a difference too.
_EXACT = Context(prec=5000, rounding=ROUND_DOWN, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])


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
    delta = _EXACT.subtract(Decimal(after), Decimal(before))
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
