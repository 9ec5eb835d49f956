"""What comes of the row of a made-up check, `multiple_of`. Run by test_add_a_check, in its copy."""

from importlib import import_module
from pathlib import Path

import pytest

from cli.place import Place
from interlock.adapters.alerts.slack_blocks import message
from interlock.domain.alerting.note import AlertNote
from interlock.domain.event import Event, EventType
from interlock.files import load_text
from interlock.files.json_schema import pipeline_schema
from web.house import opened
from web.pages.visitor import Visitor

DOZENS = """\
pipeline: {id: dozens, owner: packing}
schedule:
  trigger: {key: boxes, check: exists}
  evaluation: {window: 1h, interval: 5m}
validation: {rules: [{key: boxes, check: multiple_of, field: count, value: 12}]}
job: {type: command, config: {command: ["true"]}}
"""
SCENARIO = """\
name: only whole dozens start the job
start: 2026-03-03T00:00:00Z
until: 2026-03-03T12:00:00Z
pipelines:
  - pipeline: {id: dozens}
    schedule: {trigger: {key: boxes, check: exists}, evaluation: {window: 2h, interval: 5m}}
    validation: {rules: [{key: boxes, check: multiple_of, field: count, value: 12}]}
    job: {type: command, config: {command: [etl]}}
jobs:
  dozens: [{after: 5m, result: success}]
timeline:
  - {at: 2026-03-03T08:00:00Z, sensor: {pipeline: dozens, key: boxes, data: {date: "2026-03-03", count: 30}}}
  - {at: 2026-03-03T08:40:00Z, sensor: {pipeline: dozens, key: boxes, data: {date: "2026-03-03", count: 36}}}
expect:
  - {event: JOB_TRIGGERED, at: 2026-03-03T08:40:00Z, within: 5s, count: 1}
"""
LINE = "boxes.count is 30, needs a multiple of 12"


@pytest.fixture
def waiting(tmp_path: Path) -> Place:
    """Thirty boxes came, which are two dozens and a half."""
    place = Place(tmp_path)
    place.declare(DOZENS)
    place.put("boxes", "dozens", count=30)
    place.wait(minutes=10)
    return place


def test_a_file_may_use_it(waiting: Place) -> None:
    assert "1 file: 0 errors, 0 warnings" in waiting.shown("validate")
    assert "multiple_of" in pipeline_schema()["$defs"]["Check"]["enum"]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("[12]", "multiple_of compares with a number"),
        ("many", "multiple_of compares with a number, and this is not one"),
        ("null", "multiple_of needs a value to compare with"),
    ],
)
def test_a_file_with_a_wrong_value_is_refused(value: str, said: str) -> None:
    loaded = load_text(DOZENS.replace("value: 12", f"value: {value}"), year=2026)
    assert [problem.message for problem in loaded.errors] == [said]


def test_a_rule_that_contradicts_it_is_refused() -> None:
    equals = "{key: boxes, check: equals, field: count, value: 30}"
    loaded = load_text(DOZENS.replace("rules: [", f"rules: [{equals}, "), year=2026)
    assert any("contradicts rule [0]" in problem.message for problem in loaded.errors)


def test_the_job_starts_only_when_it_holds(tmp_path: Path) -> None:
    (tmp_path / "dozens.yaml").write_text(SCENARIO, encoding="utf-8")
    played = Place(tmp_path).run("simulate", str(tmp_path / "dozens.yaml"))
    assert played.exit_code == 0, played.output


def test_why_shows_its_symbol_and_its_words(waiting: Place) -> None:
    shown = waiting.shown("why", "dozens")
    rule = next(line for line in shown.splitlines() if line.startswith("boxes.count"))
    assert "multiple of 12" in rule and "fails" in rule
    assert f"blocked by {LINE}" in shown
    assert "to unblock a reading of boxes with count multiple of 12" in shown


def test_the_pages_show_its_words(tmp_path: Path) -> None:
    with opened(tmp_path) as house:
        house.declare(DOZENS)
        house.runtime.settle()
        sensor = "/api/v1/pipelines/dozens/sensors/boxes"
        house.client.put(sensor, json={"date": "2026-03-03", "count": 30})
        house.runtime.settle()
        visitor = Visitor(house)
        assert LINE in visitor.see("/pipelines/dozens").text
        assert "multiple of 12" in visitor.see("/runs/dozens/stream/2026-03-03").text


def test_an_alert_shows_its_symbol(waiting: Place) -> None:
    waiting.wait(hours=1)
    told: list[Event] = []
    kind = EventType.VALIDATION_EXHAUSTED
    waiting.happen(lambda home: told.extend(home.store.events.newest(kind=kind, limit=1)))
    assert "30, needs multiple of 12" in str(message(AlertNote(told[0])))


def test_the_reference_has_its_row_and_its_reasons() -> None:
    made = import_module("docs.generate")
    assert "| `multiple_of` | field, number | the value is a whole multiple |" in made.checks()
    kinds = made.reason_kinds()
    assert "| `not_a_multiple` | `multiple_of`: the value is no whole multiple |" in kinds
    assert "| `not_numeric` | `gt` `gte` `lt` `lte` `between` `changed_by` `multiple_of`: " in kinds
