"""OpenAPI: the document of the API, made of the very types that check the requests."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from interlock import __version__
from interlock.operations.endpoints import API, ENDPOINTS, Endpoint
from interlock.operations.requests import OutputQuery, Waiting
from interlock.web.api.event_stream import StreamQuery
from interlock.web.api.output_stream import OUTPUT_STREAM
from interlock.web.http_problem import MEDIA, ProblemDocument

_PATH_PART = re.compile(r"\{([a-z]+)(:path)?\}")
_JSON = "application/json"
_REFERENCE = "#/components/schemas/{name}"
_PROBLEM = "#/components/schemas/ProblemDocument"


def document() -> dict[str, Any]:
    """OpenAPI 3.1."""
    types = [ProblemDocument, StreamQuery]
    for endpoint in ENDPOINTS:
        types += [endpoint.query, endpoint.answer, endpoint.body]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REFERENCE)
    made = dict(zip(map(repr, types), schemas, strict=True))
    paths: dict[str, Any] = {}
    for endpoint in ENDPOINTS:
        place = paths.setdefault(_plain(API + endpoint.path), {})
        place[endpoint.method.lower()] = _operation(endpoint, made, components)
    paths[f"{API}/events/stream"] = {"get": _stream(components)}
    paths[API + OUTPUT_STREAM] = {"get": _output_stream(components)}
    paths |= _pings()
    for path, operations in paths.items():
        for operation in operations.values():
            operation["tags"] = [_tag(path)]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Interlock",
            "version": __version__,
            "summary": "A safety controller for data pipelines.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(
    endpoint: Endpoint, made: dict[str, Any], components: dict[str, Any]
) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "description": f"Needs the scope `{endpoint.scope}`.",
        "parameters": [*_path_parts(endpoint.path), *_query(endpoint.query, components)],
        "responses": _responses(endpoint, made),
    }
    if endpoint.body is not None:
        described["requestBody"] = {
            "required": not endpoint.may_be_bare,
            "content": {_JSON: {"schema": made[repr(endpoint.body)]}},
        }
    return described


def _responses(endpoint: Endpoint, made: dict[str, Any]) -> dict[str, Any]:
    good: dict[str, Any] = {"description": "Done."}
    if endpoint.answer is not None:
        good["content"] = {_JSON: {"schema": made[repr(endpoint.answer)]}}
    statuses = {endpoint.status, 202} if endpoint.query is Waiting else {endpoint.status}
    refused = {
        "description": "Refused; the document says why.",
        "content": {MEDIA: {"schema": {"$ref": _REFERENCE.format(name="ProblemDocument")}}},
    }
    found: dict[str, Any] = {str(status): good for status in sorted(statuses)}
    if type(None) in getattr(endpoint.answer, "__args__", ()):
        found["204"] = {"description": "Nothing was done."}
    return {**found, "4XX": refused, "503": refused}


def _stream(components: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": "streamEvents",
        "summary": "Events as they are published: server-sent events, resumable by Last-Event-ID.",
        "description": "Needs the scope `read`.",
        "parameters": [
            *_query(StreamQuery, components),
            {
                "name": "Last-Event-ID",
                "in": "header",
                "required": False,
                "schema": {"type": "string", "pattern": "^[0-9]{1,18}$"},
            },
        ],
        "responses": {
            "200": {
                "description": "A stream that does not end.",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            }
        },
    }


def _output_stream(components: dict[str, Any]) -> dict[str, Any]:
    return {
        "operationId": "streamOutput",
        "summary": "The output of a job as it comes: server-sent events, resumable by Last-Event-ID.",
        "description": "Needs the scope `read`. Each message is a `RunOutput`; `end` is the last event.",
        "parameters": [
            *_path_parts(OUTPUT_STREAM),
            *_query(OutputQuery, components),
            {
                "name": "Last-Event-ID",
                "in": "header",
                "required": False,
                "schema": {"type": "string", "pattern": "^[0-9]{1,16}-[0-9]{1,16}$"},
            },
        ],
        "responses": {
            "200": {
                "description": "A stream that ends with the job.",
                "content": {"text/event-stream": {"schema": {"type": "string"}}},
            }
        },
    }


def _pings() -> dict[str, Any]:
    """Healthchecks-style: the token in the path is all that is needed. HEAD does as GET does."""
    paths: dict[str, Any] = {}
    for path, name in (("/ping/{token}", "ping"), ("/ping/{token}/{signal}", "pingSignal")):
        paths[path] = {
            method: {
                "operationId": f"{name}{suffix}",
                "summary": "A sign of life of a job: `start`, `fail`, an exit code, or nothing.",
                "security": [],
                "parameters": [*_path_parts(path)],
                "responses": {
                    "200": {"description": "It is stored."},
                    "4XX": {
                        "description": "There is no such token, or no such signal.",
                        "content": {MEDIA: {"schema": {"$ref": _PROBLEM}}},
                    },
                },
            }
            for method, suffix in (("get", ""), ("post", "Post"))
        }
    return paths


def _tag(path: str) -> str:
    """What an operation is about: the readings of a pipeline are readings."""
    parts = path.removeprefix(API).strip("/").split("/")
    names = (*reversed(parts[:3:2]), parts[0])
    return next((_TAGS[name] for name in names if name in _TAGS), parts[0])


#: By the parts of a path that name something; an operation of another part has that for its tag.
_TAGS = {
    "sensors": "readings",
    "readings": "readings",
    "lineage": "readings",
    "ping": "readings",
    "pipelines": "pipelines",
    "refused": "pipelines",
    "missing": "pipelines",
    "foresee": "pipelines",
    "runs": "runs",
    "reruns": "runs",
    "dates": "runs",
    "backfill": "runs",
    "backfills": "runs",
    "timeline": "runs",
    "sla": "runs",
    "events": "events",
    "alerts": "alerts",
    "search": "search",
    "watchdog": "upkeep",
    "prune": "upkeep",
    "changes": "upkeep",
    "audit": "upkeep",
    "tokens": "upkeep",
}


def _plain(path: str) -> str:
    return _PATH_PART.sub(r"{\1}", path)


def _path_parts(path: str) -> Iterator[dict[str, Any]]:
    for name, _ in _PATH_PART.findall(path):
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "minLength": 1, "maxLength": 512},
        }


def _query(kind: type[msgspec.Struct], components: dict[str, Any]) -> Iterator[dict[str, Any]]:
    schema = components[kind.__name__]
    for name, properties in schema["properties"].items():
        yield {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            "schema": properties,
        }
