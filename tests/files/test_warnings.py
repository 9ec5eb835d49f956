"""What is legal and surely not meant is said, and does not refuse the file."""

import pytest
from file_samples import job_text, pipeline_text, warnings

from interlock.files import load_text

TRIGGER = "trigger: {key: a, check: exists}"


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (f"{{{TRIGGER}, evaluation: {{window: 3h}}}}", []),
        (f"{{{TRIGGER}, evaluation: {{window: 3h1s}}}}", ["evaluation.window"]),  # + 1h of polling
        (f"{{{TRIGGER}, evaluation: {{window: 1h, interval: 59s}}}}", ["evaluation.interval"]),
        (f"{{{TRIGGER}, evaluation: {{window: 30s}}}}", []),
        (f"{{{TRIGGER}, evaluation: {{window: 30m, interval: 1s}}}}", ["evaluation.interval"]),
        ("{trigger: {key: 'a#2026-03-03', check: exists}}", ["trigger.key"]),
        ("{trigger: {key: 'a#b', check: exists}}", []),
        ("{trigger: {pipeline: up, check: exists}}", ["trigger.check"]),
        ("{cron: 0 8 * * *, trigger: {pipeline: up, hours: all}}", []),
        ("{cron: 0 * * * *, trigger: {pipeline: up, hours: all}}", ["trigger.hours"]),
        (
            "{cron: 0 8 * * *, trigger: {key: a, check: exists, deadline: ':30'}}",
            ["trigger.deadline"],
        ),
        (
            "{cron: 0 8 * * *, trigger: {key: a, check: exists, deadline: 07:30}}",
            ["trigger.deadline"],
        ),
        ("{cron: 0 8 * * *, trigger: {key: a, check: exists, deadline: 09:00}}", []),
        (
            f"{{{TRIGGER}, exclude: {{weekends: true,"
            " days: [monday, tuesday, wednesday, thursday, friday]}}",
            ["exclude"],
        ),
        (
            "{include: {dates: [2026-01-31]}, exclude: {dates: [2026-01-31, 2026-02-28]}}",
            ["exclude.dates"],
        ),
    ],
)
def test_odd_schedules(schedule: str, expected: list[str]) -> None:
    found = warnings(pipeline_text(schedule=schedule))
    assert [path for path, _ in found] == [f"schedule.{path}" for path in expected]


_BEFORE = [
    ("{cron: 0 8 * * *}", "{deadline: 07:00}", True),
    ("{cron: 0 8 * * *}", "{deadline: 08:00}", True),
    ("{cron: 0 8 * * *}", "{deadline: 08:01}", False),
    ("{cron: 0 8 * * *, dayOffset: 1}", "{deadline: 07:00}", False),
    ("{cron: 0 8 * * *}", "{deadline: 07:00, timezone: America/New_York}", False),
    ("{cron: '0 8,20 * * *'}", "{deadline: 07:00}", False),
    (
        "{cron: 0 8 * * *, timezone: Asia/Tokyo}",
        "{deadline: 07:00, timezone: Asia/Tokyo}",
        True,
    ),
    (f"{{{TRIGGER}}}", "{deadline: 00:01}", False),
    ("{include: {dates: [2026-01-31]}}", "{deadline: ':30'}", True),
]


@pytest.mark.parametrize(("schedule", "sla", "is_odd"), _BEFORE)
def test_that_rules_must_hold_before_the_start_is_odd(
    schedule: str, sla: str, is_odd: bool
) -> None:
    ready = sla.replace("deadline", "evaluationDeadline")
    found = warnings(pipeline_text(schedule=schedule, sla=ready))
    assert found == ([("sla.evaluationDeadline", "conflict")] if is_odd else [])


@pytest.mark.parametrize(("schedule", "sla", "is_odd"), _BEFORE)
def test_a_deadline_before_the_start_is_odd(schedule: str, sla: str, is_odd: bool) -> None:
    found = warnings(pipeline_text(schedule=schedule, sla=sla))
    assert found == ([("sla.deadline", "conflict")] if is_odd else [])


def test_thousands_of_rules_on_one_field_are_no_burden() -> None:
    rules = ", ".join(f"{{key: a, check: gt, field: n, value: {n}}}" for n in range(5000))
    assert warnings(pipeline_text(validation=f"{{maxAge: 1d, rules: [{rules}]}}")) == []


@pytest.mark.parametrize(
    ("kind", "config", "expected"),
    [
        ("http", "{url: 'https://a.b/${DATE}/${NAME}'}", ["url"]),
        ("http", "{url: 'https://a.b/${LABEL}/${RUN_ID}/${INTERLOCK_X}'}", []),
        ("http", "{url: 'https://a.b/${JOB_RUN_ID}'}", ["url"]),
        ("http", "{url: 'https://a.b', cancelUrl: 'https://a.b/${JOB_RUN_ID}'}", []),
        ("http", "{url: 'https://a.b', headers: {Authorization: Bearer abc}}", ["headers.Authorization"]),
        ("http", "{url: 'https://a.b', headers: {X-Api-Key: abc}}", ["headers.X-Api-Key"]),
        ("http", "{url: 'https://a.b', headers: {Idempotency-Key: '${RUN_ID}'}}", []),
        (
            "airflow",
            "{url: 'https://a.b', dagId: d, auth: {username: u, password: hunter2}}",
            ["auth.password"],
        ),
        (
            "airflow",
            "{url: 'https://a.b', dagId: d, auth: {username: u, password: 'secret://file/p'}}",
            [],
        ),
        ("http", "{url: 'https://a.b', headers: {X-Token: '${INTERLOCK_MINE}'}}", []),
        ("http", "{url: 'https://a.b', headers: {X-Token: 'secret://env/INTERLOCK_MINE'}}", []),
        ("http", "{url: 'http://a.b', headers: {X: 'secret://env/INTERLOCK_MINE'}}", ["url"]),
        ("http", "{url: 'https://a.b', body: {a: 'secret://env/INTERLOCK_MINE'}}", ["body.a"]),
        ("http", "{url: 'http://10.0.0.1/'}", ["url"]),
        ("command", "{command: [etl, '$${HOME}']}", []),
        ("command", "{command: 'etl ${HOME}'}", ["command"]),
        ("glue", "{jobName: a, arguments: {--par_day: x}}", ["arguments.--par_day"]),
    ],
)  # fmt: skip
def test_odd_configs(kind: str, config: str, expected: list[str]) -> None:
    found = warnings(job_text(kind, config))
    assert [path for path, _ in found] == [f"job.config.{path}" for path in expected]


