"""The schema for editors agrees with the reader: what is valid passes, what is surely wrong does not."""

import json
from typing import Any

import pytest
from file_samples import errors, job_text, pipeline_text
from jsonschema import Draft202012Validator
from test_job_checks import VALID

from interlock.domain import canonical
from interlock.domain.job_kinds import JOB_KINDS
from interlock.files import calendar_schema, load_text, pipeline_schema
from interlock.files.problem_collector import ProblemCollector
from interlock.files.reader import read_anything
from interlock.files.yaml_nodes import parse

PIPELINES = Draft202012Validator(pipeline_schema())
CALENDARS = Draft202012Validator(calendar_schema())


def document(text: str) -> Any:
    """What an editor sees: the plain values of the file, numbers as JSON has them."""
    value = read_anything(parse(text), (), ProblemCollector())
    return json.loads(canonical.encode(value))


def test_the_schemas_are_schemas() -> None:
    Draft202012Validator.check_schema(pipeline_schema())
    Draft202012Validator.check_schema(calendar_schema())


VALID_FILES = [
    pipeline_text(),
    pipeline_text(schedule=None, schedules="[{id: a, cron: 0 8 * * *}]"),
    pipeline_text(
        pipeline="{id: a, owner: b, description: c, tags: {d: e}}",
        schedule="{cron: 0 8 * * *, timezone: Europe/Berlin, time: 08:00, grace: 5m, dayOffset: 1,"
        " trigger: {key: a, check: gte, field: n, value: 0.5, deadline: ':30'},"
        " exclude: {weekends: true, days: [monday], dates: [2026-12-24]},"
        " evaluation: {window: 1h, interval: 1m}}",
        sla="{deadline: 10:00, expectedDuration: 5m, maxDuration: 1d, critical: true}",
        validation="{trigger: any, rules: [{key: a, check: equals, field: f, value: [1]}]}",
        postRun="{driftThreshold: 0.5, driftField: a.b, sensorTimeout: 1h,"
        " evaluation: {window: 2h}, rules: [{key: a, check: exists}]}",
        dryRun="true",
    ),
    pipeline_text(schedule="{trigger: {pipeline: up, hours: all}}"),
    pipeline_text(
        validation="{rules: [{anyOf: [{key: a, check: absent}, {key: a, check: in, field: f, value: [1]}]},"
        " {allOf: [{key: a, check: between, field: f, value: [0.5, '2']}]},"
        " {key: a, check: matches, field: f, value: 'a+', stableFor: 10m},"
        " {key: a, check: not_equals, field: f, value: {field: g, key: b}},"
        " {key: a, check: changed_by, field: f, value: 20%}, {key: a, check: changed_by, field: f, value: 5},"
        " {key: a, check: changed_by, field: f, value: {down: 5, up: 10%, first: pass}}]}"
    ),
    *(
        pipeline_text(job=f"\n  type: {kind}\n  config:{config}".replace("yes", "true"))
        for kind, config in VALID.items()
        if kind != "glue"  # writes `on` for a boolean, which editors take for text
    ),
    job_text("glue", "{jobName: a, arguments: {--a: 1, --b: true}}"),
    job_text("emr", "{clusterId: j-1, arguments: [a, 1]}"),
]


@pytest.mark.parametrize("text", VALID_FILES)
def test_what_the_reader_accepts_the_schema_accepts(text: str) -> None:
    assert errors(text) == []
    assert [error.message for error in PIPELINES.iter_errors(document(text))] == []


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        pipeline_text(zzz="1"),
        pipeline_text(pipeline="{id: Orders}"),
        pipeline_text(pipeline="{id: a, owner: 5}"),
        pipeline_text(schedule="{}"),
        pipeline_text(schedule="{cron: 0 8 * * *, include: {dates: [2026-01-31]}}"),
        pipeline_text(schedule="{trigger: {key: a}}"),
        pipeline_text(schedule="{trigger: {key: a, check: exists, pipeline: b}}"),
        pipeline_text(schedule="{cron: 0 8 * * *, colour: red}"),
        pipeline_text(schedule="{cron: 0 8 * * *, time: 24:00}"),
        pipeline_text(schedules="[{id: a, cron: 0 8 * * *}]"),
        pipeline_text(schedule=None, schedules="[{cron: 0 8 * * *}]"),
        pipeline_text(schedule=None, schedules="[]"),
        pipeline_text(sla="{critical: true}"),
        pipeline_text(sla="{deadline: noon}"),
        pipeline_text(validation="{rules: []}"),
        pipeline_text(validation="{trigger: some, rules: [{key: a, check: exists}]}"),
        pipeline_text(validation="{rules: [{key: a, check: gt}]}"),
        pipeline_text(postRun="{driftThreshold: -1, rules: [{key: a, check: exists}]}"),
        pipeline_text(postRun="{driftThreshold: x, rules: [{key: a, check: exists}]}"),
        pipeline_text(job="{type: nope}"),
        pipeline_text(job="{type: glue}"),
        pipeline_text(
            job="{type: command, config: {command: [a]}, jobPollWindowSeconds: 30}",
        ),
        pipeline_text(job="{type: command, config: {command: [a]}, maxRetries: 11}"),
        job_text("glue", "{jobName: a, arguments: {par: 1}}"),
        job_text("glue", "{jobname: a}"),
        job_text("emr-serverless", "{applicationId: a}"),
        job_text("command", "{command: []}"),
        job_text("command", "{command: {a: b}}"),
        job_text("http", "{url: 'http://a', method: STEAL}"),
        job_text("lambda", "{functionName: a, payload: 5}"),
    ],
)
def test_what_is_plainly_wrong_the_schema_refuses(text: str) -> None:
    assert errors(text)
    assert not PIPELINES.is_valid(document(text))


def test_every_job_type_has_its_branch() -> None:
    branches = pipeline_schema()["$defs"]["Job"]["allOf"]
    assert [each["if"]["properties"]["type"]["const"] for each in branches] == [*JOB_KINDS]


def test_every_field_is_explained() -> None:
    for name, definition in pipeline_schema()["$defs"].items():
        assert definition.get("description"), name


def test_calendars_have_a_schema_of_their_own() -> None:
    assert CALENDARS.is_valid(document("{name: a, days: [monday], dates: [2026-12-24]}"))
    for wrong in ("{}", "{name: a, day: monday}", "{name: a, dates: [24.12.2026]}"):
        assert not CALENDARS.is_valid(document(wrong))


def test_the_schema_does_not_mislead_about_defaults() -> None:
    pipeline = load_text(pipeline_text()).pipeline
    assert pipeline is not None
    schedule = pipeline_schema()["$defs"]["Schedule"]["properties"]
    assert schedule["grace"]["default"] == pipeline.schedules[0].grace
