"""A job's config is read as its type wants it, and told to the adapter in one way only."""

from typing import Any

import msgspec
import pytest
from file_samples import errors, job_text, pipeline_text, warnings

from interlock.domain.job_kinds import JOB_KINDS
from interlock.files import load_text

VALID: dict[str, str] = {
    "http": """
      url: https://etl.example/run?day=${DATE}
      method: PUT
      headers: {Authorization: "Bearer secret://env/INTERLOCK_ETL", X-Day: "${DATE}"}
      body: [1, {a: b}]
      timeout: 90
      runIdPath: run.id
      statusUrl: https://etl.example/runs/${JOB_RUN_ID}
      successValues: [ok]
      completion: poll
      atMostOnce: yes""",
    "command": """
      command: python -m etl --day "${DATE}"
      timeout: 10m
      cwd: jobs
      env: {MODE: full, TOKEN: "secret://file/etl/token"}""",
    "airflow": """
      url: ${INTERLOCK_AIRFLOW}/prefix
      dagId: NO
      auth: {username: me, password: "secret://aws-sm/arn:aws:secretsmanager:eu-west-1:1:secret:x#k"}
      body: '{"day": "${DATE}", "n": 1.50}'
      apiVersion: v2""",
    "glue": """
      jobName: silver-orders
      arguments: {--mode: full, --limit: 10, --strict: true, --ratio: 1.50}
      numberOfWorkers: 5
      timeoutMinutes: 60
      executionClass: FLEX
      queuing: on
      region: eu-west-1""",
    "emr": """
      clusterId: j-2AXXXXXXGAPLF
      arguments: {z: 1, a: true, m: text}
      actionOnFailure: CANCEL_AND_WAIT""",
    "emr-serverless": """
      applicationId: 00f1abc
      executionRoleArn: arn:aws:iam::123456789012:role/etl
      jobDriver: {sparkSubmit: {entryPoint: s3://b/etl.py, entryPointArguments: ["1"]}}
      executionTimeoutMinutes: 0""",
    "step-function": """
      stateMachineArn: arn:aws:states:eu-west-1:123456789012:stateMachine:etl
      arguments: {day: "${DATE}", nested: {deep: [1]}}""",
    "databricks": """
      workspaceUrl: https://dbc.example
      jobId: "1234567890123456789"
      arguments: {day: "${DATE}", n: 3}
      apiVersion: 2.2""",
    "lambda": """
      functionName: etl
      payload: {a: 1}
      invocationType: Event
      completion: event
      timeout: 5m""",
}


def config_of(kind: str, config: str) -> dict[str, Any]:
    pipeline = load_text(job_text(kind, config)).pipeline
    assert pipeline is not None
    return pipeline.job.config


@pytest.mark.parametrize("kind", [*JOB_KINDS])
def test_a_full_config_of_every_type_is_accepted(kind: str) -> None:
    text = pipeline_text(job=f"\n  type: {kind}\n  config:{VALID[kind]}")
    loaded = load_text(text)
    assert not loaded.errors
    assert loaded.pipeline is not None
    config = msgspec.convert(loaded.pipeline.job.config, JOB_KINDS[kind].config)
    assert isinstance(config, JOB_KINDS[kind].config)


@pytest.mark.parametrize("kind", [*JOB_KINDS])
def test_every_type_says_what_it_can_not_do_without(kind: str) -> None:
    required = [
        field.encode_name
        for field in msgspec.structs.fields(JOB_KINDS[kind].config)
        if field.required
    ]
    assert errors(job_text(kind, "{}")) == [
        (f"job.config.{key}", "missing") for key in sorted(required)
    ]
    assert errors(pipeline_text(job=f"{{type: {kind}}}")) == [("job.config", "missing")]


@pytest.mark.parametrize(
    ("kind", "config", "key", "expected"),
    [
        ("http", "{url: 'http://a', timeout: 90}", "timeout", "90s"),
        ("http", "{url: 'http://a', timeout: 1.5}", "timeout", "1.5s"),
        ("http", "{url: 'http://a', timeout: 1m}", "timeout", "1m"),
        ("http", "{url: 'http://a', timeout: 1e2}", "timeout", "100s"),
        ("http", "{url: 'http://a', body: text}", "body", "text"),
        ("command", "{command: a 'b c'}", "command", ["a", "b c"]),
        ("command", "{command: [a, b c]}", "command", ["a", "b c"]),
        ("airflow", """{url: 'http://a', dagId: d, body: '{"n": 1}'}""", "body", {"n": 1}),
        ("databricks", "{workspaceUrl: 'https://a', jobId: '007'}", "jobId", 7),
        (
            "databricks",
            "{workspaceUrl: 'https://a', jobId: 7, apiVersion: 2.1}",
            "apiVersion",
            "2.1",
        ),
        (
            "glue",
            "{jobName: a, arguments: {--a: 1, --b: true, --c: x, --d: 1.50, --e: no}}",
            "arguments",
            {"--a": "1", "--b": "true", "--c": "x", "--d": "1.50", "--e": "no"},
        ),
        ("emr", "{clusterId: j-1, arguments: {z: 1, a: x}}", "arguments", ["z=1", "a=x"]),
        ("emr", "{clusterId: j-1, arguments: [x, 1, true]}", "arguments", ["x", "1", "true"]),
        ("glue", "{jobName: a, queuing: yes}", "queuing", True),
    ],
)
def test_two_ways_of_writing_become_one(kind: str, config: str, key: str, expected: object) -> None:
    assert config_of(kind, config)[key] == expected


