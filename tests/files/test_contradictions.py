"""Rules that no reading can satisfy together refuse the file, with both lines named."""

import pytest
from file_samples import errors, pipeline_text

from interlock.domain import canonical
from interlock.files import load_text, read_config


@pytest.mark.parametrize(
    ("first", "second", "contradict"),
    [
        ("gt, field: n, value: 5", "lt, field: n, value: 5", True),
        ("gte, field: n, value: 5", "lte, field: n, value: 5", False),
        ("gte, field: n, value: 5", "lt, field: n, value: '5.0'", True),
        ("gt, field: n, value: 5", "lt, field: n, value: 6", False),
        ("lt, field: n, value: 3", "gte, field: n, value: 1e1000000", True),
        ("gt, field: n, value: 5", "gt, field: n, value: 7", False),
        ("gt, field: n, value: 7", "lt, field: m, value: 5", False),
        ("equals, field: s, value: a", "equals, field: s, value: b", True),
        ("equals, field: s, value: 5", "equals, field: s, value: '5.0'", False),
        ("equals, field: s, value: '5'", "equals, field: s, value: '5.0'", False),
        ("equals, field: s, value: true", "equals, field: s, value: 'true'", False),
        ("equals, field: s, value: 'true'", "equals, field: s, value: false", True),
        ("equals, field: s, value: [1]", "equals, field: s, value: ['1']", True),
        ("equals, field: s, value: 5", "gt, field: s, value: 5", True),
        ("lte, field: s, value: 5", "equals, field: s, value: '5'", False),
        ("equals, field: s, value: done", "gt, field: s, value: 5", True),
        ("equals, field: s, value: done", "age_lt, field: s, value: 5m", False),
        ("age_lt, field: t, value: 1h", "age_gt, field: t, value: 1h", True),
        ("age_gt, field: t, value: 30m", "age_lt, field: t, value: 1h", False),
        ("exists", "equals, field: s, value: 1", False),
        ("in, field: s, value: [a, b]", "equals, field: s, value: c", True),
        ("in, field: s, value: [a, b]", "in, field: s, value: [b, c]", False),
        ("in, field: s, value: [a, b]", "in, field: s, value: [c, d]", True),
        ("not_equals, field: s, value: a", "equals, field: s, value: a", True),
        ("not_equals, field: s, value: a", "in, field: s, value: [a, b]", False),
        ("matches, field: s, value: '[0-9]+'", "equals, field: s, value: a", True),
        ("between, field: n, value: [1, 3]", "gt, field: n, value: 3", True),
        ("between, field: n, value: [1, 3]", "gte, field: n, value: 3", False),
        ("lt, field: n, value: 1", "between, field: n, value: [1, 3]", True),
        ("between, field: n, value: [1, 3]", "between, field: n, value: [4, 5]", True),
        ("between, field: n, value: [1, 3]", "age_lt, field: n, value: 1h", False),
        ("absent, field: n", "equals, field: n, value: 1", True),
        ("absent, field: n", "gt, field: n, value: 1", False),
        ("gt, field: n, value: {field: m}", "lt, field: n, value: 1", False),
        ("changed_by, field: n, value: 1", "equals, field: n, value: 1", False),
        ("gt, field: n, value: 5", "not_equals, field: n, value: 5", False),
        ("equals, field: s, value: 5", "matches, field: s, value: '[0-9]+'", False),  # the text 5
        ("equals, field: s, value: 5", "not_equals, field: s, value: '5'", False),  # the text 5.0
        ("equals, field: s, value: 5", "not_equals, field: s, value: 5", True),
        ("equals, field: s, value: '5'", "not_equals, field: s, value: '5'", True),
    ],
)
def test_rules_that_can_not_hold_together(first: str, second: str, contradict: bool) -> None:
    rules = f"maxAge: 1d, rules: [{{key: a, check: {first}}}, {{key: a, check: {second}}}]"
    found = errors(pipeline_text(validation=f"{{{rules}}}"))
    assert found == ([("validation.rules[1]", "conflict")] if contradict else [])
    assert errors(pipeline_text(validation=f"{{trigger: any, {rules}}}")) == []


