"""I10: an edit makes nothing due that lies before its adoption, and a controller that does so is caught."""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from contracts.samples import a_run
from interlock.domain.config import Config
from interlock.domain.event import EventType, happened, subject
from interlock.domain.run import OpenedBy, Run, RunKey
from interlock.simulation.invariants import Invariants
from interlock.simulation.random_edits import edited, schedules_of
from interlock.simulation.random_scenarios import random_scenario
from interlock.simulation.scenario import load_scenario
from interlock.simulation.world import World
from interlock.usecases.ports import Ports
from usecases.home import NOW, Home

_SCENARIOS = Path(__file__).parents[2] / "scenarios"

CRON = "schedule: {cron: '0 6 * * *'}\nsla: {deadline: '07:00'}"
LATER = "schedule: {cron: '0 7 * * *'}\nsla: {deadline: '07:00'}"
NIGHTLY = "schedule: {id: nightly, cron: '0 6 * * *'}\nsla: {deadline: '07:00'}"
DATE = "2026-03-03"
BEFORE = NOW - timedelta(hours=1)


@pytest.fixture
def home() -> Home:
    return Home()


def in_force(home: Home) -> Config:
    config = home.store.pipelines.find("silver-orders")
    assert config is not None
    return config


def opened(home: Home, config: Config, schedule: str, **changes: Any) -> Run:
    """A run as the controller would open it, and told of."""
    key = RunKey("silver-orders", schedule, DATE)
    run = a_run(key, home.clock(), config_hash=config.config_hash, **changes)
    assert home.store.runs.open(run)
    told(home, EventType.TRIGGER_STARTED, schedule, attempt=0, parts=(0,))
    return run


def told(home: Home, kind: EventType, schedule: str, **given: Any) -> None:
    key = RunKey("silver-orders", schedule, DATE)
    attempt = given.pop("attempt", None)
    about = subject(in_force(home).pipeline, key, attempt)
    parts = given.pop("parts", ())
    home.store.events.publish([happened(kind, about, home.clock(), "told", parts=parts, **given)])


def nothing(home: Home) -> None:
    home.adopt(LATER)


def moment_of_before(home: Home) -> None:
    opened(home, home.adopt(LATER), "cron", opened_by=OpenedBy.CRON)


def reading_of_before(home: Home) -> None:
    opened(home, home.adopt(LATER), "cron", opened_by=OpenedBy.SENSOR, first_sensor_at=BEFORE)


def same_date_under_another_id(home: Home) -> None:
    opened(home, in_force(home), "cron", opened_by=OpenedBy.RERUN)
    opened(home, home.adopt(NIGHTLY), "nightly", opened_by=OpenedBy.RERUN)


def moment_missed_of_before(home: Home) -> None:
    home.adopt(LATER)
    home.pass_time(minutes=1)
    told(home, EventType.SCHEDULE_MISSED, "cron", due="2026-03-03T07:00:00Z")


def deadline_of_before(home: Home) -> None:
    home.adopt(LATER)
    home.pass_time(minutes=1)
    told(home, EventType.SLA_BREACH, "cron", breachAt="2026-03-03T07:00:00Z")


def deadline_of_a_run_of_before(home: Home) -> None:
    opened(home, in_force(home), "cron", opened_by=OpenedBy.RERUN)
    home.pass_time(minutes=1)
    home.adopt(LATER)
    home.pass_time(minutes=1)
    told(home, EventType.SLA_BREACH, "cron", breachAt="2026-03-03T07:00:00Z")


def an_edit_that_says_nothing_of_when(home: Home) -> None:
    config = home.adopt(CRON + "\nvalidation: {rules: [{key: b, check: exists}]}")
    opened(home, config, "cron", opened_by=OpenedBy.SENSOR, first_sensor_at=BEFORE)
    home.pass_time(minutes=1)
    told(home, EventType.SCHEDULE_MISSED, "cron", due="2026-03-03T09:00:00Z")


SCENES: list[tuple[Callable[[Home], None], list[str]]] = [
    (nothing, []),
    (moment_of_before, ["I10"]),
    (reading_of_before, ["I10"]),
    (same_date_under_another_id, ["I10"]),
    (moment_missed_of_before, ["I10"]),
    (deadline_of_before, ["I10"]),
    (deadline_of_a_run_of_before, []),  # it keeps what it was opened with
    (an_edit_that_says_nothing_of_when, []),
]


@pytest.mark.parametrize(("scene", "expected"), SCENES, ids=[s.__name__ for s, _ in SCENES])
def test_what_an_edit_must_not_cause_is_seen(
    home: Home, scene: Callable[[Home], None], expected: list[str]
) -> None:
    watcher = Invariants(home.store, home.jobs, home.clock)
    home.adopt(CRON)
    watcher.check_step()
    home.pass_time(hours=1)
    scene(home)
    watcher.check_step()
    assert [line.split(":")[0] for line in watcher.broken] == expected


class Forgetful:
    """A defect: a store that does not keep since when schedules count, nor what they were called."""

    def __init__(self, ports: Ports) -> None:
        self._pipelines = ports.pipelines

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipelines, name)

    def save(self, config: Config, *given: Any) -> bool:
        pipeline = msgspec.structs.replace(config.pipeline, formerly=msgspec.UNSET)
        forgotten = msgspec.structs.replace(config, pipeline=pipeline, standings={})
        return self._pipelines.save(forgotten, *given)


@pytest.mark.parametrize(
    "name",
    [
        "edit-second-schedule",
        "edit-cron-earlier",
        "edit-zone-east",
        "edit-trigger-key",
        "edit-deadline-overtaken",
        "edit-schedule-renamed",
    ],
)
def test_a_controller_that_forgets_since_when_schedules_count_breaks_a_world(name: str) -> None:
    scenario = load_scenario(_SCENARIOS / f"{name}.yaml")
    forgetful = World(scenario, around=lambda ports: replace(ports, pipelines=Forgetful(ports)))
    assert {line.split(":")[0] for line in forgetful.play().broken} >= {"I10"}
    assert World(scenario).play().broken == []


def test_random_worlds_edit_their_files_in_every_way() -> None:
    """Whatever is drawn, it is a document that differs in one thing, or in none."""
    document = random_scenario(3)["pipelines"][0]
    drawn = [edited(document, random.Random(n)) for n in range(60)]
    assert any(each == document for each in drawn)
    assert {len(schedules_of(each)) for each in drawn} == {1, 2}
    parts = [
        frozenset(name for name in {*each, *document} if each.get(name) != document.get(name))
        for each in drawn
    ]
    assert {"schedule", "schedules", "validation"} <= frozenset().union(*parts)