@pytest.mark.parametrize(
    ("kind", "config", "expected"),
    [
        ("glue", "{jobName: a, arguments: {par: 1}}", [("arguments.par", "bad_value")]),
        ("glue", "{jobName: a, arguments: {--par: [1]}}", [("arguments.--par", "wrong_type")]),
        ("glue", "{jobName: a, numberOfWorkers: 0}", [("numberOfWorkers", "out_of_range")]),
        ("glue", "{jobName: a, executionClass: FAST}", [("executionClass", "bad_value")]),
        ("glue", "{jobNam: a}", [("jobNam", "unknown_key"), ("jobName", "missing")]),
        ("emr", "{clusterId: c-1}", [("clusterId", "bad_value")]),
        ("emr", "{clusterId: j-1, arguments: {a: [1]}}", [("arguments", "bad_value")]),
        ("emr", "{clusterId: j-1, arguments: text}", [("arguments", "wrong_type")]),
        (
            "emr-serverless",
            "{applicationId: a, executionRoleArn: 'arn:aws:iam::1:role/x', jobDriver: {}}",
            [("jobDriver.sparkSubmit", "missing")],
        ),
        (
            "emr-serverless",
            "{applicationId: a, executionRoleArn: 'arn:aws:iam::1:role/x',"
            " jobDriver: {sparkSubmit: {entryPoint: x}, hive: {query: x}}}",
            [("jobDriver.hive", "conflict")],
        ),
        (
            "emr-serverless",
            "{applicationId: A, executionRoleArn: x, jobDriver: {hive: {}},"
            " executionTimeoutMinutes: 4}",
            [
                ("applicationId", "bad_value"),
                ("executionRoleArn", "bad_value"),
                ("executionTimeoutMinutes", "out_of_range"),
                ("jobDriver.hive.query", "missing"),
            ],
        ),
        ("step-function", "{stateMachineArn: etl}", [("stateMachineArn", "bad_value")]),
        (
            "databricks",
            "{workspaceUrl: 'http://a', jobId: x1}",
            [("jobId", "bad_value"), ("workspaceUrl", "bad_value")],
        ),
        ("databricks", "{workspaceUrl: 'https://a', jobId: 1.5}", [("jobId", "wrong_type")]),
        ("lambda", "{functionName: a, invocationType: Event}", [("completion", "missing")]),
        ("lambda", "{functionName: a, payload: '[1]'}", [("payload", "bad_value")]),
        ("lambda", "{functionName: a, payload: '{'}", [("payload", "bad_value")]),
        ("lambda", "{functionName: a, payload: [1]}", [("payload", "wrong_type")]),
        ("lambda", "{functionName: a, timeout: 15m}", [("timeout", "out_of_range")]),
        ("http", "{url: 'http://a', timeout: 901}", [("timeout", "out_of_range")]),
        ("http", "{url: 'http://a', timeout: 0}", [("timeout", "out_of_range")]),
        ("http", "{url: 'http://a', timeout: -1}", [("timeout", "bad_value")]),
        ("http", "{url: 'http://a', timeout: true}", [("timeout", "wrong_type")]),
        ("http", "{url: 'http://a', body: 5}", [("body", "wrong_type")]),
        ("http", "{url: 'http://a', completion: poll}", [("completion", "conflict")]),
        ("http", "{url: 'http://a', successValues: []}", [("successValues", "missing")]),
        ("http", "{url: 'http://a', headers: {A: 1}}", [("headers.A", "wrong_type")]),
        ("http", "{url: 'http://a', headers: {A: x, a: y}}", [("headers.a", "duplicate")]),
        ("http", r'{url: "http://a", headers: {A: "x\r\ny"}}', [("headers.A", "bad_value")]),
        ("http", "{url: 'http://a', headers: {'A B': x}}", [("headers.A B", "bad_value")]),
        ("http", "{url: 'http://a', headers: {A: 'secret://vault/x'}}", [("headers.A", "bad_value")]),
        (
            "http",
            "{url: 'http://a', headers: {A: 'secret://file/../x'}}",
            [("headers.A", "bad_value")],
        ),
        ("command", "{command: ''}", [("command", "bad_value")]),
        ("command", "{command: []}", [("command", "missing")]),
        ("command", "{command: [etl, 1]}", [("command[1]", "wrong_type")]),
        ("command", """{command: "a 'b"}""", [("command", "bad_value")]),
        ("command", "{command: etl, env: {A-B: x}}", [("env.A-B", "bad_value")]),
        ("command", "{command: etl, timeout: 0s}", [("timeout", "out_of_range")]),
        ("airflow", "{url: 'http://a', dagId: d, auth: {}}", [
            ("auth.password", "missing"),
            ("auth.username", "missing"),
        ]),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_config_has_its_path(
    kind: str, config: str, expected: list[tuple[str, str]]
) -> None:
    assert errors(job_text(kind, config)) == [
        (f"job.config.{path}", word) for path, word in expected
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("pollInterval: 10s", None),
        ("pollInterval: 10m", None),
        ("pollInterval: 9.9s", "must be from 10s to 10m"),
        ("pollInterval: 11m", "must be from 10s to 10m"),
        ("pollInterval: 2m, jobPollWindowSeconds: 60", "must be at most the poll window, 1m"),
        ("pollInterval: 2m, jobPollWindowSeconds: 0", None),  # the default, an hour
        ("pollInterval: 2m, jobPollWindowSeconds: 5", None),  # which is wrong itself
        ("pollInterval: often", "not a duration"),
    ],
)
def test_how_often_a_job_is_polled_has_its_bounds(given: str, said: str | None) -> None:
    loaded = load_text(pipeline_text(job=f"{{type: command, config: {{command: [a]}}, {given}}}"))
    found = [each.message for each in loaded.errors if each.path == "job.pollInterval"]
    assert (said is None) == (not found)
    assert all(said in message for message in found if said)


def test_more_polls_than_an_execution_can_hold_are_warned_of() -> None:
    job = "{type: command, config: {command: [a]}, pollInterval: 57s, jobPollWindowSeconds: 86400}"
    assert ("job.pollInterval", "out_of_range") in warnings(pipeline_text(job=job))
    fewer = warnings(pipeline_text(job=job.replace("57s", "58s")))
    assert "job.pollInterval" not in {path for path, _ in fewer}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("1", None),
        ("100", None),
        ("null", None),
        ("0", "out_of_range"),
        ("-1", "out_of_range"),
        ("1.5", "wrong_type"),
        ("yes", "wrong_type"),
        ("many", "wrong_type"),
    ],
)
def test_how_many_jobs_run_at_once_is_a_whole_number(value: str, kind: str | None) -> None:
    job = f"{{type: command, config: {{command: [a]}}, maxConcurrent: {value}}}"
    assert errors(pipeline_text(job=job)) == ([("job.maxConcurrent", kind)] if kind else [])


