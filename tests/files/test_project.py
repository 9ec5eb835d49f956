"""A project is read whole: every file, and what the files must be to each other."""

import hashlib
import os
from pathlib import Path

import pytest
from file_samples import pipeline_text

from interlock.domain.alerting.alert_rules import Alerts
from interlock.files import load_project
from interlock.files.project import Project


def write(root: Path, **files: str | bytes) -> Path:
    """Files by name; `__` stands for a folder's slash."""
    for name, text in files.items():
        path = root / f"{name.replace('__', '/')}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def named(name: str, upstream: str = "") -> str:
    schedule = f"{{trigger: {{pipeline: {upstream}}}}}" if upstream else "{cron: 0 8 * * *}"
    return pipeline_text(pipeline=f"{{id: {name}}}", schedule=schedule)


def found(project: Project) -> list[tuple[str, str, str]]:
    return [
        (Path(problem.file).name, problem.path, problem.kind.value) for problem in project.errors
    ]


def test_a_project_has_pipelines_calendars_and_their_hashes(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        pipelines__a=pipeline_text(schedule="{cron: 0 8 * * *, calendar: closing}"),
        pipelines__team__b=named("b"),
        calendars__closing="{name: closing, dates: [2026-12-24]}",
        alerts="{}",
    )
    project = load_project(root)
    assert found(project) == []
    assert set(project.pipelines) == {"orders", "b"}
    assert project.files["b"] == str(root / "pipelines/team/b.yaml")
    assert project.pipelines["orders"].calendars == project.calendars
    assert project.alerts == Alerts()
    assert project.sources == {
        name: hashlib.sha256((root / name).read_bytes()).hexdigest()
        for name in (
            "alerts.yaml",
            "calendars/closing.yaml",
            "pipelines/a.yaml",
            "pipelines/team/b.yaml",
        )
    }


@pytest.mark.parametrize("path", ["pipelines/a.yaml", "pipelines", "."])
def test_a_part_of_a_project_knows_its_calendars(tmp_path: Path, path: str) -> None:
    root = write(
        tmp_path,
        pipelines__a=pipeline_text(schedule="{cron: 0 8 * * *, calendar: closing}"),
        calendars__closing="{name: closing}",
    )
    assert found(load_project(root / path)) == []


def test_both_endings_are_read_and_hidden_files_are_not(tmp_path: Path) -> None:
    write(tmp_path, pipelines__a=named("a"))
    (tmp_path / "pipelines/b.yml").write_text(named("b"))
    (tmp_path / "pipelines/.c.yaml").write_text("[")
    (tmp_path / "pipelines/notes.txt").write_text("[")
    assert set(load_project(tmp_path).pipelines) == {"a", "b"}


def test_an_id_belongs_to_one_file(tmp_path: Path) -> None:
    write(tmp_path, pipelines__a=named("same"), pipelines__b=named("same"))
    project = load_project(tmp_path)
    assert found(project) == [("b.yaml", "pipeline.id", "duplicate")]
    (problem,) = project.errors
    assert "a.yaml" in problem.message and problem.line == 1


def test_a_name_belongs_to_one_calendar(tmp_path: Path) -> None:
    write(tmp_path, calendars__a="{name: x}", calendars__b="{name: x}")
    assert found(load_project(tmp_path)) == [("b.yaml", "name", "duplicate")]


def test_the_names_of_countries_are_not_for_calendar_files(tmp_path: Path) -> None:
    write(tmp_path, calendars__a="{name: 'holidays:US'}")
    assert found(load_project(tmp_path)) == [("a.yaml", "name", "bad_value")]


def test_a_pipeline_can_only_wait_for_one_that_exists(tmp_path: Path) -> None:
    write(tmp_path, pipelines__a=named("a"), pipelines__b=named("b", upstream="a"))
    assert found(load_project(tmp_path)) == []
    write(tmp_path, pipelines__c=named("c", upstream="nope"))
    project = load_project(tmp_path)
    assert found(project) == [("c.yaml", "schedule.trigger.pipeline", "bad_value")]
    assert set(project.pipelines) == {"a", "b"}


