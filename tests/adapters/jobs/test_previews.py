"""What a launch would send: exact, masked, and without contacting anybody."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.jobs.job_samples import CANARY, a_context, a_job, surroundings
from adapters.jobs.kinds import Kind
from adapters.jobs.stand_in import StandIn
from adapters.jobs.worlds import World
from interlock.adapters.jobs.by_type import JobsByType
from interlock.errors import LaunchError

TOKEN = a_context().token


def test_a_preview_starts_nothing_and_names_the_token(world: World) -> None:
    shown = world.jobs().preview(world.pipeline("succeed"), a_context())
    assert TOKEN in json.dumps(shown)
    assert world.starts(TOKEN) == 0


def test_a_preview_of_a_remote_platform_sends_no_request(world: World, kind: Kind) -> None:
    world.jobs().preview(world.pipeline("succeed"), a_context())
    for seen in (getattr(world, "stand_in", None), getattr(world, "aws", None)):
        asked: Any = getattr(seen, "seen", None) or getattr(seen, "calls", None)
        assert not asked


def test_a_preview_shows_no_secret(world: World) -> None:
    shown = json.dumps(world.jobs().preview(world.pipeline("succeed"), a_context()))
    assert CANARY not in shown and json.dumps(CANARY)[1:-1] not in shown


def test_a_preview_is_what_is_sent(tmp_path: Path, stand_in: StandIn) -> None:
    jobs = JobsByType(surroundings(tmp_path))
    headers = {"Authorization": "Bearer secret://env/INTERLOCK_CANARY"}
    body = {"day": "${DATE}"}
    pipeline = a_job("http", url=f"{stand_in.url}/jobs/hang", headers=headers, body=body)
    shown = jobs.preview(pipeline, a_context())
    jobs.launch(pipeline, a_context())
    [seen] = stand_in.seen
    sent = {name.lower(): value for name, value in shown["headers"].items()}
    assert sent.pop("authorization") == "Bearer ***"
    assert sent.items() <= seen.headers.items()
    assert shown["url"] == f"{stand_in.url}{seen.path}" and shown["method"] == seen.method
    assert shown["body"] == json.loads(seen.body)


def test_a_command_is_shown_with_its_environment(tmp_path: Path) -> None:
    env = {"KEY": "secret://env/INTERLOCK_CANARY", "MODE": "full"}
    pipeline = a_job("command", command=["etl", "${DATE}"], env=env, timeout="5m")
    shown = JobsByType(surroundings(tmp_path)).preview(pipeline, a_context())
    assert shown["argv"] == ["etl", "2026-03-03"]
    assert shown["env"]["KEY"] == "***" and shown["env"]["MODE"] == "full"
    assert shown["env"]["INTERLOCK_JOB_TOKEN"] == TOKEN and "PATH" not in shown["env"]
    assert shown["timeoutSeconds"] == 300
    assert not (tmp_path / "jobs").exists()


@pytest.mark.parametrize(
    ("version", "kind", "noted"), [("auto", "Bearer", True), ("v1", "Basic", False)]
)
def test_a_login_is_shown_and_not_made(
    tmp_path: Path, stand_in: StandIn, version: str, kind: str, noted: bool
) -> None:
    auth = {"username": "u", "password": "secret://env/INTERLOCK_CANARY"}
    pipeline = a_job("airflow", url=stand_in.url, dagId="d", auth=auth, apiVersion=version)
    shown = JobsByType(surroundings(tmp_path)).preview(pipeline, a_context())
    assert shown["headers"]["Authorization"] == f"{kind} ***"
    assert ("note" in shown) is noted and not stand_in.seen


def test_what_could_not_be_launched_can_not_be_shown(tmp_path: Path) -> None:
    pipeline = a_job("command", command=["etl", "${HOUR}"])
    with pytest.raises(LaunchError, match="HOUR"):
        JobsByType(surroundings(tmp_path)).preview(pipeline, a_context())
