"""Reader: walks a tree of nodes along the type of a struct and builds it, noting every problem.

What a struct's fields are is asked of msgspec once; from that a tree of small readers is made and kept.
A reader gives the value, or BROKEN when it has noted an error. A struct with a broken part is still
built, so that the checks between its sound parts can be made.
"""

import difflib
from collections.abc import Callable
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any

from msgspec import inspect

from interlock.domain import duration
from interlock.files.forms import DUE, check_form, hint_for
from interlock.files.nodes import List, Map, Node, Scalar
from interlock.files.problem import Kind, Path, printable, quoted
from interlock.files.reading import BROKEN, At, Reading
from interlock.files.rewrites import REWRITES
from interlock.files.scalars import boolean, is_nothing, meaning

Read = Callable[[Node, Path, Reading], Any]
Extra = dict[str, Any]

#: What stores and platforms hold; it also keeps `1e999999999` from being written out.
LARGEST_WHOLE = 2**63 - 1


@lru_cache(maxsize=256)
def reader(kind: type) -> Read:
    """The reader of a struct type."""
    return _reader(inspect.type_info(kind), {})


def _reader(kind: inspect.Type, extra: Extra) -> Read:
    if isinstance(kind, inspect.Metadata):
        return _reader(kind.type, {**(kind.extra or {}), **extra})
    read = _MAKERS[type(kind)](kind, extra)
    rewrite = REWRITES.get(extra.get("also", ""))
    return read if rewrite is None else _rewritten(rewrite, read)


def _rewritten(rewrite: Callable[[Node], Node], read: Read) -> Read:
    def read_rewritten(node: Node, path: Path, reading: Reading) -> Any:
        try:
            node = rewrite(node)
        except ValueError as error:
            return reading.error(path, node, Kind.BAD_VALUE, str(error))
        return read(node, path, reading)

    return read_rewritten


def _union(kind: inspect.UnionType, extra: Extra) -> Read:
    """Only "this or nothing" occurs, and nothing was sorted out before."""
    (only,) = (each for each in kind.types if not isinstance(each, inspect.NoneType))
    return _reader(only, extra)


def _text(kind: inspect.StrType, extra: Extra) -> Read:
    form, longest = extra.get("form"), extra.get("longest")
    due = DUE.get(form or "", "text")

    def read_text(node: Node, path: Path, reading: Reading) -> Any:
        value = meaning(node) if isinstance(node, Scalar) else None
        if not isinstance(value, str):
            return _wrong_type(node, path, reading, due)
        if form is None:
            return value
        try:
            check_form(form, value)
        except ValueError as error:
            return reading.error(path, node, Kind.BAD_VALUE, str(error), hint_for(form, value))
        if longest is not None and not 0 < duration.seconds(value) <= duration.seconds(longest):
            return reading.error(
                path, node, Kind.OUT_OF_RANGE, f"must be more than 0s and at most {longest}"
            )
        return value

    return read_text


def _whole_number(kind: inspect.IntType, extra: Extra) -> Read:
    most = LARGEST_WHOLE if kind.le is None else kind.le
    bounds = (extra.get("ge", kind.ge), most, extra.get("or"))

    def read_whole_number(node: Node, path: Path, reading: Reading) -> Any:
        value = meaning(node) if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, int | Decimal) or not _whole(value):
            return _wrong_type(node, path, reading, "a whole number")
        if not _inside(value, *bounds):
            return reading.error(path, node, Kind.OUT_OF_RANGE, _bounds(*bounds))
        return int(value)

    return read_whole_number


def _number(kind: inspect.DecimalType, extra: Extra) -> Read:
    bounds = (extra.get("ge"), extra.get("le"), extra.get("or"))

    def read_number(node: Node, path: Path, reading: Reading) -> Any:
        value = meaning(node) if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            return _wrong_type(node, path, reading, "a number")
        number = Decimal(value)
        if not number.is_finite():
            return reading.error(path, node, Kind.BAD_VALUE, "not a finite number")
        if not _inside(number, *bounds):
            return reading.error(path, node, Kind.OUT_OF_RANGE, _bounds(*bounds))
        return number

    return read_number


def _boolean(kind: inspect.BoolType, extra: Extra) -> Read:
    def read_boolean(node: Node, path: Path, reading: Reading) -> Any:
        value = boolean(node) if isinstance(node, Scalar) else None
        if value is None:
            return _wrong_type(node, path, reading, "true or false")
        return value

    return read_boolean


def _enum(kind: inspect.EnumType, extra: Extra) -> Read:
    members: dict[str, Enum] = {member.value: member for member in kind.cls}
    any_case = bool(extra.get("any case"))

    def read_enum(node: Node, path: Path, reading: Reading) -> Any:
        value = meaning(node) if isinstance(node, Scalar) else None
        if not isinstance(value, str):
            return _wrong_type(node, path, reading, "text")
        found = members.get(value.upper() if any_case else value)
        if found is None:
            message = f"{quoted(value)} is not one of {', '.join(members)}"
            return reading.error(path, node, Kind.BAD_VALUE, message, _meant(value, members))
        return found

    return read_enum


def _list(kind: inspect.VarTupleType, extra: Extra) -> Read:
    read_item = _reader(kind.item_type, {})

    def read_list(node: Node, path: Path, reading: Reading) -> Any:
        if not isinstance(node, List):
            return _wrong_type(node, path, reading, "a list")
        if kind.min_length and not node.items:
            return reading.error(path, node, Kind.MISSING, "the list is empty")
        return tuple(
            read_item(item, (*path, position), reading) for position, item in enumerate(node.items)
        )

    return read_list


