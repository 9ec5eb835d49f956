"""API page: every operation of the HTTP API with its parameters and answers, and a form that calls it."""

import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from interlock.web.api.openapi import document
from interlock.web.pages.page_request import PageRequest, PageRow, Shown

_REFERENCE = "#/components/schemas/"
_STREAM = "text/event-stream"
#: Constraints that are shown behind a type.
_LIMITS = {
    "minimum": "from {}",
    "maximum": "to {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {}",
    "maxItems": "at most {}",
    "pattern": "matches {}",
    "format": "{}",
}


class ShownType(msgspec.Struct, frozen=True):
    """A type in words; `refers` names the schema that it is or contains."""

    text: str
    refers: str | None = None
    limits: str = ""
    choices: tuple[str, ...] = ()
    about: str = ""


class ShownField(msgspec.Struct, frozen=True):
    """A parameter of a request, or a field of a schema."""

    name: str
    place: str
    type: ShownType
    is_required: bool
    default: str


class ShownOperation(msgspec.Struct, frozen=True):
    """An operation, ready to be shown."""

    name: str
    method: str
    path: str
    summary: str
    about: str
    parameters: list[ShownField]
    body: ShownType | None
    example: str
    answers: list[tuple[str, str, ShownType | None]]
    #: Whether its answer ends; a stream is not called from the page.
    can_be_tried: bool


class ShownSchema(msgspec.Struct, frozen=True):
    name: str
    about: str
    type: ShownType
    fields: list[ShownField]


def build(asked: PageRequest) -> Shown:
    tags, schemas = _described()
    return {"tags": tags, "schemas": schemas}


@lru_cache(maxsize=1)
def _described() -> tuple[dict[str, list[ShownOperation]], list[ShownSchema]]:
    described = document()
    schemas = described["components"]["schemas"]
    tags: dict[str, list[ShownOperation]] = {}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            shown = _operation(path, method, operation, schemas)
            tags.setdefault(operation["tags"][0], []).append(shown)
    return tags, [_schema(name, each) for name, each in sorted(schemas.items())]


def _operation(
    path: str, method: str, operation: dict[str, Any], schemas: dict[str, Any]
) -> ShownOperation:
    body = _content(operation.get("requestBody", {}))
    answers = [
        (
            status,
            answer["description"],
            None if (found := _content(answer)) is None else _type(found),
        )
        for status, answer in operation["responses"].items()
    ]
    media = {name for each in operation["responses"].values() for name in each.get("content", ())}
    return ShownOperation(
        operation["operationId"],
        method.upper(),
        path,
        operation["summary"],
        operation.get("description", ""),
        [_parameter(each) for each in operation.get("parameters", ())],
        None if body is None else _type(body),
        "" if body is None else json.dumps(_example(body, schemas), indent=2),
        answers,
        _STREAM not in media,
    )


def _content(described: dict[str, Any]) -> dict[str, Any] | None:
    found: dict[str, Any] | None = next(
        (each["schema"] for each in described.get("content", {}).values()), None
    )
    return found


def _parameter(given: dict[str, Any]) -> ShownField:
    return ShownField(
        given["name"],
        given["in"],
        _type(given["schema"]),
        given.get("required", False),
        _default(given["schema"]),
    )


def _schema(name: str, schema: dict[str, Any]) -> ShownSchema:
    required = schema.get("required", ())
    fields = [
        ShownField(field, "", _type(each), field in required, _default(each))
        for field, each in schema.get("properties", {}).items()
    ]
    return ShownSchema(name, schema.get("description", ""), _type(schema), fields)


def _default(schema: dict[str, Any]) -> str:
    return json.dumps(schema["default"]) if schema.get("default") is not None else ""


def _type(schema: dict[str, Any]) -> ShownType:
    reference = schema.get("$ref")
    if reference is not None:
        name = reference.removeprefix(_REFERENCE)
        return ShownType(name, name)
    if "anyOf" in schema:
        return _any_of([each for each in schema["anyOf"] if each != {"type": "null"}], schema)
    limits = [text.format(schema[name]) for name, text in _LIMITS.items() if name in schema]
    choices = tuple(str(each) for each in schema.get("enum", ()))
    inner = _inner(schema)
    text = "one of" if choices else _word(schema, inner)
    refers = None if inner is None else inner.refers
    return ShownType(text, refers, ", ".join(limits), choices, schema.get("description", ""))


def _any_of(options: list[dict[str, Any]], schema: dict[str, Any]) -> ShownType:
    kinds = [_type(each) for each in options]
    if len(kinds) == 1:
        return kinds[0]
    text = " or ".join(kind.text for kind in kinds)
    refers = next((kind.refers for kind in kinds if kind.refers), None)
    return ShownType(text, refers, about=schema.get("description", ""))


def _inner(schema: dict[str, Any]) -> ShownType | None:
    """Of the items of a list, or of the values of an object."""
    inner = schema.get("items") or schema.get("additionalProperties")
    return _type(inner) if isinstance(inner, dict) else None


def _word(schema: dict[str, Any], inner: ShownType | None) -> str:
    kind = schema.get("type", "anything")
    if kind == "array":
        return "list" if inner is None else f"list of {inner.text}"
    if kind == "object" and inner is not None and "properties" not in schema:
        return f"{inner.text} by name"
    return str(kind)


def _example(schema: dict[str, Any], schemas: dict[str, Any]) -> Any:
    """What a body may look like: every required field, with a value to overwrite."""
    if "$ref" in schema:
        return _example(schemas[schema["$ref"].removeprefix(_REFERENCE)], schemas)
    if "anyOf" in schema:
        return _example(schema["anyOf"][0], schemas)
    if schema.get("type") == "array":
        return [_example(schema["items"], schemas)] if "items" in schema else []
    if schema.get("type") == "object":
        return dict(_fields(schema, schemas))
    plain: dict[Any, Any] = {"integer": 0, "number": 0, "boolean": False, "string": ""}
    choices: list[Any] = schema.get("enum", [])
    return choices[0] if choices else plain.get(schema.get("type"), "")


def _fields(schema: dict[str, Any], schemas: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    required = schema.get("required", ())
    for name, each in schema.get("properties", {}).items():
        if name in required or "reason" in name:
            yield name, _example(each, schemas)


PAGE = PageRow("/docs", "api.html", build)