def test_both_lines_and_both_needs_are_named() -> None:
    rules = (
        "\n  trigger: ALL\n  rules:\n"
        "    - {key: a, check: gte, field: count, value: 10}\n"
        "    - {key: a, check: exists}\n"
        "    - {key: a, check: lt, field: count, value: 5}"
    )
    text = pipeline_text(validation=rules)
    first = text.splitlines().index("    - {key: a, check: gte, field: count, value: 10}") + 1
    (wrong,) = load_text(text, "p.yaml").errors
    assert str(wrong) == (
        f"p.yaml:{first + 2}:7: validation.rules[2]: contradicts rule [0] in line {first}: count can't be"
        " >= 10 and < 5; remove one of the two, or use trigger: ANY if one is enough"
    )


def test_rules_after_the_run_are_refused_as_well() -> None:
    rules = "[{key: a, check: gt, field: n, value: 5}, {key: a, check: lt, field: n, value: 5}]"
    found = load_text(pipeline_text(postRun=f"{{rules: {rules}}}")).errors
    assert [(each.path, each.hint) for each in found] == [
        ("postRun.rules[1]", "remove one of the two")
    ]


def test_a_stored_config_has_no_lines_to_name() -> None:
    loaded = load_text(
        pipeline_text(validation="{trigger: any, maxAge: 1d, rules: [" + _PAIR + "]}")
    )
    config = canonical.as_json(loaded.pipeline)
    assert read_config(config).errors == ()
    config["validation"]["trigger"] = "ALL"
    (wrong,) = read_config(config).errors
    assert wrong.message == "contradicts rule [0]: s can't be = a and = b"


_PAIR = "{key: a, check: equals, field: s, value: a}, {key: a, check: equals, field: s, value: b}"


@pytest.mark.parametrize("other", ["exists", "equals, field: s, value: 1", "absent, field: s"])
def test_a_key_that_must_have_no_reading_contradicts_every_rule_that_needs_one(other: str) -> None:
    rules = f"[{{key: a, check: {other}, maxAge: 1d}}, {{key: a, check: absent}}]"
    found = errors(pipeline_text(validation=f"{{rules: {rules}}}"))
    assert found == [("validation.rules[1]", "conflict")]


_LOW = "{key: a, check: lt, field: n, value: 5, maxAge: 1d}"
_HIGH = "{key: a, check: gt, field: n, value: 5, maxAge: 1d}"


@pytest.mark.parametrize(
    ("rules", "where"),
    [
        (f"[{{anyOf: [{_LOW}, {_HIGH}]}}]", None),
        (f"[{{allOf: [{_LOW}, {_HIGH}]}}]", "validation.rules[0].allOf[1]"),
        (f"[{_LOW}, {{allOf: [{_HIGH}]}}]", "validation.rules[1].allOf[0]"),
        (f"[{_LOW}, {{anyOf: [{_HIGH}]}}]", None),
    ],
)
def test_contradictions_are_looked_for_where_rules_must_hold_together(
    rules: str, where: str | None
) -> None:
    found = errors(pipeline_text(validation=f"{{rules: {rules}}}"))
    assert found == ([] if where is None else [(where, "conflict")])


def test_a_group_is_named_by_its_place() -> None:
    rules = f"[{_LOW}, {{allOf: [{_HIGH}]}}, {{key: a, check: absent}}]"
    first, second = load_text(pipeline_text(validation=f"{{rules: {rules}}}")).errors[:2]
    assert (
        "contradicts rule [0] in line" in first.message
        and "n can't be < 5 and > 5" in first.message
    )
    assert second.message.endswith("a can't be < 5 and absent")
