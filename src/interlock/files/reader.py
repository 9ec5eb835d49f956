"""Reader: builds a struct from a tree of nodes by its type, recording every problem.

It asks msgspec once for the fields of a struct, and caches a tree of small readers made from them. A reader
returns the value, or BROKEN when it has recorded an error. A struct with a broken part is still built, so
that the checks between its valid parts can run.
"""

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any

from msgspec import inspect

from interlock.domain.objection import Objector
from interlock.domain.pipeline import Rule, RuleGroup
from interlock.files.group_nodes import no_group_here, respelt_group
from interlock.files.nodes import List, Map, Node, Scalar
from interlock.files.problem import Path, ProblemKind
from interlock.files.problem_collector import BROKEN, At, ProblemCollector
from interlock.files.problem_messages import duplicate, unknown_key, wrong_type
from interlock.files.rewrites import REWRITES
from interlock.files.scalar_readers import (
    Extra,
    Read,
    boolean_reader,
    enum_reader,
    number_reader,
    text_reader,
    whole_number_reader,
)
from interlock.files.scalars import is_nothing, meaning


@lru_cache(maxsize=256)
def reader(kind: type) -> Read:
    """The reader of a struct type."""
    return _reader(inspect.type_info(kind), {})


def _reader(kind: inspect.Type, extra: Extra) -> Read:
    if isinstance(kind, inspect.Metadata):
        return _reader(kind.type, {**(kind.extra or {}), **extra})
    make = _MAKERS[type(kind)] if "rule" not in extra else _rule_entry
    read = make(kind, extra)
    rewrite = REWRITES.get(extra.get("also", ""))
    return read if rewrite is None else _rewritten(rewrite, read)


def _rewritten(rewrite: Callable[[Node], Node], read: Read) -> Read:
    def read_rewritten(node: Node, path: Path, reading: ProblemCollector) -> Any:
        try:
            node = rewrite(node)
        except ValueError as error:
            return reading.error(path, node, ProblemKind.BAD_VALUE, str(error))
        return read(node, path, reading)

    return read_rewritten


def _union(kind: inspect.UnionType, extra: Extra) -> Read:
    """Only optional types occur, and null was handled before."""
    (only,) = (each for each in kind.types if not isinstance(each, inspect.NoneType))
    return _reader(only, extra)


def _list(kind: inspect.VarTupleType, extra: Extra) -> Read:
    read_item = _reader(kind.item_type, {})

    def read_list(node: Node, path: Path, reading: ProblemCollector) -> Any:
        if not isinstance(node, List):
            return wrong_type(node, path, reading, "a list")
        if kind.min_length and not node.items:
            return reading.error(path, node, ProblemKind.MISSING, "the list is empty")
        return tuple(
            read_item(item, (*path, position), reading) for position, item in enumerate(node.items)
        )

    return read_list


def _dict(kind: inspect.DictType, extra: Extra) -> Read:
    read_key, read_value = _reader(kind.key_type, {}), _reader(kind.value_type, {})

    def read_dict(node: Node, path: Path, reading: ProblemCollector) -> Any:
        if not isinstance(node, Map):
            return wrong_type(node, path, reading, "a map")
        values = {}
        for key, value in node.items.items():
            at = (*path, key)
            if key in node.again:
                values[key] = duplicate(node, key, at, reading)
            elif read_key(_key(node, key), at, reading) is not BROKEN:
                values[key] = read_value(value, at, reading)
        return values

    return read_dict


def _rule_entry(kind: inspect.Type, extra: Extra) -> Read:
    """A rule or, where groups are allowed, a group: the keys that are written decide."""
    place = extra["rule"]
    read_rule = _struct(_struct_info(Rule), {})
    read_group = _struct(_struct_info(RuleGroup), {}) if place == "or group" else None

    def read_entry(node: Node, path: Path, reading: ProblemCollector) -> Any:
        group = respelt_group(node, path, reading)
        if group is None:
            return read_rule(node, path, reading)
        if read_group is None:
            return no_group_here(group, path, reading, place)
        return read_group(group, path, reading)

    return read_entry


def _struct_info(kind: type) -> inspect.StructType:
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)
    return info


def _anything(kind: inspect.AnyType, extra: Extra) -> Read:
    return read_anything


def read_anything(node: Node, path: Path, reading: ProblemCollector) -> Any:
    """For untyped fields: plain values, as in JSON."""
    if isinstance(node, Scalar):
        value = meaning(node)
        if isinstance(value, Decimal) and not value.is_finite():
            return reading.error(path, node, ProblemKind.BAD_VALUE, "not a finite number")
        return value
    if isinstance(node, List):
        return [
            read_anything(item, (*path, position), reading)
            for position, item in enumerate(node.items)
        ]
    return {
        key: duplicate(node, key, (*path, key), reading)
        if key in node.again
        else read_anything(value, (*path, key), reading)
        for key, value in node.items.items()
    }


