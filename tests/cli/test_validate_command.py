"""`validate` shows every problem of every file, in the form that was asked for."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cli.place import ORDERS, Place
from cli.served import served
from interlock.cli import app
from interlock.errors import UnavailableError

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


# --- against what is running


NEXT = ORDERS.replace(
    "  trigger: {key: orders, check: exists}", "  id: daily\n  cron: 0 8 * * *"
).replace("maxDuration: 4h, ", "deadline: '23:00', ")


def rewrite(place: Place, text: str) -> None:
    (place.folder / "pipelines/silver-orders.yaml").write_text(text)


def against(place: Place, *more: str) -> str:
    result = place.run("validate", "--against", "running", *more)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def test_a_file_that_is_in_force_would_change_nothing(place: Place) -> None:
    assert against(place).splitlines()[1:] == ["silver-orders: unchanged"]


def test_what_an_edit_would_change_is_said_beforehand(place: Place) -> None:
    rewrite(place, NEXT)
    file, schedule = against(place).splitlines()[-2:]
    assert file == "silver-orders: changed"
    assert schedule.startswith(
        "  daily (formerly stream) changed: cron, dayOffset, trigger, sla.deadline; counts since "
    )
    (config,) = place.json("status", code=1)["pipelines"]
    assert config["nextExpected"] is None  # nothing was done


def test_a_file_that_is_new_or_gone_is_named(place: Place) -> None:
    (place.folder / "pipelines/silver-orders.yaml").unlink()
    (place.folder / "pipelines/good.yaml").write_text(GOOD)
    said = against(place).splitlines()[1:]
    assert said[0] == "good: new" and said[1].startswith("  cron is new, counts since ")
    assert said[2:] == ["silver-orders: retired"]
    # of a single file nothing follows for the others
    assert "retired" not in against(place, str(place.folder / "pipelines/good.yaml"))


def test_while_a_file_is_wrong_no_other_is_said_to_be_gone(place: Place) -> None:
    rewrite(place, "[")
    result = place.run("validate", "--against", "running")
    assert result.exit_code == 1 and "retired" not in result.output


def test_what_would_change_is_there_for_programs_too(place: Place) -> None:
    rewrite(place, NEXT)
    said = json.loads(against(place, "--format", "json"))
    (change,) = said["changes"]
    assert (change["pipelineId"], change["change"]) == ("silver-orders", "changed")
    (schedule,) = change["schedules"]
    assert (schedule["schedule"], schedule["formerly"]) == ("daily", "stream")
    assert "silver-orders: changed" in against(place, "--format", "github")


def test_a_named_server_is_asked(place: Place) -> None:
    rewrite(place, NEXT)
    with served(place) as server:
        result = place.run("validate", "--against", "running", INTERLOCK_URL=server.url)
    assert "silver-orders: changed" in result.output
    assert [asked.path for asked in server.asked] == ["/api/v1/foresee"]


def test_without_a_backend_it_says_that_there_is_none(project: Path) -> None:
    result = CliRunner().invoke(
        app, ["--project", str(project), "validate", "--against", "running"]
    )
    assert isinstance(result.exception, UnavailableError)
