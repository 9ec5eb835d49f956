"""Values: how plain values are stored as DynamoDB attributes, and how producers' attributes are read.

Numbers are exact in both directions: whole numbers come back as int, the rest as Decimal.
"""

import base64
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

Item = dict[str, Any]

#: What a number of DynamoDB can hold: this many digits, and no number beyond these powers of ten.
MOST_DIGITS = 38
LARGEST_POWER = 125
SMALLEST_POWER = -130
#: How deep lists and maps may nest.
DEEPEST = 30


def marshal(value: Any) -> dict[str, Any]:
    """Raises ValueError for what an attribute can't hold exactly."""
    if value is None:
        return {"NULL": True}
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, str):
        return {"S": str(value)}
    if isinstance(value, int | Decimal):
        return {"N": _number(value)}
    if isinstance(value, Mapping):
        return {"M": {_name(name): marshal(each) for name, each in value.items()}}
    if isinstance(value, Iterable):
        return {"L": [marshal(each) for each in value]}
    raise ValueError(f"{type(value).__name__} is not a valid attribute value")


def marshal_item(item: Mapping[str, Any]) -> dict[str, Any]:
    """None is left out."""
    return {name: marshal(value) for name, value in item.items() if value is not None}


def unmarshal(attribute: Mapping[str, Any]) -> Any:
    """Anything a producer may have written; sets come as sorted lists, binary as base64."""
    ((kind, value),) = attribute.items()
    return _READERS[kind](value)


def unmarshal_item(attributes: Mapping[str, Any]) -> Item:
    return {name: unmarshal(attribute) for name, attribute in attributes.items()}


def fits_a_map(fields: Mapping[str, Any], depth: int = DEEPEST) -> bool:
    """Whether a map of attributes can hold these fields exactly."""
    return all(
        _fits(name, depth) and _fits(value, depth) and name for name, value in fields.items()
    )


def _fits(value: Any, depth: int) -> bool:
    if isinstance(value, Mapping):
        return depth > 0 and fits_a_map(value, depth - 1)
    if isinstance(value, list | tuple):
        return depth > 0 and all(_fits(each, depth - 1) for each in value)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return _is_exact(Decimal(value))
    return True


def _is_exact(number: Decimal) -> bool:
    if not number.is_finite():
        return False
    if not SMALLEST_POWER <= number.adjusted() <= LARGEST_POWER:
        return not number
    digits = "".join(map(str, number.as_tuple().digits)).strip("0")
    return len(digits) <= MOST_DIGITS


def _number(value: int | Decimal) -> str:
    if not _is_exact(Decimal(value)):
        raise ValueError(f"a DynamoDB number has at most {MOST_DIGITS} digits")
    return str(value)


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise ValueError("an attribute name must be a non-empty text")
    return name


def _read_number(text: str) -> int | Decimal:
    return int(text) if text.lstrip("-").isdigit() else Decimal(text)


def _read_binary(value: Any) -> str:
    """A client returns bytes; a stream record already has base64."""
    return value if isinstance(value, str) else base64.b64encode(bytes(value)).decode()


_READERS: dict[str, Callable[[Any], Any]] = {
    "S": str,
    "N": _read_number,
    "BOOL": bool,
    "NULL": lambda value: None,
    "L": lambda values: [unmarshal(each) for each in values],
    "M": unmarshal_item,
    "SS": sorted,
    "NS": lambda values: sorted(map(_read_number, values)),
    "B": _read_binary,
    "BS": lambda values: sorted(map(_read_binary, values)),
}
