"""Scenarios: the stories of the local home, told to the six functions. The same comes of them."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from aws.cloud import Cloud
from interlock.domain.event import Event
from interlock.simulation.expectations import failed_expectations
from interlock.simulation.scenario import load_scenario
from interlock.simulation.world import Outcome, World

_FOLDER = Path(__file__).parents[2] / "scenarios"
#: Set for `make cloud`: every scenario, not only a sample.
_ALL = "INTERLOCK_EVERY_SCENARIO"
_SAMPLE = 4

#: Scheduler fires up to a minute late.
_A_MINUTE = timedelta(minutes=1)


def _files() -> list[Any]:
    # how files come and go on a disk is a matter of the local home: here an apply brings them
    files = [file for file in sorted(_FOLDER.glob("*.yaml")) if not file.stem.startswith("file")]
    # a date of a backfill passes through four functions, so all of its stories are in the sample
    sample = [f for n, f in enumerate(files) if n % _SAMPLE == 0 or f.stem.startswith("backfill")]
    chosen = files if os.environ.get(_ALL) else sample
    return [pytest.param(file, id=file.stem) for file in chosen]


@pytest.mark.parametrize("file", _files())
def test_the_same_comes_of_a_story_in_both_homes(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = load_scenario(file)
    here, there = Cloud(scenario).play(), World(scenario).play()
    of_alerts = [each for each in scenario.expect if each.alerts is not None]
    expected = [each for each in scenario.expect if each not in of_alerts]
    assert failed_expectations(expected, here, slack=_A_MINUTE) == []
    assert _told(here.events) == _told(there.events)
    assert _ended(here) == _ended(there)


def test_an_apply_without_a_file_retires_its_pipeline_and_reports_the_dropped_retry() -> None:
    scenario = load_scenario(_FOLDER / "file-gone-with-a-retry-due.yaml")
    assert failed_expectations(scenario.expect, Cloud(scenario).play(), slack=_A_MINUTE) == []


def _told(events: list[Event]) -> set[str]:
    return {event.event_id for event in events}


def _ended(outcome: Outcome) -> set[Any]:
    return {(run.key, run.status, run.attempt, run.sla_verdict) for run in outcome.runs}
