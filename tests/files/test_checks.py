"""The parts of a file are held against each other, and only sound parts are."""

import pytest
from file_samples import errors, pipeline_text

TRIGGER = "trigger: {key: a, check: exists}"


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("{}", [("schedule.cron", "missing")]),
        ("{timezone: UTC}", [("schedule.cron", "missing")]),
        ("{crn: 0 8 * * *}", [("schedule.cron", "missing"), ("schedule.crn", "unknown_key")]),
        ("{cron: 5}", [("schedule.cron", "wrong_type")]),
        # a trigger is a sensor or a pipeline
        (
            "{trigger: {}}",
            [("schedule.trigger.check", "missing"), ("schedule.trigger.key", "missing")],
        ),
        ("{trigger: {pipeline: other}}", []),
        ("{trigger: {pipeline: other, hours: all}}", []),
        ("{trigger: {pipeline: other, hours: some}}", [("schedule.trigger.hours", "bad_value")]),
        ("{trigger: {pipeline: Other}}", [("schedule.trigger.pipeline", "bad_value")]),
        ("{trigger: {key: a, pipeline: other}}", [("schedule.trigger.pipeline", "conflict")]),
        ("{trigger: {pipeline: orders}}", [("schedule.trigger.pipeline", "conflict")]),  # itself
        (
            "{trigger: {key: a, check: exists, hours: all}}",
            [("schedule.trigger.hours", "conflict")],
        ),
        ("{trigger: {key: a}}", [("schedule.trigger.check", "missing")]),
        ("{trigger: {key: a, check: bad}}", [("schedule.trigger.check", "bad_value")]),
        (
            "{trigger: {check: gt}}",
            [
                ("schedule.trigger.field", "missing"),
                ("schedule.trigger.key", "missing"),
                ("schedule.trigger.value", "missing"),
            ],
        ),
        # windows
        (f"{{{TRIGGER}, evaluation: {{window: 1m}}}}", []),  # the default interval shrinks
        (
            f"{{{TRIGGER}, evaluation: {{window: 5m, interval: 6m}}}}",
            [("schedule.evaluation.interval", "out_of_range")],
        ),
        (
            f"{{{TRIGGER}, evaluation: {{interval: 2h}}}}",  # the default window is an hour
            [("schedule.evaluation.interval", "out_of_range")],
        ),
        (
            f"{{{TRIGGER}, evaluation: {{window: x, interval: 999h}}}}",
            [("schedule.evaluation.window", "bad_value")],
        ),
        (
            f"{{{TRIGGER}, evaluation: {{window: 1h, interval: 999ms}}}}",
            [("schedule.evaluation.interval", "out_of_range")],
        ),
        # dates
        ("{include: {dates: []}}", [("schedule.include.dates", "missing")]),
        (
            "{cron: 0 8 * * *, include: {dates: [2026-02-30]}}",
            [("schedule.include", "conflict"), ("schedule.include.dates[0]", "bad_value")],
        ),
        ("{cron: 0 8 * * *, include: 5}", [("schedule.include", "wrong_type")]),
        ("{cron: 0 8 * *, include: {dates: [2026-01-31]}}", [("schedule.cron", "bad_value")]),
        # names
        (f"{{{TRIGGER}, calendar: nope}}", [("schedule.calendar", "bad_value")]),
        (
            f"{{{TRIGGER}, exclude: {{holidays: XX}}}}",
            [("schedule.exclude.holidays", "bad_value")],
        ),
        (
            f"{{{TRIGGER}, exclude: {{holidays: us}}}}",
            [("schedule.exclude.holidays", "bad_value")],
        ),
        (
            f"{{{TRIGGER}, exclude: {{holidays: US-ZZ}}}}",
            [("schedule.exclude.holidays", "bad_value")],
        ),
        (f"{{{TRIGGER}, exclude: {{holidays: DE-BY}}}}", []),
    ],
)
def test_a_schedule_is_held_together(schedule: str, expected: list[tuple[str, str]]) -> None:
    assert errors(pipeline_text(schedule=schedule)) == sorted(expected)


