"""JSON Schema: the schema of pipeline and calendar files, for editors.

Generated from the structs that the reader uses. It can't express everything that the reader checks, but it
never refuses what the reader accepts, written in the plain way.
"""

from typing import Any

import msgspec

from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.alerting.sink_kinds import SINK_KINDS
from interlock.domain.check import LIMIT, LIST, PATTERN, RANGE, Check
from interlock.domain.job_kinds import JOB_KINDS, JobKind
from interlock.domain.pipeline import Calendar, Rule, RuleGroup
from interlock.files.authored import PipelineFile

_DRAFT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]


def pipeline_schema() -> Schema:
    """The schema of a pipeline file."""
    (whole, rule, group, *configs), definitions = msgspec.json.schema_components(
        [PipelineFile, Rule, RuleGroup, *(kind.config for kind in JOB_KINDS.values())],
        ref_template="#/$defs/{name}",
    )
    for name, extra in _EXTRA.items():
        definitions[name] |= extra
    definitions["Job"]["allOf"] = [
        _by_type(kind, config) for kind, config in zip(JOB_KINDS.values(), configs, strict=True)
    ]
    definitions["Job"]["properties"]["type"]["enum"] = [*JOB_KINDS]
    definitions["PipelineFile"]["properties"]["schedules"] = _LISTED
    definitions["Validation"]["properties"]["rules"]["items"] = {"anyOf": [rule, group]}
    return _whole("Interlock pipeline", whole, definitions)


def calendar_schema() -> Schema:
    """The schema of a calendar file."""
    (whole,), definitions = msgspec.json.schema_components(
        [Calendar], ref_template="#/$defs/{name}"
    )
    return _whole("Interlock calendar", whole, definitions)


def alerts_schema() -> Schema:
    """Of the alerts file."""
    kinds = [*SINK_KINDS.values()]
    (whole, *settings), definitions = msgspec.json.schema_components(
        [Alerts, *(kind.settings for kind in kinds)], ref_template="#/$defs/{name}"
    )
    for kind in kinds:
        own = definitions[kind.settings.__name__]["properties"]
        own["type"] = {"const": kind.name}
        if not kind.has_channels:
            del own["channel"]
    definitions["SinkConfig"] = {
        "type": "object",
        "properties": {"type": {"enum": [*SINK_KINDS]}},
        "required": ["type"],
        "allOf": [
            {"if": {"properties": {"type": {"const": kind.name}}}, "then": form}
            for kind, form in zip(kinds, settings, strict=True)
        ],
    }
    return _whole("Interlock alerts", whole, definitions)


def _whole(title: str, ref: Schema, definitions: dict[str, Schema]) -> Schema:
    tidy: Schema = _tidy({"$schema": _DRAFT, "title": title, **ref, "$defs": definitions})
    return tidy


def _by_type(kind: JobKind, config: Schema) -> Schema:
    """The config of one type, required when it has required settings."""
    then: Schema = {"properties": {"config": config}}
    if any(field.required for field in msgspec.structs.fields(kind.config)):
        then["required"] = ["config"]
    return {
        "if": {"properties": {"type": {"const": kind.name}}, "required": ["type"]},
        "then": then,
    }


def _tidy(schema: Any) -> Any:
    """Refuse unknown keys in every map, and add the types that msgspec can't express."""
    if isinstance(schema, list):
        return [_tidy(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    tidy = {key: _tidy(value) for key, value in schema.items() if not _is_noise(key, value)}
    if "title" in tidy and tidy.get("type") == "object":
        tidy["additionalProperties"] = False
    if "x-type" in tidy:
        tidy = _retyped(tidy)
    return tidy


def _is_noise(key: str, value: Any) -> bool:
    """A default that only means "none"."""
    return key == "default" and value in (None, "")


def _retyped(schema: Schema) -> Schema:
    """What may be written in more than one way."""
    types = schema.pop("x-type")
    schema.pop("format", None)
    if schema.get("default") == "0":
        schema["default"] = 0
    if "$ref" in schema:
        return {"anyOf": [schema, *({"type": each} for each in types)]}
    return {**schema, "type": types[0] if len(types) == 1 else types}


def _value_of(check: Check) -> Schema:
    """What the value of a check looks like, where a schema can say it."""
    kind = check.spec.value
    known: dict[str, Schema] = {
        LIST.name: {"type": "array", "minItems": 1},
        RANGE.name: {"type": "array", "minItems": 2, "maxItems": 2},
        PATTERN.name: {"type": "string"},
        LIMIT.name: _LIMIT,
    }
    return {
        "if": {"properties": {"check": {"const": str(check)}}, "required": ["check"]},
        "then": {"properties": {"value": known[kind.name if kind else ""]}},
    }


_LIMIT: Schema = {
    "anyOf": [
        {"type": "number", "minimum": 0},
        {"type": "string"},
        {"type": "null"},
        {"type": "object", "minProperties": 1, "propertyNames": {"enum": ["down", "up", "first"]}},
    ]
}
_NEEDS_NOTHING = [str(check) for check in Check if check.spec.value is None]
_NEEDS_VALUE = {
    "if": {"properties": {"check": {"not": {"enum": _NEEDS_NOTHING}}}, "required": ["check"]},
    "then": {"required": ["field", "value"]},
    "allOf": [
        _value_of(check)
        for check in Check
        if check.spec.value is not None and not check.spec.value.can_be_field
    ],
}

_LISTED: Schema = {
    "description": "Instead of `schedule`: several, each with its own id.",
    "type": "array",
    "minItems": 1,
    "items": {"$ref": "#/$defs/Schedule", "required": ["id"]},
}

#: The constraints between the fields of one struct.
_EXTRA: dict[str, Schema] = {
    "PipelineFile": {"oneOf": [{"required": ["schedule"]}, {"required": ["schedules"]}]},
    "Rule": _NEEDS_VALUE,
    "RuleGroup": {"oneOf": [{"required": ["anyOf"]}, {"required": ["allOf"]}]},
    "Trigger": {
        "oneOf": [{"required": ["key", "check"]}, {"required": ["pipeline"]}],
        **_NEEDS_VALUE,
    },
    "Sla": {"anyOf": [{"required": ["deadline"]}, {"required": ["maxDuration"]}]},
    "Schedule": {
        "anyOf": [{"required": ["cron"]}, {"required": ["trigger"]}, {"required": ["include"]}],
        "not": {"required": ["cron", "include"]},
    },
    "JobDriver": {"oneOf": [{"required": ["sparkSubmit"]}, {"required": ["hive"]}]},
    "Mode": {"enum": ["ALL", "ANY", "all", "any", "All", "Any"]},
}
