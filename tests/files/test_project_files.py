"""Sources: the files of a folder, links in circles, and folders that are too much."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from declared import document
from interlock.cli import app
from interlock.errors import ConfigError
from interlock.files.project_files import Walk, find_sources


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "pipelines"
    folder.mkdir()
    (folder / "silver-orders.yaml").write_text(document())
    for name in ("one", "two"):
        (folder / name).symlink_to(".")
    (folder / "up").symlink_to("..")
    (tmp_path / "story.yaml").write_text("name: no pipeline, and beside them")
    return tmp_path


def test_each_real_folder_is_entered_once(project: Path) -> None:
    (source,) = find_sources([project])
    assert source.name == "pipelines/silver-orders.yaml"


@pytest.mark.parametrize("command", [("validate",), ("compile", "-o", "-")])
def test_commands_that_read_a_project_are_not_caught_in_a_circle(
    project: Path, command: tuple[str, ...]
) -> None:
    result = CliRunner().invoke(app, [command[0], str(project), *command[1:]])
    assert result.exit_code == 0, result.output


def test_a_scenario_beside_a_circle_is_played(project: Path) -> None:
    file = project / "pipelines" / "one" / "two" / "silver-orders.yaml"
    story = project / "story.yaml"
    story.write_text(
        "{name: x, start: '2026-03-03T00:00:00Z', until: '2026-03-03T01:00:00Z',"
        f" pipelines: [{os.path.relpath(file, project)}]}}"
    )
    result = CliRunner().invoke(app, ["simulate", str(story)])
    assert result.exit_code == 0, result.output


def test_a_folder_with_too_many_files_is_an_error(project: Path) -> None:
    (project / "pipelines" / "second.yaml").write_text("")
    Walk(most=2).enter(str(project / "pipelines"))
    with pytest.raises(ConfigError, match="more than 1 files"):
        Walk(most=1).enter(str(project / "pipelines"))


def test_folders_that_lie_too_deep_are_an_error(project: Path) -> None:
    (project / "pipelines" / "a" / "b").mkdir(parents=True)
    Walk(deepest=2).enter(str(project / "pipelines"))
    with pytest.raises(ConfigError, match="nested more than 1 deep"):
        Walk(deepest=1).enter(str(project / "pipelines"))


def test_what_can_not_be_listed_is_named(tmp_path: Path) -> None:
    walk = Walk()
    walk.enter(str(tmp_path / "nowhere"))
    assert walk.denied == [str(tmp_path / "nowhere")]


def test_hidden_files_and_folders_with_the_name_of_a_file_are_none(project: Path) -> None:
    (project / "pipelines" / ".swap.yaml").write_text("")
    (project / "pipelines" / "folder.yaml").mkdir()
    (source,) = find_sources([project])
    assert source.name == "pipelines/silver-orders.yaml"
