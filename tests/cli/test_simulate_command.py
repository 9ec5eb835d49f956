"""`interlock simulate`: with and without faults, one or two deep."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from interlock.cli import app

STORY = """
name: a reading runs a job
start: 2026-03-03T08:00:00Z
until: 2026-03-03T08:30:00Z
pipelines:
  - pipeline: {id: silver-orders}
    schedule: {trigger: {key: orders, check: exists}}
    validation: {rules: [{key: orders, check: exists}]}
    job: {type: command, config: {command: [etl]}}
timeline:
  - {at: +1m, sensor: {pipeline: silver-orders, key: orders, data: {date: "2026-03-03"}}}
expect: [{event: JOB_COMPLETED, count: 1}]
"""


@pytest.fixture
def story(tmp_path: Path) -> str:
    path = tmp_path / "story.yaml"
    path.write_text(STORY)
    return str(path)


def simulate(*args: str) -> Result:
    return CliRunner().invoke(app, ["simulate", "--quiet", *args])


def test_a_story_is_played_once_as_it_is_written(story: str) -> None:
    result = simulate(story)
    assert (result.exit_code, result.output) == (0, f"ok  {story}\n1 passed, 0 failed\n")


@pytest.mark.parametrize("place", ["before", "after", "equals"])
def test_faults_stands_by_itself_wherever_it_stands(story: str, place: str) -> None:
    args = {
        "before": ["--faults", story],
        "after": [story, "--faults"],
        "equals": ["--faults=1", story],
    }[place]
    result = simulate(*args)
    assert result.exit_code == 0, result.output
    assert " faults\n" in result.output
    assert "pairs" not in result.output


@pytest.mark.parametrize("depth", [["--faults", "2"], ["--faults=2"]])
def test_two_deep_it_plays_pairs_of_faults_too(story: str, depth: list[str]) -> None:
    result = simulate(*depth, "--pairs", "3", "--seed", "7", story)
    assert result.exit_code == 0, result.output
    assert " faults, " in result.output and " pairs\n" in result.output


@pytest.mark.parametrize("depth", ["0", "3"])
def test_another_depth_is_wrong_use(story: str, depth: str) -> None:
    result = simulate("--faults", depth, story)
    assert result.exit_code == 2
    assert "1<=x<=2" in result.output


def test_a_story_that_fails_by_itself_says_so_once_and_meets_no_faults(tmp_path: Path) -> None:
    path = tmp_path / "story.yaml"
    path.write_text(STORY.replace("count: 1", "count: 2"))
    result = simulate("--faults", "2", str(path))
    assert result.exit_code == 1
    first, problem, summary = result.output.splitlines()
    assert first == f"FAILED  {path}, faults skipped: it fails without them"
    assert "JOB_COMPLETED" in problem
    assert summary == "0 passed, 1 failed"


@pytest.mark.parametrize("depth", [[], ["--faults"], ["--faults", "1"]])
def test_pairs_without_faults_two_deep_is_wrong_use(story: str, depth: list[str]) -> None:
    result = simulate(*depth, "--pairs", "3", story)
    assert result.exit_code == 2
    assert "--pairs needs --faults 2" in result.output


def test_pairs_of_random_worlds_is_wrong_use() -> None:
    result = simulate("--random", "1", "--faults", "2", "--pairs", "3")
    assert result.exit_code == 2
    assert "--random can't be combined with files or --faults" in result.output


def test_without_a_file_it_says_what_it_needs() -> None:
    result = simulate("--faults")
    assert result.exit_code == 2
    assert "name at least one scenario file, or use --random N" in result.output


def test_random_worlds_say_how_many_held() -> None:
    result = simulate("--random", "1", "--seed", "11")
    assert (result.exit_code, result.output) == (0, "1 random worlds from seed 11: nothing broke\n")
