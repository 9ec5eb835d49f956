"""Reading doubts: what looks like a mistake in a reading."""

from typing import Any

import pytest

from declared import declared
from interlock.domain.reading_doubts import reading_doubts

PIPELINE = declared(
    "validation: {rules: ["
    "{key: orders, check: gte, field: count, value: 10},"
    " {key: orders, check: equals, field: state, value: final},"
    " {key: orders, check: age_lt, field: updatedAt, value: 6h}]}\n"
    "postRun: {driftField: rows.total, rules: [{key: orders, check: exists}]}"
)
SOUND = {"count": 12, "state": "final", "updatedAt": "2026-03-03T10:00:00Z", "rows": {"total": 3}}


@pytest.mark.parametrize(
    ("key", "fields", "doubts"),
    [
        ("orders", SOUND, []),
        ("orders#2026-03-03", SOUND, []),
        ("ordres", SOUND, ["no rule reads ordres; did you mean orders?"]),
        (
            "orders",
            {**SOUND, "count": "many"},
            ["orders.count is 'many', and a rule compares it with a number"],
        ),
        ("orders", {**SOUND, "count": "12"}, []),
        (
            "orders",
            {"cuont": 12, **{k: v for k, v in SOUND.items() if k != "count"}},
            ["rules read orders.count, and the reading has cuont; did you mean count?"],
        ),
        (
            "orders",
            {k: v for k, v in SOUND.items() if k != "rows"},
            ["rules read orders.rows, which the reading does not have"],
        ),
    ],
)
def test_a_mistake_is_named_with_what_would_be_right(
    key: str, fields: dict[str, Any], doubts: list[str]
) -> None:
    assert list(reading_doubts(PIPELINE, key, fields)) == doubts


def test_of_many_keys_none_is_suggested_that_is_not_near() -> None:
    rules = ", ".join(f"{{key: key-{number}, check: exists}}" for number in range(12))
    pipeline = declared(f"validation: {{rules: [{rules}]}}")
    assert list(reading_doubts(pipeline, "zzz", {})) == ["no rule reads zzz"]


def test_a_schedule_without_a_trigger_has_only_its_rules() -> None:
    pipeline = declared(
        "schedule: {cron: '0 6 * * *'}\nvalidation: {rules: [{key: orders, check: exists}]}"
    )
    assert list(reading_doubts(pipeline, "orders", {})) == []


FORMS = declared(
    "validation: {rules: ["
    "{anyOf: [{key: orders, check: between, field: count, value: [1, 5]}]},"
    " {key: orders, check: absent, field: error},"
    " {key: orders, check: gte, field: count, value: {field: due}},"
    " {key: orders, check: gte, field: count, value: {field: rows, key: manifest}}]}"
)


@pytest.mark.parametrize(
    ("key", "fields", "doubts"),
    [
        ("orders", {"count": 1, "due": 1}, []),  # nothing misses a field that must be absent
        ("orders", {"count": 1}, ["rules read orders.due, which the reading does not have"]),
        ("manifest", {"rows": 1}, []),
        ("manifest", {}, ["rules read manifest.rows, which the reading does not have"]),
        (
            "orders",
            {"count": True, "due": 1},
            ["orders.count is True, and a rule compares it with a number"] * 3,
        ),
    ],
)
def test_fields_that_rules_compare_with_are_looked_for_too(
    key: str, fields: dict[str, Any], doubts: list[str]
) -> None:
    assert list(reading_doubts(FORMS, key, fields)) == doubts


_DAY_TOO_FINE = "the pipeline runs once a day, and the reading is about an hour; leave the hour out"
_HOUR_TOO_COARSE = "the pipeline runs every hour, and the reading is about a day; add the hour"
_EXISTS = "validation: {rules: [{key: orders, check: exists}]}"
_TRIGGER = "trigger: {key: orders, check: exists}"
_DAILY = f"schedule: {{cron: '0 6 * * *'}}\n{_EXISTS}"
_HOURLY = f"schedule: {{cron: '0 * * * *'}}\n{_EXISTS}"
_OFTEN = f"schedule: {{cron: '*/15 * * * *'}}\n{_EXISTS}"
_BOTH = (
    "schedule: null\n"
    "schedules: [{id: a, cron: '0 6 * * *'}, {id: b, cron: '0 * * * *'}]\n"
    f"{_EXISTS}"
)
_BY_TIME = f"schedule: {{{_TRIGGER}}}\nsla: {{deadline: '10:00'}}\n{_EXISTS}"
_BY_MINUTE = f"schedule: {{{_TRIGGER}}}\nsla: {{deadline: ':30'}}\n{_EXISTS}"
_NO_DEADLINE = f"schedule: {{{_TRIGGER}}}\nsla: {{maxDuration: 1h}}\n{_EXISTS}"


@pytest.mark.parametrize(
    ("file", "key", "fields", "doubts"),
    [
        (_DAILY, "orders", {"date": "2026-03-03", "hour": 10}, [_DAY_TOO_FINE]),
        (_DAILY, "orders#2026-03-03T10", {}, [_DAY_TOO_FINE]),
        (_DAILY, "orders", {"date": "2026-03-03"}, []),
        (_DAILY, "orders", {"date": 3}, []),
        (_HOURLY, "orders", {"date": "2026-03-03"}, [_HOUR_TOO_COARSE]),
        (_HOURLY, "orders#2026-03-03T10", {}, []),
        (_HOURLY, "orders", {}, []),
        (_OFTEN, "orders", {"date": "2026-03-03"}, []),
        (_BOTH, "orders", {"date": "2026-03-03"}, []),
        (_BY_TIME, "orders", {"date": "2026-03-03", "hour": 1}, [_DAY_TOO_FINE]),
        (_BY_MINUTE, "orders", {"date": "2026-03-03"}, [_HOUR_TOO_COARSE]),
        (_NO_DEADLINE, "orders", {"date": "2026-03-03", "hour": 1}, []),
    ],
)
def test_a_date_of_the_wrong_grain_is_doubted(
    file: str, key: str, fields: dict[str, Any], doubts: list[str]
) -> None:
    assert list(reading_doubts(declared(file), key, fields)) == doubts
