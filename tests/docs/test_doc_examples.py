"""The examples are sound, and what their scenarios expect comes true."""

import importlib.util
from pathlib import Path

import pytest
from doc_pages import ROOT

from interlock.files import load_project
from interlock.simulation.play import play
from interlock.simulation.scenario import load_scenario

MEDALLION = ROOT / "examples" / "medallion"
SCENARIOS = sorted((MEDALLION / "scenarios").glob("*.yaml"))


def test_the_example_project_is_sound() -> None:
    project = load_project(MEDALLION)
    assert project.problems == ()
    assert set(project.pipelines) == {
        "earthquake-silver",
        "earthquake-gold",
        "crypto-silver",
        "crypto-gold",
    }


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_the_scenario_holds(path: Path) -> None:
    assert play(load_scenario(path)).failed == []


def test_the_scenarios_play_the_pipelines_of_the_project() -> None:
    played = "\n".join(path.read_text(encoding="utf-8") for path in SCENARIOS)
    for path in (MEDALLION / "pipelines").iterdir():
        assert f"../pipelines/{path.name}" in played


def test_the_week_is_as_its_script_writes_it() -> None:
    spec = importlib.util.spec_from_file_location("write_week", MEDALLION / "write_week.py")
    assert spec is not None and spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.PLACE.read_text(encoding="utf-8") == script.week()
