"""The loader: a compiled file is planned only while it is of the files that it was made from."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deploy.planned import Plan, resources
from deploy.terraform import EXAMPLE, compile_project, needed_plugins, package, plan_all
from interlock.domain import canonical
from interlock.files import load_project

_STALE = "was not compiled from these pipeline files: run interlock compile"
_FORMAT = "has another format than the package"
_MISPLACED = "has a pipeline under another id than its own"
_NONE = "has no pipelines: it would remove all that are loaded"

_PIPELINE = """
pipeline: {id: orders, owner: data}
schedule: {trigger: {key: landed, check: exists}, calendar: holidays}
validation: {rules: [{key: landed, check: exists}]}
job: {type: http, config: {url: "https://etl.example.com/orders"}}
"""
_CALENDAR = "{name: holidays, dates: [2026-12-24]}\n"
_ALERTS = "{mutes: [{match: {owner: data}, until: 2026-12-24T12:00:00Z}]}\n"


def _nothing(project: Path) -> None:
    (project / "pipelines" / ".orders.yaml.swp.yaml").write_text("an editor's own")


def _edited(project: Path) -> None:
    file = project / "pipelines" / "orders.yaml"
    file.write_text(file.read_text().replace("owner: data", "owner: sales"))


def _added(project: Path) -> None:
    folder = project / "pipelines" / "more"
    folder.mkdir()
    (folder / "refunds.yml").write_text(_PIPELINE.replace("orders", "refunds"))


def _removed(project: Path) -> None:
    (project / "pipelines" / "orders.yaml").unlink()


def _other_calendar(project: Path) -> None:
    (project / "calendars" / "holidays.yaml").write_text(_CALENDAR.replace("24", "25"))


def _other_alerts(project: Path) -> None:
    (project / "alerts.yaml").write_text(_ALERTS.replace("data", "sales"))


def _no_alerts(project: Path) -> None:
    (project / "alerts.yaml").unlink()


def _other_format(project: Path) -> None:
    _rewrite(project, lambda compiled: compiled | {"format": 2})


def _misplaced(project: Path) -> None:
    def move(compiled: dict[str, Any]) -> dict[str, Any]:
        return compiled | {"pipelines": {"refunds": compiled["pipelines"]["orders"]}}

    _rewrite(project, move)


def _without_pipelines(project: Path) -> None:
    _rewrite(project, lambda compiled: compiled | {"pipelines": {}})


def _rewrite(project: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    file = project / "compiled.json"
    file.write_text(json.dumps(change(json.loads(file.read_text()))))


#: What was done after the compilation, and what a plan then says.
CASES: dict[str, tuple[Callable[[Path], None], str | None]] = {
    "nothing": (_nothing, None),
    "edited": (_edited, _STALE),
    "added": (_added, _STALE),
    "removed": (_removed, _STALE),
    "calendar": (_other_calendar, _STALE),
    "alerts": (_other_alerts, _STALE),
    "no_alerts": (_no_alerts, _STALE),
    "format": (_other_format, _FORMAT),
    "misplaced": (_misplaced, _MISPLACED),
    "none": (_without_pipelines, _NONE),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """What one plan of all cases says of each: what is wrong in one stops none of the others."""
    needed_plugins()
    base = tmp_path_factory.mktemp("loader")
    given = {name: _given(base, name, change) for name, (change, _) in CASES.items()}
    ran = plan_all(base / "root", given, only="terraform_data.compiled")
    assert ran.code != 0
    problems = ran.text.split("Error: ")[1:]
    return {
        name: [each for each in problems if str(base / name / "compiled.json") in each]
        for name in CASES
    }


def _given(base: Path, name: str, change: Callable[[Path], None]) -> dict[str, str]:
    project = base / name
    for file, text in {
        "pipelines/orders.yaml": _PIPELINE,
        "calendars/holidays.yaml": _CALENDAR,
        "alerts.yaml": _ALERTS,
    }.items():
        place = project / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    compile_project(project, project / "compiled.json")
    change(project)
    return {
        "dist_path": str(package(project / "dist")),
        "pipelines_path": str(project / "pipelines"),
        "calendars_path": str(project / "calendars"),
        "compiled_config_path": str(project / "compiled.json"),
    }


@pytest.mark.parametrize("case", CASES)
def test_a_plan_says_when_the_compiled_file_is_of_other_files(
    case: str, said: dict[str, list[str]]
) -> None:
    expected = CASES[case][1]
    if expected is None:
        assert said[case] == []
    else:
        (problem,) = said[case]
        assert f"compiled.json {expected}" in problem


def test_every_pipeline_of_a_project_becomes_a_row_of_terraform(whole_plan: Plan) -> None:
    project = load_project(EXAMPLE)
    rows = {
        name: json.loads(made["item"])
        for name, made in resources(whole_plan, "aws_dynamodb_table_item").items()
        if name.startswith("pipeline[")
    }
    assert rows.keys() == {f'pipeline["{each}"]' for each in project.pipelines}
    for each, pipeline in project.pipelines.items():
        row = rows[f'pipeline["{each}"]']
        assert (row["PK"]["S"], row["SK"]["S"]) == (f"PIPELINE#{each}", "CONFIG")
        assert canonical.decode(row["config"]["S"]) == canonical.as_json(pipeline)
        assert row["configHash"]["S"] == canonical.content_hash(pipeline)
        assert (row["watchShard"]["S"], row["watchAt"]["S"]) == ("CONFIG", each)