class _Field:
    """One field of a struct: its internal name, and how to read its value. None: a check reads it later."""

    __slots__ = ("is_required", "name", "read")

    def __init__(self, field: inspect.Field) -> None:
        self.name = field.name
        self.is_required = field.required
        later = isinstance(field.type, inspect.Metadata) and (field.type.extra or {}).get("later")
        self.read = None if later else _reader(field.type, {})


def _variant(kind: inspect.StructType) -> Read:
    """A struct whose `type` names the row of a table, and so the struct that it is read along."""
    table, noun = kind.cls.variants, kind.cls.noun  # type: ignore[attr-defined]
    (named,) = (field for field in kind.fields if field.name == "type")
    read_type = _reader(named.type, {})

    def read_variant(node: Node, path: Path, reading: ProblemCollector) -> Any:
        if not isinstance(node, Map):
            return wrong_type(node, path, reading, "a map")
        written = node.items.get("type")
        if written is None or (isinstance(written, Scalar) and is_nothing(written)):
            name = reading.error((*path, "type"), node, ProblemKind.MISSING, "is missing")
        else:
            name = read_type(written, (*path, "type"), reading)
        if name is BROKEN:
            read_anything(node, path, reading)  # a key that is written twice is wrong in any type
            return BROKEN
        own = _keys(table[name].settings)
        others = {key for row in table.values() for key in _keys(row.settings)} - own.keys()
        for key in (*own, *others):
            given = node.items.get(key)
            is_given = given is not None and not (isinstance(given, Scalar) and is_nothing(given))
            if key in others and is_given:
                message = f"a {noun} of type {name} has no {key}"
                reading.error((*path, key), given or node, ProblemKind.CONFLICT, message)
            elif own.get(key) and not is_given:
                message = f"a {noun} of type {name} needs its {key}"
                reading.error((*path, key), node, ProblemKind.MISSING, message)
        return reader(table[name].settings)(_without(node, others), path, reading)

    return read_variant


@lru_cache(maxsize=64)
def _keys(kind: type) -> dict[str, bool]:
    """The keys of a struct in a file, and whether each is required."""
    info = _struct_info(kind)
    return {field.encode_name: field.required for field in info.fields}


def _without(node: Map, keys: set[str]) -> Map:
    rest = Map(node.line, node.column)
    rest.items = {key: value for key, value in node.items.items() if key not in keys}
    rest.keys, rest.again = node.keys, node.again
    return rest


def _struct(kind: inspect.StructType, extra: Extra) -> Read:
    if "variants" in vars(kind.cls):
        return _variant(kind)
    fields = {field.encode_name: _Field(field) for field in kind.fields}
    required = [(key, field.name) for key, field in fields.items() if field.is_required]
    objects = issubclass(kind.cls, Objector)

    def read_struct(node: Node, path: Path, reading: ProblemCollector) -> Any:
        if not isinstance(node, Map):
            return wrong_type(node, path, reading, "a map")
        values = _values(node, fields, path, reading)
        for key, name in required:
            if name not in values:
                values[name] = reading.error((*path, key), node, ProblemKind.MISSING, "is missing")
        value: Any = kind.cls(**values)
        at = At(reading, node, path)
        check = reading.checks.get(kind.cls)
        if check is not None:
            check(value, at)
        if objects:
            at.object_to(value)
        return value

    return read_struct


def _values(
    node: Map, fields: dict[str, _Field], path: Path, reading: ProblemCollector
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for key, value in node.items.items():
        field, at = fields.get(key), (*path, key)
        if key in node.again:
            broken = duplicate(node, key, at, reading)
            if field is not None:
                values[field.name] = broken
        elif field is None:
            unknown_key(node, key, fields, at, reading)
        elif field.read is not None and not (isinstance(value, Scalar) and is_nothing(value)):
            values[field.name] = field.read(value, at, reading)
    return values


def _key(node: Map, key: str) -> Scalar:
    written = node.keys[key]
    return Scalar(key, False, written.line, written.column)


_MAKERS: dict[type, Callable[[Any, Extra], Read]] = {
    inspect.UnionType: _union,
    inspect.StrType: text_reader,
    inspect.IntType: whole_number_reader,
    inspect.DecimalType: number_reader,
    inspect.BoolType: boolean_reader,
    inspect.EnumType: enum_reader,
    inspect.VarTupleType: _list,
    inspect.DictType: _dict,
    inspect.AnyType: _anything,
    inspect.StructType: _struct,
}
