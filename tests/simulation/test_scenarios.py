"""Scenarios: stories that the real controller must live through, ours and those beside the project."""

from pathlib import Path
from typing import Any

import pytest

from budget import budget
from interlock.simulation.play import FaultOptions, play, play_with_faults
from interlock.simulation.scenario import load_scenario

_PROJECT = Path(__file__).parents[2]
_FOLDERS = (_PROJECT / "scenarios", _PROJECT.parent / "shared" / "scenarios")

#: How many faults one is taken of: `interlock simulate --faults` strikes at every one.
_SAMPLE = budget(97, 291)


def _files() -> list[Any]:
    """Of two files of one name and text, one."""
    found = {
        (file.name, file.read_text()): file
        for folder in reversed(_FOLDERS)
        for file in sorted(folder.glob("*.yaml"))
    }
    return [pytest.param(file, id=file.stem) for file in sorted(found.values())]


@pytest.mark.parametrize("file", _files())
def test_every_expectation_and_invariant_of_a_scenario_holds(file: Path) -> None:
    played = play(load_scenario(file))
    assert played.failed == []


@pytest.mark.parametrize("file", _files())
def test_a_fault_changes_nothing_but_timing(file: Path) -> None:
    played = play_with_faults(load_scenario(file), FaultOptions(every=_SAMPLE))
    assert played.failed == []


def test_there_are_scenarios_and_each_has_a_name_of_its_own() -> None:
    names = [load_scenario(file).name for file in sorted(_FOLDERS[0].glob("*.yaml"))]
    assert len(names) >= 57
    assert len(set(names)) == len(names)
