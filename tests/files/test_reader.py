"""The reader walks a file along the structs and notes every problem, each value at most once."""

import pytest
from file_samples import errors, job_text, pipeline_text

from interlock.domain.pipeline import Schedule, Sla
from interlock.files import load_text, read_part


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({}, []),
        # null: an optional one is absent, a required one is missing
        ({"sla": "null"}, []),
        ({"sla": "~", "postRun": "", "dryRun": "null"}, []),
        ({"pipeline": "null"}, [("pipeline", "missing")]),
        ({"pipeline": "{id: ~}"}, [("pipeline.id", "missing")]),
        ({"schedule": "null"}, [("schedule", "missing")]),
        ({"schedule": None, "schedules": "null"}, [("schedule", "missing")]),
        ({"job": "{type: command, config: null}"}, [("job.config", "missing")]),
        ({"pipeline": "{id: a, tags: {a: ~}}"}, [("pipeline.tags.a", "wrong_type")]),
        ({"validation": "{rules: [~]}"}, [("validation.rules[0]", "wrong_type")]),
        # text places
        ({"pipeline": "{id: 12}"}, [("pipeline.id", "wrong_type")]),
        ({"pipeline": '{id: "12"}'}, []),
        ({"pipeline": "{id: a, owner: true}"}, [("pipeline.owner", "wrong_type")]),
        ({"pipeline": "{id: a, owner: yes}"}, []),
        ({"pipeline": "{id: a, owner: 1e3}"}, [("pipeline.owner", "wrong_type")]),
        ({"pipeline": "{id: a, tags: {team: 7}}"}, [("pipeline.tags.team", "wrong_type")]),
        ({"pipeline": "{id: a, tags: [x]}"}, [("pipeline.tags", "wrong_type")]),
        ({"pipeline": "orders"}, [("pipeline", "wrong_type")]),
        # whole numbers count by value
        ({"job": "{type: command, config: {command: [a]}, maxRetries: 2.0}"}, []),
        ({"job": "{type: command, config: {command: [a]}, maxRetries: 0x2}"}, []),
        (
            {"job": "{type: command, config: {command: [a]}, maxRetries: 1e999999999}"},
            [("job.maxRetries", "out_of_range")],
        ),
        (
            {"job": "{type: command, config: {command: [a]}, maxRetries: .inf}"},
            [("job.maxRetries", "wrong_type")],
        ),
        (
            {"job": "{type: command, config: {command: [a]}, jobPollWindowSeconds: 59}"},
            [("job.jobPollWindowSeconds", "out_of_range")],
        ),
        # numbers
        ({"postRun": "{driftThreshold: 0.5, rules: [{key: a, check: exists}]}"}, []),
        (
            {"postRun": "{driftThreshold: .nan, rules: [{key: a, check: exists}]}"},
            [("postRun.driftThreshold", "bad_value")],
        ),
        (
            {"postRun": "{driftThreshold: yes, rules: [{key: a, check: exists}]}"},
            [("postRun.driftThreshold", "wrong_type")],
        ),
        ({"postRun": "{}"}, [("postRun.rules", "missing")]),
        # keys are text
        ({"on": "1"}, [("on", "unknown_key")]),
        ({"12": "1"}, [("12", "unknown_key")]),
        ({"<<": "{}"}, [("<<", "unknown_key")]),
        # a duplicate is one error, and nothing in it is read
        ({"zzz": "1\nzzz: 2"}, [("zzz", "duplicate")]),
        ({"sla": "{deadline: 99}\nsla: {x: 1}"}, [("sla", "duplicate")]),
        ({"schedule": "{trigger: {key: a, key: b}}"}, [
            ("schedule.trigger.check", "missing"),
            ("schedule.trigger.key", "duplicate"),
        ]),
        ({"schedule": "{cron: 1, cron: 2}"}, [("schedule.cron", "duplicate")]),
        (
            {"pipeline": "{id: a, tags: {x: a, x: b}}"},
            [("pipeline.tags.x", "duplicate")],
        ),
        (
            {"validation": "{rules: [{key: a, check: equals, field: f, value: {x: 1, x: 2}}]}"},
            [("validation.rules[0].value.x", "duplicate")],
        ),
    ],
)  # fmt: skip
def test_every_problem_has_its_path_and_kind(
    parts: dict[str, str | None], expected: list[tuple[str, str]]
) -> None:
    assert errors(pipeline_text(**parts)) == expected


def test_an_empty_file_is_one_error() -> None:
    assert errors("") == [("", "missing")]
    assert errors("# only a comment") == [("", "missing")]
    assert errors("just text") == [("", "wrong_type")]


def test_a_misspelt_key_is_answered_with_the_nearest() -> None:
    (problem,) = load_text(pipeline_text(postrun="{}")).problems
    assert problem.hint == "did you mean postRun?"


def test_a_number_in_a_text_place_is_answered_with_quotes() -> None:
    (problem,) = load_text(pipeline_text(pipeline="{id: a, owner: 12}")).problems
    assert problem.hint == 'put it in quotes: "12"'


def test_a_key_with_the_prefix_of_the_store_is_answered_with_the_key() -> None:
    text = pipeline_text(schedule="{trigger: {key: SENSOR#orders, check: exists}}")
    (problem,) = load_text(text, "a.yaml").problems
    assert str(problem) == (
        "a.yaml:2:27: schedule.trigger.key: write a key without SENSOR#; write orders"
    )


def test_a_problem_stays_on_one_line_whatever_the_file_holds() -> None:
    text = pipeline_text(pipeline=r'{id: "a\n\e[31mb"}', **{r'"x\ny"': "1"})
    for problem in load_text(text).problems:
        assert str(problem).isprintable()


def test_numbers_are_exact() -> None:
    text = pipeline_text(
        validation="{rules: [{key: a, check: gte, field: n, value: 9007199254740993},"
        " {key: a, check: lt, field: n, value: 1e1000000}]}"
    )
    pipeline = load_text(text).pipeline
    assert pipeline is not None
    large, huge = pipeline.validation.every_rule
    assert large.value == 9007199254740993
    assert huge.value > 10**100


def test_what_may_be_anything_is_read_as_yaml_says() -> None:
    text = job_text(
        "http", "{url: 'https://a.b', body: {at: 10:00, day: 2026-03-03, no: no, n: 1, ok: true}}"
    )
    pipeline = load_text(text).pipeline
    assert pipeline is not None
    assert pipeline.job.config["body"] == {
        "at": "10:00",
        "day": "2026-03-03",
        "no": "no",
        "n": 1,
        "ok": True,
    }


def test_a_part_is_read_without_the_checks_between_its_fields() -> None:
    part, problems = read_part(Schedule, {"timezone": "Europe/Berlin"})
    assert part == Schedule(timezone="Europe/Berlin") and not problems
    missing, problems = read_part(Sla, {"deadline": "25:00"})
    assert missing is None and [problem.path for problem in problems] == ["deadline"]


def test_an_alias_serves_like_the_text_it_stands_for() -> None:
    text = pipeline_text(
        schedule="{trigger: &rule {key: a, check: exists}}", validation="{rules: [*rule]}"
    )
    assert errors(text) == []
