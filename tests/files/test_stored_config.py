"""A config from a store passes the same checks, without YAML and without the holiday library."""

import subprocess
import sys
from typing import Any

import pytest
from file_samples import pipeline_text
from test_job_checks import VALID

from interlock.domain import canonical
from interlock.domain.pipeline import Calendar
from interlock.files import load_text, read_config

CLOSING = Calendar(name="closing", dates=("2026-12-24",))


def stored(text: str) -> Any:
    pipeline = load_text(text, calendars=[CLOSING], year=2026).pipeline
    assert pipeline is not None
    return canonical.decode(canonical.encode(pipeline))


@pytest.mark.parametrize("kind", VALID)
def test_a_pipeline_survives_the_store(kind: str) -> None:
    text = pipeline_text(
        schedule="{trigger: {key: a, check: lt, field: n, value: 0.1}, calendar: closing,"
        " exclude: {holidays: US}}",
        sla="{deadline: 10:00, maxDuration: 2h}",
        postRun="{driftThreshold: 0.5, rules: [{key: a, check: exists}]}",
        job=f"\n  type: {kind}\n  config:{VALID[kind]}",
    )
    before = load_text(text, calendars=[CLOSING], year=2026).pipeline
    after = read_config(stored(text))
    assert not after.errors
    assert after.pipeline == before
    assert canonical.content_hash(after.pipeline) == canonical.content_hash(before)


def test_an_authored_file_as_json_is_accepted_too() -> None:
    config = {
        "pipeline": {"id": "orders"},
        "schedule": {"cron": "0 8 * * *"},
        "validation": {"rules": [{"key": "a", "check": "gte", "field": "n", "value": 1.5}]},
        "job": {"type": "command", "config": {"command": "etl"}},
    }
    assert read_config(config).pipeline is not None


def test_text_of_a_store_is_never_a_number_or_a_boolean() -> None:
    config = stored(pipeline_text())
    config["dryRun"] = "yes"
    config["job"]["maxRetries"] = "1"
    config["pipeline"]["owner"] = 5
    assert sorted((each.path, each.kind.value) for each in read_config(config).errors) == [
        ("dryRun", "wrong_type"),
        ("job.maxRetries", "wrong_type"),
        ("pipeline.owner", "wrong_type"),
    ]


def test_a_calendar_that_is_not_written_in_is_an_error() -> None:
    config = stored(pipeline_text(schedule="{cron: 0 8 * * *, calendar: closing}"))
    config["calendars"] = {}
    config["schedules"][0]["exclude"] = {"holidays": "US"}
    assert sorted((each.path, each.kind.value) for each in read_config(config).errors) == [
        ("schedules[0].calendar", "bad_value"),
        ("schedules[0].exclude.holidays", "bad_value"),
    ]


def test_a_calendar_under_a_false_name_is_an_error() -> None:
    config = stored(pipeline_text(schedule="{cron: 0 8 * * *, calendar: closing}"))
    config["calendars"]["closing"]["name"] = "other"
    assert [each.path for each in read_config(config).errors] == ["schedules[0].calendar"]


@pytest.mark.parametrize("value", [None, [], "text", 5, True, float("nan"), {"a": float("inf")}])
def test_whatever_a_store_holds_is_answered(value: Any) -> None:
    assert read_config(value).errors


def test_what_nests_without_end_is_one_error() -> None:
    deep: Any = []
    for _ in range(100):
        deep = [deep]
    assert [(each.path, each.kind.value) for each in read_config({"a": deep}).problems] == [
        ("", "bad_value")
    ]


def test_reading_a_config_imports_neither_yaml_nor_holidays() -> None:
    code = (
        "import sys; from interlock.files import read_config; read_config({});"
        "print([name for name in ('yaml', 'holidays', 'click', 'rich') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == "[]"