@pytest.mark.parametrize(
    ("schedules", "expected"),
    [
        ("[]", [("schedules", "missing")]),
        ("{}", [("schedules", "wrong_type")]),
        ("[{cron: 0 8 * * *}]", [("schedules[0].id", "missing")]),
        ("[{id: ~, cron: 0 8 * * *}]", [("schedules[0].id", "missing")]),
        ("[{id: a, cron: 0 8 * * *}, {id: b, cron: 0 9 * * *}]", []),
        ("[{id: A, cron: 0 8 * * *}]", [("schedules[0].id", "bad_value")]),
        (
            "[{id: a, cron: 0 8 * * *}, {id: a, cron: 0 9 * * *}, {id: a, cron: 0 7 * * *}]",
            [("schedules[1].id", "duplicate"), ("schedules[2].id", "duplicate")],
        ),
        ("[{id: a}, 5]", [("schedules[0].cron", "missing"), ("schedules[1]", "wrong_type")]),
    ],
)
def test_schedules_are_distinguished_by_their_ids(
    schedules: str, expected: list[tuple[str, str]]
) -> None:
    assert errors(pipeline_text(schedule=None, schedules=schedules)) == expected


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"sla": "{maxDuration: 1h}"}, [("sla.maxDuration", "conflict")]),
        ({"sla": "{maxDuration: 25h}"}, [("sla.maxDuration", "out_of_range")]),
        ({"sla": "{maxDuration: x}"}, [("sla.maxDuration", "bad_value")]),
        ({"dryRun": "true"}, [("dryRun", "conflict")]),
        ({"dryRun": "false"}, []),
        ({"dryRun": "on", "sla": "{maxDuration: 1h}", "schedule": "5"}, [("schedule", "wrong_type")]),
        ({"dryRun": "on", "schedule": "{cron: 0 8 * * *, trigger: 5}"}, [
            ("schedule.trigger", "wrong_type"),
        ]),
        ({"sla": '{deadline: ":30"}'}, [("sla.deadline", "conflict")]),
        ({"sla": '{deadline: ":30"}', "schedule": "{cron: 0 * * * *}"}, []),
        ({"sla": '{deadline: ":30"}', "schedule": "{cron: 0 8 * *}"}, [
            ("schedule.cron", "bad_value"),
        ]),
        ({"sla": "{}"}, [("sla.deadline", "missing")]),
        ({"sla": "{evaluationDeadline: 09:00}"}, []),
        ({"sla": "{deadline: 10:00, evaluationDeadline: 09:59}"}, []),
        ({"sla": "{deadline: 10:00, evaluationDeadline: 10:00}"}, [
            ("sla.evaluationDeadline", "conflict"),
        ]),
        ({"sla": '{deadline: ":30", evaluationDeadline: ":40"}', "schedule": "{cron: 0 * * * *}"}, [
            ("sla.evaluationDeadline", "conflict"),
        ]),
        ({"sla": '{deadline: "10:00", evaluationDeadline: ":40"}', "schedule": "{cron: 0 * * * *}"}, []),
        ({"sla": '{evaluationDeadline: ":30"}'}, [("sla.evaluationDeadline", "conflict")]),
        ({"sla": "{deadline: 25:00, evaluationDeadline: 09:00}"}, [("sla.deadline", "bad_value")]),
        ({"sla": "{deadline: [1]}"}, [("sla.deadline", "wrong_type")]),
    ],
)  # fmt: skip
def test_what_needs_something_of_a_schedule_is_held_against_it(
    parts: dict[str, str], expected: list[tuple[str, str]]
) -> None:
    assert errors(pipeline_text(**{"schedule": "{cron: 0 8 * * *}", **parts})) == expected


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("{key: a, check: exists}", []),
        ("{key: a, check: exists, field: f, value: 1}", []),
        ("{key: a, check: equals, field: f, value: null}", [("value", "missing")]),
        ("{key: a, check: equals, field: f, value: .inf}", [("value", "bad_value")]),
        ("{key: a, check: gt, field: f, value: .nan}", [("value", "bad_value")]),
        ("{key: a, check: gt, field: f, value: [1]}", [("value", "wrong_type")]),
        ("{key: a, check: gt, field: f, value: {a: 1}}", [("value", "wrong_type")]),
        ("{key: a, check: lte, field: f, value: '1e3'}", []),
        ("{key: a, check: lte, field: f, value: ' 1'}", [("value", "bad_value")]),
        ("{key: a, check: lte, field: f, value: yes}", [("value", "bad_value")]),
        ("{key: a, check: age_lt, field: f, value: 1h30m}", []),
        ("{key: a, check: age_lt, field: f, value: 10:00}", [("value", "bad_value")]),
        ("{key: a, check: age_lt, field: f, value: {a: 1}}", [("value", "wrong_type")]),
        ("{key: '', check: exists}", [("key", "bad_value")]),
        ("{key: 'SENSOR#a', check: exists}", [("key", "bad_value")]),
        ("{key: a, check: gt, field: '', value: 1}", [("field", "bad_value")]),
        ("{key: a, check: 5}", [("check", "wrong_type")]),
    ],
)
def test_a_rule_has_what_its_operator_needs(rule: str, expected: list[tuple[str, str]]) -> None:
    for part, path in (("validation", "validation"), ("postRun", "postRun")):
        found = errors(pipeline_text(**{part: f"{{rules: [{rule}]}}"}))
        assert found == [(f"{path}.rules[0].{key}", kind) for key, kind in expected]
