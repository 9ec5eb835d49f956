"""Numbers: what counts as a number in readings and files, exactly."""

import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_DOWN, Context, Decimal, InvalidOperation
from functools import lru_cache
from typing import Any

#: Exact for any two numbers whose digits span fewer than 5,000 places; the default 28 is not. Rounding
#: down and without traps, the farthest numbers that a reading can hold have a difference too.
EXACT = Context(prec=5000, rounding=ROUND_DOWN, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])

_PLAIN_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def number(value: Any) -> int | Decimal | None:
    """A finite number or a plain decimal text, exactly; None for anything else, booleans too."""
    kind = type(value)
    if kind is int:
        return value  # type: ignore[no-any-return] # `type(value) is int` does not narrow Any
    if kind is Decimal:
        return value if value.is_finite() else None
    if kind is str:
        return _plain_number(value)
    return None


@lru_cache(maxsize=4096)
def _plain_number(text: str) -> Decimal | None:
    if _PLAIN_NUMBER.fullmatch(text) is None:
        return None
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent beyond what Decimal can hold
        return None