def test_checking_a_single_file_reports_nothing_as_missing(tmp_path: Path) -> None:
    write(tmp_path, pipelines__c=named("c", upstream="nope"))
    assert found(load_project(tmp_path / "pipelines/c.yaml")) == []


def test_a_file_that_cannot_be_read_may_be_the_one_waited_for(tmp_path: Path) -> None:
    write(tmp_path, pipelines__a="[", pipelines__b=named("b", upstream="a"))
    assert found(load_project(tmp_path)) == [("a.yaml", "", "bad_value")]


def test_a_file_with_errors_still_has_its_id(tmp_path: Path) -> None:
    broken = named("a").replace("cron: 0 8", "cron: 0 99")
    write(tmp_path, pipelines__a=broken, pipelines__b=named("b", upstream="a"))
    assert found(load_project(tmp_path)) == [("a.yaml", "schedule.cron", "bad_value")]


def test_no_pipeline_waits_for_itself_through_others(tmp_path: Path) -> None:
    write(
        tmp_path,
        pipelines__a=named("a", upstream="c"),
        pipelines__b=named("b", upstream="a"),
        pipelines__c=named("c", upstream="b"),
        pipelines__d=named("d", upstream="c"),  # waits for a circle, and is not in it
        pipelines__e=named("e"),
    )
    project = load_project(tmp_path)
    assert found(project) == [
        (f"{name}.yaml", "schedule.trigger.pipeline", "conflict") for name in "abc"
    ]
    assert set(project.pipelines) == {"d", "e"}


def test_one_unreadable_file_never_stops_the_others(tmp_path: Path) -> None:
    write(
        tmp_path,
        pipelines__a=b"\xff\xfe\x00",
        pipelines__b=b"\x00\x01\x02",
        pipelines__c="a: &a [*a]",
        pipelines__d=named("d"),
        calendars__e="[",
    )
    (tmp_path / "pipelines/dangling.yaml").symlink_to("nowhere")
    (tmp_path / "pipelines/folder.yaml").mkdir()
    os.mkfifo(tmp_path / "pipelines/pipe.yaml")
    project = load_project(tmp_path)
    assert set(project.pipelines) == {"d"}
    assert {name for name, _, _ in found(project)} == {
        "a.yaml",
        "b.yaml",
        "c.yaml",
        "dangling.yaml",
        "pipe.yaml",
        "e.yaml",
    }
    assert {(path, kind) for _, path, kind in found(project)} == {("", "bad_value")}


def test_a_huge_file_is_refused_by_its_size(tmp_path: Path) -> None:
    write(tmp_path, pipelines__good=named("good"))
    with (tmp_path / "pipelines/huge.yaml").open("wb") as file:
        file.truncate(2**30)
    project = load_project(tmp_path)
    assert found(project) == [("huge.yaml", "", "bad_value")]
    assert "larger than 1024 KiB" in project.errors[0].message
    assert "pipelines/huge.yaml" not in project.sources


def test_what_is_not_there_is_a_problem_not_a_traceback(tmp_path: Path) -> None:
    assert found(load_project(tmp_path / "nope.yaml")) == [("nope.yaml", "", "bad_value")]
    assert found(load_project("\0")) == [("\\x00", "", "bad_value")]


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    root = write(tmp_path, pipelines__a=named("a"))
    assert found(load_project([root, root / "pipelines", root / "pipelines/a.yaml"])) == []


def test_a_name_that_is_no_text_can_still_be_shown(tmp_path: Path) -> None:
    folder = tmp_path / "pipelines"
    folder.mkdir()
    (folder / os.fsdecode(b"\xff.yaml")).write_text("[")
    (problem,) = load_project(tmp_path).errors
    assert str(problem).encode()