def test_an_hour_is_odd_where_all_runs_are_daily() -> None:
    job = "{type: command, config: {command: [etl, '${HOUR}']}}"
    daily = pipeline_text(schedule="{cron: 0 8 * * *}", job=job)
    hourly = pipeline_text(schedule="{cron: 0 * * * *}", job=job)
    assert warnings(daily) == [("job.config.command[1]", "conflict")]
    assert warnings(hourly) == []


def test_a_warning_has_its_place_and_never_repeats_a_secret() -> None:
    text = job_text("http", "\n  {url: 'https://a.b', headers: {X-Token: hunter2}}")
    (problem,) = load_text(text, "a.yaml").problems
    assert str(problem).startswith("a.yaml:5:43: warning: job.config.headers.X-Token: ")
    assert "hunter2" not in str(problem)


LANDED = "{trigger: {key: landed, check: exists}}"


@pytest.mark.parametrize(
    ("schedule", "validation", "expected"),
    [
        (LANDED, "{rules: [{key: landed, check: exists}]}", []),  # a trigger's serves its own day
        (LANDED, "{rules: [{key: rates, check: exists}]}", [0]),
        (LANDED, "{rules: [{key: rates, check: exists, maxAge: 1d}]}", []),
        (LANDED, "{maxAge: 1d, rules: [{key: rates, check: exists}]}", []),
        (
            LANDED,
            "{rules: [{key: rates, check: exists},"
            " {key: rates, check: age_lt, field: updatedAt, value: 6h}]}",
            [],
        ),
        ("{cron: 0 6 * * *}", "{rules: [{key: landed, check: exists}]}", [0]),
        (
            "{cron: 0 6 * * *}",
            "{rules: [{key: a, check: exists}, {key: a, check: exists}, {key: b, check: exists}]}",
            [0, 2],  # once a key
        ),
        ("{cron: 0 6 * * *}", "{rules: [{key: 'pipeline:up', check: exists}]}", []),  # always dated
        (
            "{cron: 0 6 * * *}",
            "{rules: [{key: a, check: age_gt, field: updatedAt, value: 6h}]}",
            [0],  # it only grows older
        ),
    ],
)
def test_a_rule_that_yesterdays_reading_could_pass(
    schedule: str, validation: str, expected: list[int]
) -> None:
    found = warnings(pipeline_text(schedule=schedule, validation=validation))
    assert found == [(f"validation.rules[{n}].key", "missing") for n in expected]


def test_a_key_is_safe_only_if_every_schedule_is_triggered_by_it() -> None:
    text = pipeline_text(
        schedule=None,
        schedules="[{id: a, trigger: {key: landed, check: exists}}, {id: b, cron: 0 6 * * *}]",
        validation="{rules: [{key: landed, check: exists}]}",
    )
    assert warnings(text) == [("validation.rules[0].key", "missing")]


@pytest.mark.parametrize(
    ("rules", "where"),
    [
        ("[{key: b, check: gte, field: n, value: {field: n, key: c}}]", ["[0].key", "[0].value"]),
        ("[{key: b, check: gte, field: n, value: {field: n, key: c}, maxAge: 1h}]", []),
        ("[{anyOf: [{key: b, check: exists}]}]", ["[0].anyOf[0].key"]),
        (
            "[{key: b, check: exists}, {anyOf: [{key: b, check: age_lt, field: t, value: 1h}]}]",
            ["[0].key"],  # the age is one of several ways to pass
        ),
        (
            "[{key: b, check: exists}, {allOf: [{key: b, check: age_lt, field: t, value: 1h}]}]",
            [],
        ),
        ("[{key: b, check: absent}]", []),
        ("[{key: b, check: absent, field: n}]", ["[0].key"]),
    ],
)
def test_every_key_that_yesterdays_reading_could_pass_is_named(
    rules: str, where: list[str]
) -> None:
    found = warnings(pipeline_text(validation=f"{{rules: {rules}}}"))
    assert found == [(f"validation.rules{each}", "missing") for each in where]


def test_the_other_spelling_of_a_group_is_accepted_with_a_hint() -> None:
    rules = "[{any_of: [{key: b, check: exists, maxAge: 1h}]}]"
    loaded = load_text(pipeline_text(validation=f"{{rules: {rules}}}"))
    (problem,) = loaded.problems
    assert (problem.path, problem.hint) == ("validation.rules[0].any_of", "write anyOf")
    assert loaded.pipeline is not None
    assert [rule.key for rule in loaded.pipeline.validation.every_rule] == ["b"]
