"""`init`, `schema` and `compile`: a project from nothing to checked JSON."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jsonschema import Draft202012Validator

from interlock.cli import app
from interlock.errors import ConfigError


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    assert run("init", tmp_path / "new").exit_code == 0
    return tmp_path / "new"


def test_what_init_writes_validates_without_a_word(project: Path) -> None:
    result = run("validate", project)
    assert result.exit_code == 0
    assert result.output == "2 files: 0 errors, 0 warnings\n"


def test_init_writes_a_whole_project(project: Path) -> None:
    names = {path.relative_to(project).as_posix() for path in project.rglob("*") if path.is_file()}
    assert names == {
        "README.md",
        ".gitignore",
        "calendars/closing-days.yaml",
        "interlock.toml",
        "pipelines/silver-orders.yaml",
    }


def test_init_overwrites_nothing(project: Path) -> None:
    mine = project / "README.md"
    mine.write_text("mine")
    (project / "interlock.toml").unlink()
    result = run("init", project)
    assert isinstance(result.exception, ConfigError)
    assert mine.read_text() == "mine"
    assert not (project / "interlock.toml").exists()


def test_init_says_when_it_cannot_write(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("init", tmp_path / "file/below")
    assert isinstance(result.exception, ConfigError)


@pytest.mark.parametrize("kind", ["pipeline", "calendar"])
def test_schema_prints_a_json_schema(kind: str) -> None:
    result = run("schema", "--kind", kind)
    Draft202012Validator.check_schema(json.loads(result.output))


def test_compile_writes_the_same_bytes_for_the_same_files(project: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        result = run("compile", project, "-o", tmp_path / f"build/{name}.json", "--year", 2026)
        assert result.exit_code == 0, result.output
    one = (tmp_path / "build/one.json").read_bytes()
    assert one == (tmp_path / "build/two.json").read_bytes()
    assert set(json.loads(one)["pipelines"]) == {"silver-orders"}
    assert sorted(path.name for path in (tmp_path / "build").iterdir()) == ["one.json", "two.json"]


def test_compile_can_print(project: Path) -> None:
    result = run("--project", project, "compile", "-o", "-", "--year", 2026)
    assert json.loads(result.output)["format"] == 1


def test_with_an_error_compile_writes_nothing(project: Path, tmp_path: Path) -> None:
    (project / "pipelines/bad.yaml").write_text("{}")
    result = run("compile", project, "-o", tmp_path / "out.json")
    assert result.exit_code == 1
    assert "bad.yaml:1:1: pipeline: is missing" in result.output
    assert not (tmp_path / "out.json").exists()


def test_compile_refuses_what_validate_only_warns_about(project: Path, tmp_path: Path) -> None:
    path = project / "pipelines/silver-orders.yaml"
    path.write_text(path.read_text().replace("interval: 5m", "interval: 1s"))
    assert run("validate", project).exit_code == 0
    assert run("compile", project, "-o", tmp_path / "out.json").exit_code == 1
