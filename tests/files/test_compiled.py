"""Compiling gives one JSON text that a store can hold, the same for the same files."""

import json
from pathlib import Path

from file_samples import pipeline_text

from interlock import __version__
from interlock.files import load_project, read_config
from interlock.files.compiled import LARGEST_CONFIG, compiled, obstacles


def project_at(root: Path, text: str) -> Path:
    (root / "pipelines").mkdir(parents=True, exist_ok=True)
    (root / "pipelines/any-name.yaml").write_text(text)
    return root


def test_each_pipeline_stands_under_its_id_with_the_hash_of_its_config(tmp_path: Path) -> None:
    project = load_project(project_at(tmp_path, pipeline_text()), year=2026)
    document = json.loads(compiled(project))
    assert document["format"] == 1 and document["interlock"] == __version__
    assert list(document["sources"]) == ["pipelines/any-name.yaml"]
    entry = document["pipelines"]["orders"]
    assert len(entry["hash"]) == 64
    assert entry["config"]["pipeline"]["id"] == "orders"


def test_a_compiled_config_reads_back_as_the_same_pipeline(tmp_path: Path) -> None:
    text = pipeline_text(schedule="{cron: 0 8 * * *, exclude: {holidays: US}}")
    project = load_project(project_at(tmp_path, text), year=2026)
    config = json.loads(compiled(project))["pipelines"]["orders"]["config"]
    assert config["holidaysUntil"] == "2036-12-31"
    assert read_config(config).pipeline == project.pipelines["orders"]


def test_the_same_files_give_the_same_bytes_wherever_they_lie(tmp_path: Path) -> None:
    one = load_project(project_at(tmp_path / "one", pipeline_text()), year=2026)
    two = load_project(project_at(tmp_path / "two", pipeline_text()), year=2026)
    assert compiled(one) == compiled(two)
    assert compiled(one).endswith("\n") and "\n" not in compiled(one)[:-1]


def test_a_config_that_a_row_cannot_hold_is_an_obstacle(tmp_path: Path) -> None:
    text = pipeline_text(pipeline=f"{{id: orders, description: {'x' * LARGEST_CONFIG}}}")
    (problem,) = obstacles(load_project(project_at(tmp_path, text)))
    assert "the limit is 65536" in problem.message


def test_too_many_evaluations_are_an_obstacle(tmp_path: Path) -> None:
    text = pipeline_text(
        schedule="{cron: 0 8 * * *, evaluation: {window: 30m, interval: 1s}}",
    )
    (problem,) = obstacles(load_project(project_at(tmp_path, text)))
    assert "1500" in problem.message


def test_too_many_polls_are_an_obstacle(tmp_path: Path) -> None:
    job = "{type: command, config: {command: [a]}, pollInterval: 10s, jobPollWindowSeconds: 86400}"
    (problem,) = obstacles(load_project(project_at(tmp_path, pipeline_text(job=job))))
    assert problem.path == "job.pollInterval" and "1500" in problem.message