def test_without_a_sound_type_nothing_is_said_about_the_config() -> None:
    assert errors(pipeline_text(job="{type: nope}")) == [("job.type", "bad_value")]
    assert errors(pipeline_text(job="{type: nope, config: {x: 1}}")) == [("job.type", "bad_value")]
    assert errors(pipeline_text(job="{config: {x: 1}}")) == [("job.type", "missing")]
    assert errors(pipeline_text(job="{type: nope, config: {x: 1, x: 2}}")) == [
        ("job.config.x", "duplicate"),
        ("job.type", "bad_value"),
    ]


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ("{url: 'https://x.y/${INTERLOCK_TOKEN}'}", "url"),
        ("{url: 'https://x.y', headers: {A: 'a ${INTERLOCK_URL} b'}}", "headers.A"),
        ("{url: 'https://x.y', headers: {A: 'secret://env/INTERLOCK_TOKEN'}}", "headers.A"),
        ("{url: 'https://x.y', body: {a: [{b: '${INTERLOCK_SECRETS_DIR}'}]}}", "body.a[0].b"),
        ("{url: 'https://x.y', body: '${INTERLOCK_WATCHDOG_EVERY}'}", "body"),
    ],
)
def test_our_own_settings_are_not_for_files(config: str, path: str) -> None:
    assert errors(job_text("http", config)) == [(f"job.config.{path}", "bad_value")]


def test_a_literal_that_only_looks_like_a_setting_is_left_alone() -> None:
    assert errors(job_text("command", "{command: [echo, '$${INTERLOCK_TOKEN}']}")) == []
    assert errors(job_text("command", "{command: [echo, '${INTERLOCK_MINE}']}")) == []


def test_a_limit_without_an_upper_bound_names_the_lower_one_alone() -> None:
    job = "{type: command, config: {command: [a]}, maxConcurrent: 0}"
    (problem,) = load_text(pipeline_text(job=job)).problems
    assert problem.message == "must be at least 1"
