"""`validate` shows every problem of every file, in the form that was asked for."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from interlock.cli import app

GOOD = """\
pipeline: {id: good}
schedule: {cron: 0 8 * * *}
validation: {rules: [{key: a, check: exists, maxAge: 1d}]}
job: {type: command, config: {command: [etl]}}
"""
BAD = GOOD.replace("good", "Bad").replace("0 8 * * *", "0 8 * *")
ODD = GOOD.replace("good", "odd") + "sla: {deadline: 07:00}\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pipelines").mkdir()
    (tmp_path / "pipelines/good.yaml").write_text(GOOD)
    return tmp_path


def validate(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["validate", *map(str, arguments)])


def test_a_sound_project_is_fine(project: Path) -> None:
    result = validate(project)
    assert result.exit_code == 0
    assert result.output == "1 file: 0 errors, 0 warnings\n"


def test_every_problem_has_its_line_and_the_exit_code_says_so(project: Path) -> None:
    (project / "pipelines/bad.yaml").write_text(BAD)
    (project / "pipelines/worse.yaml").write_text("[")
    result = validate(project)
    assert result.exit_code == 1
    lines = result.output.splitlines()
    assert lines[0].startswith(f"{project}/pipelines/bad.yaml:1:16: pipeline.id: 'Bad' is not ")
    assert lines[1].startswith(f"{project}/pipelines/bad.yaml:2:18: schedule.cron: ")
    assert lines[2].startswith(f"{project}/pipelines/worse.yaml:2:1: not YAML: ")
    assert lines[3] == "3 files: 3 errors, 0 warnings"


def test_warnings_are_shown_and_do_not_fail(project: Path) -> None:
    (project / "pipelines/odd.yaml").write_text(ODD)
    result = validate(project)
    assert result.exit_code == 0
    assert "odd.yaml:5:17: warning: sla.deadline: " in result.output
    assert result.output.endswith("2 files: 0 errors, 1 warning\n")


def test_json_holds_everything_that_the_lines_say(project: Path) -> None:
    (project / "pipelines/bad.yaml").write_text(BAD)
    (project / "pipelines/odd.yaml").write_text(ODD)
    result = validate(project, "--format", "json")
    document = json.loads(result.output)
    assert result.exit_code == 1
    assert (document["files"], document["errors"], document["warnings"]) == (3, 2, 1)
    first = document["problems"][0]
    assert (first["path"], first["kind"], first["severity"]) == (
        "pipeline.id",
        "bad_value",
        "error",
    )
    assert (first["line"], first["column"]) == (1, 16)
    assert first["file"].endswith("bad.yaml")


def test_github_gets_annotations_that_it_can_read(project: Path) -> None:
    (project / "pipelines/bad,%.yaml").write_text(BAD)
    result = validate(project, "--format", "github")
    first = result.output.splitlines()[0]
    assert first.startswith("::error file=")
    assert "bad%2C%25.yaml,line=1,col=16,title=bad_value::pipeline.id: " in first


def test_without_a_path_the_project_is_checked(project: Path) -> None:
    result = CliRunner().invoke(app, ["--project", str(project), "validate"])
    assert result.output == "1 file: 0 errors, 0 warnings\n"


def test_a_path_that_is_not_there_is_wrong_use(tmp_path: Path) -> None:
    assert validate(tmp_path / "nope").exit_code == 2
    assert validate("--format", "xml").exit_code == 2


def test_a_folder_without_pipelines_is_not_fine(tmp_path: Path) -> None:
    result = validate(tmp_path)
    assert result.exit_code == 1
    assert "interlock init" in result.output


def test_colours_are_for_terminals_that_want_them(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "pipelines/bad.yaml").write_text(BAD)
    arguments = ["validate", str(project)]
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" not in CliRunner().invoke(app, arguments).output
    assert "\x1b[" in CliRunner().invoke(app, arguments, color=True).output
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in CliRunner().invoke(app, arguments, color=True).output
