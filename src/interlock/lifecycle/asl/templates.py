"""Template: JSON with holes; a field `name.$` is filled from a path or an intrinsic function."""

from typing import Any

from interlock.lifecycle.asl import intrinsics
from interlock.lifecycle.asl.intrinsics import Expression
from interlock.lifecycle.asl.paths import Path

_HOLE = ".$"


class Template:
    """A parsed template. Raises ValueError for a hole that can't be filled."""

    def __init__(self, value: Any) -> None:
        self.fill = _compile(value)


def _compile(value: Any) -> Expression:
    if isinstance(value, dict):
        return _object(value)
    if isinstance(value, list):
        items = [_compile(item) for item in value]
        return lambda given: [fill(given) for fill in items]
    return lambda _given: value


def _object(value: dict[str, Any]) -> Expression:
    fields = {name.removesuffix(_HOLE): _field(name, inner) for name, inner in value.items()}
    if len(fields) < len(value):
        raise ValueError("a field is given both as a value and as a path")
    return lambda given: {name: fill(given) for name, fill in fields.items()}


def _field(name: str, value: Any) -> Expression:
    if not name.endswith(_HOLE):
        return _compile(value)
    if not isinstance(value, str):
        raise ValueError(f"{name} takes a path or an intrinsic function, not {value!r}")
    return Path(value).read if value.startswith("$") else intrinsics.parse(value)
