"""Change limit: how far a number may move from the previous date's, as `changed_by` declares it."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec

from interlock.domain.numbers import EXACT, number

_PERCENT = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+) ?%")
_SIDES = ("down", "up")
_FORMS = "a number, a percentage such as 20%, or a map of down and up"


class SideLimit(msgspec.Struct, frozen=True):
    """How far in one direction: so much, or so many percent of the previous value."""

    amount: int | Decimal
    is_percent: bool = False

    def allows(self, step: Decimal, previous: Decimal) -> bool:
        """A percentage of zero is zero. Both sides are multiplied, because a quotient may not be exact."""
        if not self.is_percent:
            return step <= self.amount
        return EXACT.multiply(step, Decimal(100)) <= EXACT.multiply(
            previous.copy_abs(), Decimal(self.amount)
        )


class ChangeLimit(msgspec.Struct, frozen=True):
    """How far down and up, and whether a date without a predecessor passes. None: any distance."""

    down: SideLimit | None
    up: SideLimit | None
    first_passes: bool = False

    def allows(self, previous: int | Decimal, current: int | Decimal) -> bool:
        before = Decimal(previous)
        step = EXACT.subtract(Decimal(current), before)
        side = self.down if step < 0 else self.up
        return step == 0 or side is None or side.allows(step.copy_abs(), before)


def change_limit(value: Any) -> ChangeLimit:
    """The limit that a value spells. Raises ValueError with what is wrong."""
    if not isinstance(value, Mapping):
        side = _side(value)
        return ChangeLimit(side, side)
    unknown = sorted(str(name) for name in value.keys() - {*_SIDES, "first"})
    if unknown:
        raise ValueError(f"{unknown[0]} is unknown here; allowed: down, up, first")
    first = value.get("first")
    if first not in (None, "pass"):
        raise ValueError("first can only be pass")
    down, up = (None if value.get(name) is None else _side(value[name]) for name in _SIDES)
    if down is None and up is None:
        raise ValueError("needs down, up or both: without either, every change passes")
    return ChangeLimit(down, up, first is not None)


def spell_limit(value: Any) -> str:
    """The limit for people; a value of another form as it is."""
    try:
        limit = change_limit(value)
    except ValueError:
        return str(value)
    if not isinstance(value, Mapping):
        return f"{value} up or down"
    given = [f"{value[name]} {name}" for name in _SIDES if value.get(name) is not None]
    open_side = "" if None not in (limit.down, limit.up) else ", any distance the other way"
    return " and ".join(given) + open_side


def _side(value: Any) -> SideLimit:
    percent = _PERCENT.fullmatch(value) if isinstance(value, str) else None
    if percent is not None:
        return SideLimit(Decimal(percent[1]), is_percent=True)
    amount = number(value)
    if amount is None:
        raise ValueError(f"changed_by compares with {_FORMS}")
    if amount < 0:
        raise ValueError("a change is measured without a sign: use down or up for a direction")
    return SideLimit(amount)
