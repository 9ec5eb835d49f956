"""Scalars: what a scalar means where it is written.

Plain scalars are read by the core schema of YAML 1.2, so `10:00`, `2026-03-03`, `no` and `on` are text;
only where a boolean is expected do `yes`, `no`, `on` and `off` mean one. Numbers are exact.
"""

import re
from decimal import Decimal, DecimalException
from functools import lru_cache

from interlock.files.nodes import Scalar

_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
_BOOLEANS = {
    spelling: truth
    for word, truth in (
        ("true", True),
        ("yes", True),
        ("on", True),
        ("false", False),
        ("no", False),
        ("off", False),
    )
    for spelling in (word, word.capitalize(), word.upper())
}
_ENDLESS = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_NO_NUMBER = frozenset({".nan", ".NaN", ".NAN"})
_WHOLE = re.compile(r"[-+]?[0-9]+")
_RADIX = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_POINT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_MAYBE_NUMBER = frozenset("+-.0123456789")

#: Longer texts are not intended as numbers.
_LONGEST_NUMBER = 1000

Meaning = str | int | Decimal | bool | None


def meaning(scalar: Scalar) -> Meaning:
    """What a scalar means in an untyped field. A number that can't be represented is NaN."""
    return _plain(scalar.text) if scalar.plain else scalar.text


def boolean(scalar: Scalar) -> bool | None:
    """What it means where a boolean is expected; None if it is not one."""
    return _BOOLEANS.get(scalar.text) if scalar.plain else None


def is_nothing(scalar: Scalar) -> bool:
    return scalar.plain and scalar.text in _NOTHING


@lru_cache(maxsize=8192)
def _plain(text: str) -> Meaning:
    if text in _NOTHING:
        return None
    if text in ("true", "True", "TRUE"):
        return True
    if text in ("false", "False", "FALSE"):
        return False
    if text[0] not in _MAYBE_NUMBER:
        return text
    number = _number(text)
    return text if number is None else number


def _number(text: str) -> int | Decimal | None:
    if text in _NO_NUMBER:
        return Decimal("NaN")
    if endless := _ENDLESS.fullmatch(text):
        return Decimal(f"{endless[1]}Infinity")
    if _RADIX.fullmatch(text):
        return int(text, 0) if len(text) <= _LONGEST_NUMBER else Decimal("NaN")
    if _POINT.fullmatch(text) is None:
        return None
    if len(text) > _LONGEST_NUMBER:
        return Decimal("NaN")
    return int(text) if _WHOLE.fullmatch(text) else _decimal(text)


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except DecimalException:
        return Decimal("NaN")
