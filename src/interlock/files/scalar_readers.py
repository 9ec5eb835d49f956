"""Scalar readers: text, numbers, booleans and words, each where it is expected."""

from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from enum import Enum
from typing import Any

from msgspec import inspect

from interlock.domain import duration
from interlock.files.forms import DUE, form_check, hint_for
from interlock.files.nodes import Node, Scalar
from interlock.files.problem import Path, ProblemKind, quoted
from interlock.files.problem_collector import ProblemCollector
from interlock.files.problem_messages import is_whole, meant, wrong_type
from interlock.files.scalars import boolean, meaning

Read = Callable[[Node, Path, ProblemCollector], Any]
#: What a struct's field declares beyond its type.
Extra = dict[str, Any]

#: What stores and platforms can hold; it also keeps `1e999999999` from being expanded.
LARGEST_WHOLE = 2**63 - 1


def text_reader(kind: inspect.StrType, extra: Extra) -> Read:
    if "one of" in extra:
        return _name_reader(extra["one of"])
    form, longest = extra.get("form"), extra.get("longest")
    check = form_check(form or "", extra.get("pattern"), extra.get("allowed"))
    due = DUE.get(form or "", "text")

    def read_text(node: Node, path: Path, reading: ProblemCollector) -> Any:
        value = meaning(node) if isinstance(node, Scalar) else None
        if not isinstance(value, str):
            return wrong_type(node, path, reading, due)
        if form is None:
            return value
        try:
            check(value)
        except ValueError as error:
            hint = hint_for(form, value) if reading.may_suggest() else ""
            return reading.error(path, node, ProblemKind.BAD_VALUE, str(error), hint)
        if longest is not None and not 0 < duration.seconds(value) <= duration.seconds(longest):
            return reading.error(
                path, node, ProblemKind.OUT_OF_RANGE, f"must be more than 0s and at most {longest}"
            )
        return value

    return read_text


def _name_reader(table: Mapping[str, object]) -> Read:
    """The name of a row, in whatever the table holds when the file is read."""

    def read_name(node: Node, path: Path, reading: ProblemCollector) -> Any:
        value = meaning(node) if isinstance(node, Scalar) else None
        if not isinstance(value, str):
            return wrong_type(node, path, reading, "text")
        if value not in table:
            return _not_one_of(value, table, node, path, reading)
        return value

    return read_name


def whole_number_reader(kind: inspect.IntType, extra: Extra) -> Read:
    most = LARGEST_WHOLE if kind.le is None else kind.le
    bounds = (extra.get("ge", kind.ge), most, extra.get("or"))

    def read_whole_number(node: Node, path: Path, reading: ProblemCollector) -> Any:
        value = meaning(node) if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, int | Decimal) or not is_whole(value):
            return wrong_type(node, path, reading, "a whole number")
        if not _inside(value, *bounds):
            # the 64-bit limit matters only for numbers beyond it
            named = bounds if value > most else (bounds[0], kind.le, bounds[2])
            return reading.error(path, node, ProblemKind.OUT_OF_RANGE, _bounds(*named))
        return int(value)

    return read_whole_number


def number_reader(kind: inspect.DecimalType, extra: Extra) -> Read:
    bounds = (extra.get("ge"), extra.get("le"), extra.get("or"))

    def read_number(node: Node, path: Path, reading: ProblemCollector) -> Any:
        value = meaning(node) if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            return wrong_type(node, path, reading, "a number")
        number = Decimal(value)
        if not number.is_finite():
            return reading.error(path, node, ProblemKind.BAD_VALUE, "not a finite number")
        if not _inside(number, *bounds):
            return reading.error(path, node, ProblemKind.OUT_OF_RANGE, _bounds(*bounds))
        return number

    return read_number


def boolean_reader(kind: inspect.BoolType, extra: Extra) -> Read:
    def read_boolean(node: Node, path: Path, reading: ProblemCollector) -> Any:
        value = boolean(node) if isinstance(node, Scalar) else None
        if value is None:
            return wrong_type(node, path, reading, "true or false")
        return value

    return read_boolean


def enum_reader(kind: inspect.EnumType, extra: Extra) -> Read:
    members: dict[str, Enum] = {member.value: member for member in kind.cls}
    any_case = bool(extra.get("any case"))

    def read_enum(node: Node, path: Path, reading: ProblemCollector) -> Any:
        value = meaning(node) if isinstance(node, Scalar) else None
        if not isinstance(value, str):
            return wrong_type(node, path, reading, "text")
        found = members.get(value.upper() if any_case else value)
        if found is None:
            return _not_one_of(value, members, node, path, reading)
        return found

    return read_enum


def _not_one_of(
    value: str, names: Collection[str], node: Node, path: Path, reading: ProblemCollector
) -> Any:
    message = f"{quoted(value)} is not one of {', '.join(names)}"
    hint = meant(value, names, reading)
    return reading.error(path, node, ProblemKind.BAD_VALUE, message, hint)


def _inside(value: int | Decimal, least: int | None, most: int | None, other: int | None) -> bool:
    if other is not None and value == other:
        return True
    return (least is None or value >= least) and (most is None or value <= most)


def _bounds(least: int | None, most: int | None, other: int | None) -> str:
    exception = "" if other is None else f"{other}, or "
    if most is None:
        return f"must be {exception}at least {least}"
    return f"must be {exception}{least} to {most}"
