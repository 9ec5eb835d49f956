"""What comes of the rows of a made-up guard, `slow-jobs`, and of its event, JOB_SLOW. Run by
test_add_a_guard, in its copy.
"""

from datetime import timedelta
from importlib import import_module
from pathlib import Path

import pytest

from cli.place import Place
from interlock.adapters.alerts.slack_blocks import message
from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.alerting.note import AlertNote, RootNote, headline
from interlock.domain.alerting.routes import targets_of
from interlock.domain.alerting.threads import opened as thread_of
from interlock.domain.event import Event, EventType
from interlock.simulation.scenario import JobScript
from web.house import House, opened
from web.pages.visitor import Visitor

SLOW = """\
pipeline: {id: slow, owner: packing}
schedule: {trigger: {key: boxes, check: exists}}
validation: {rules: [{key: boxes, check: exists}]}
sla: {maxDuration: 10h, expectedDuration: 20m}
job: {type: command, config: {command: ["true"]}}
"""
SCENARIO = """\
name: a job that takes longer than expected is told of once
start: 2026-03-03T00:00:00Z
until: 2026-03-03T12:00:00Z
pipelines:
  - pipeline: {id: slow}
    schedule: {trigger: {key: boxes, check: exists}}
    validation: {rules: [{key: boxes, check: exists}]}
    sla: {maxDuration: 10h, expectedDuration: 20m}
    job: {type: command, config: {command: [etl]}}
jobs:
  slow: [{after: 50m, result: success}, {after: 5m, result: success}]
timeline:
  - {at: 2026-03-03T08:00:00Z, sensor: {pipeline: slow, key: boxes, data: {date: "2026-03-02"}}}
  - {at: 2026-03-03T10:00:00Z, sensor: {pipeline: slow, key: boxes, data: {date: "2026-03-03"}}}
expect:
  - {event: JOB_SLOW, date: "2026-03-02", at: 2026-03-03T08:25:00Z, within: 5m, count: 1}
  - {event: JOB_SLOW, date: "2026-03-03", count: 0}
"""
JOB_SLOW = EventType("JOB_SLOW")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A job has been running for half an hour, and was to take twenty minutes."""
    place = Place(tmp_path)
    place.declare(SLOW)
    place.scripts["slow"] = (JobScript(after="6h"),)
    place.put("boxes", "slow")
    place.wait(minutes=30)
    return place


@pytest.fixture
def event(place: Place) -> Event:
    told: list[Event] = []
    place.happen(lambda home: told.extend(home.store.events.newest(kind=JOB_SLOW, limit=9)))
    (only,) = told
    return only


def test_its_finding_is_acted_on_once_in_a_played_scenario(tmp_path: Path) -> None:
    (tmp_path / "slow.yaml").write_text(SCENARIO, encoding="utf-8")
    played = Place(tmp_path).run("simulate", str(tmp_path / "slow.yaml"))
    assert played.exit_code == 0, played.output


def test_the_watchdog_command_names_it_and_says_what_it_found(place: Place) -> None:
    shown = place.shown("watchdog")
    assert f"slow-jobs:\n    slow {place.today}: its job is slow; told" in shown


def test_the_event_is_as_its_row_says(event: Event) -> None:
    assert (event.severity, event.detail["source"]) == ("warning", "watchdog")
    assert event.detail["expected"] == "20m"
    assert event.detail["actionHint"] == f"look at the job of slow for {event.date}"
    assert event.event_id.endswith(f"/{event.date}/JOB_SLOW/0")


def test_the_events_command_and_a_route_of_alerts_know_it(place: Place) -> None:
    assert "JOB_SLOW" in place.shown("events", "--type", "JOB_SLOW")
    route = "routes: [{match: {event: JOB_SL*}, to: [{sink: console}]}]\nsinks: {console: {type: console}}\n"
    (place.folder / "alerts.yaml").write_text(route, encoding="utf-8")
    assert "0 errors" in place.shown("validate")


def test_an_alert_tells_of_it(event: Event) -> None:
    target = Alerts().default_target
    assert targets_of(event, Alerts(), ()) == (target,)
    assert "slow" in headline(AlertNote(event)) and "running for" in headline(AlertNote(event))
    root = RootNote(thread_of(event, target, event.timestamp), event, is_first=True)
    blocks = str(message(root))
    assert " · late" in blocks and "*running for*" in blocks and "look at the job of slow" in blocks


def test_the_pages_show_it(tmp_path: Path) -> None:
    with opened(tmp_path) as house:
        _slow_run(house)
        text = Visitor(house).see("/events").text
        assert "Job slow" in text and "its job has been running for" in text


def _slow_run(house: House) -> None:
    house.declare(SLOW)
    house.runtime.settle()
    house.client.put("/api/v1/pipelines/slow/sensors/boxes", json={"date": "2026-03-03"})
    house.runtime.settle()
    (run,) = house.home.store.runs.active()
    now = house.home.ports.clock()
    assert house.home.store.runs.save(run.changed(now, launched_at=now - timedelta(hours=1)))
    found = house.home.commands("ada").watch()
    assert found is not None and not found.failures
    assert [each.check for each in found.found] == ["slow-jobs"]


def test_the_reference_has_their_rows() -> None:
    made = import_module("docs.generate")
    what = "takes longer than its owner expects"
    assert f"| `slow-jobs` | A job {what}. |" in made.guards()
    assert f"| [`JOB_SLOW`](#job_slow) | a job {what} |" in made.event_list()
    assert "- hint: look at the job of {pipeline} for {date}" in made.event_details()