def _dict(kind: inspect.DictType, extra: Extra) -> Read:
    read_key, read_value = _reader(kind.key_type, {}), _reader(kind.value_type, {})

    def read_dict(node: Node, path: Path, reading: Reading) -> Any:
        if not isinstance(node, Map):
            return _wrong_type(node, path, reading, "a map")
        values = {}
        for key, value in node.items.items():
            at = (*path, key)
            if key in node.again:
                values[key] = _duplicate(node, key, at, reading)
            elif read_key(_key(node, key), at, reading) is not BROKEN:
                values[key] = read_value(value, at, reading)
        return values

    return read_dict


def _anything(kind: inspect.AnyType, extra: Extra) -> Read:
    return read_anything


def read_anything(node: Node, path: Path, reading: Reading) -> Any:
    """Where anything may stand: plain values, as JSON has them."""
    if isinstance(node, Scalar):
        value = meaning(node)
        if isinstance(value, Decimal) and not value.is_finite():
            return reading.error(path, node, Kind.BAD_VALUE, "not a finite number")
        return value
    if isinstance(node, List):
        return [
            read_anything(item, (*path, position), reading)
            for position, item in enumerate(node.items)
        ]
    return {
        key: _duplicate(node, key, (*path, key), reading)
        if key in node.again
        else read_anything(value, (*path, key), reading)
        for key, value in node.items.items()
    }


class _Field:
    """One field of a struct: its name inside, and how its value is read. None: by a check, later."""

    __slots__ = ("is_required", "name", "read")

    def __init__(self, field: inspect.Field) -> None:
        self.name = field.name
        self.is_required = field.required
        later = isinstance(field.type, inspect.Metadata) and (field.type.extra or {}).get("later")
        self.read = None if later else _reader(field.type, {})


def _struct(kind: inspect.StructType, extra: Extra) -> Read:
    fields = {field.encode_name: _Field(field) for field in kind.fields}
    required = [(key, field.name) for key, field in fields.items() if field.is_required]

    def read_struct(node: Node, path: Path, reading: Reading) -> Any:
        if not isinstance(node, Map):
            return _wrong_type(node, path, reading, "a map")
        values = _values(node, fields, path, reading)
        for key, name in required:
            if name not in values:
                values[name] = reading.error((*path, key), node, Kind.MISSING, "is missing")
        value = kind.cls(**values)
        check = reading.checks.get(kind.cls)
        if check is not None:
            check(value, At(reading, node, path))
        return value

    return read_struct


def _values(node: Map, fields: dict[str, _Field], path: Path, reading: Reading) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in node.items.items():
        field, at = fields.get(key), (*path, key)
        if key in node.again:
            broken = _duplicate(node, key, at, reading)
            if field is not None:
                values[field.name] = broken
        elif field is None:
            _unknown(node, key, fields, at, reading)
        elif field.read is not None and not (isinstance(value, Scalar) and is_nothing(value)):
            values[field.name] = field.read(value, at, reading)
    return values


def _unknown(node: Map, key: str, fields: dict[str, _Field], path: Path, reading: Reading) -> None:
    hint = f"allowed are {', '.join(fields)}"
    if key == "<<":
        hint = "merge keys are not YAML 1.2: repeat the lines, or use an alias for a whole value"
    elif reading.suggestions_left:
        reading.suggestions_left -= 1
        hint = _meant(key, fields) or hint
    reading.error(path, node.keys[key], Kind.UNKNOWN_KEY, "unknown key", hint)


def _meant(word: str, allowed: dict[str, Any]) -> str:
    by_small = {each.lower(): each for each in allowed}
    near = difflib.get_close_matches(word[:40].lower(), by_small, n=1, cutoff=0.6)
    return f"did you mean {by_small[near[0]]}?" if near else ""


def _duplicate(node: Map, key: str, path: Path, reading: Reading) -> Any:
    first, again = node.keys[key], node.again[key]
    where = f"; it stands in line {first.line} already" if first.line else ""
    return reading.error(path, again, Kind.DUPLICATE, f"the key is written twice{where}")


def _key(node: Map, key: str) -> Scalar:
    written = node.keys[key]
    return Scalar(key, False, written.line, written.column)


def _wrong_type(node: Node, path: Path, reading: Reading, due: str) -> Any:
    hint = ""
    if due == "text" and isinstance(node, Scalar) and not is_nothing(node):
        hint = f'put it in quotes: "{printable(node.text)}"'
    message = f"expected {due}, found {_found(node)}"
    return reading.error(path, node, Kind.WRONG_TYPE, message, hint)


def _found(node: Node) -> str:
    if isinstance(node, Map):
        return "a map"
    if isinstance(node, List):
        return "a list"
    value = meaning(node)
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "text"
    return "a number" if _whole(value) else "a number that is not whole"


def _whole(value: int | Decimal) -> bool:
    if isinstance(value, int):
        return True
    return value.is_finite() and value == value.to_integral_value()


def _inside(value: int | Decimal, least: int | None, most: int | None, other: int | None) -> bool:
    if other is not None and value == other:
        return True
    return (least is None or value >= least) and (most is None or value <= most)


def _bounds(least: int | None, most: int | None, other: int | None) -> str:
    exception = "" if other is None else f"{other}, or "
    if most is None:
        return f"must be {exception}at least {least}"
    return f"must be {exception}{least} to {most}"


_MAKERS: dict[type, Callable[[Any, Extra], Read]] = {
    inspect.UnionType: _union,
    inspect.StrType: _text,
    inspect.IntType: _whole_number,
    inspect.DecimalType: _number,
    inspect.BoolType: _boolean,
    inspect.EnumType: _enum,
    inspect.VarTupleType: _list,
    inspect.DictType: _dict,
    inspect.AnyType: _anything,
    inspect.StructType: _struct,
}
