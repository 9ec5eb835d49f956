"""Runs of EMR Serverless, beyond the contract."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.jobs.aws_stand_in import Params, Refused
from adapters.jobs.cloud_worlds import ROLE, EmrServerlessWorld
from adapters.jobs.job_samples import a_context, a_job, surroundings
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, Failed, Launched
from interlock.domain.pipeline import Pipeline
from interlock.errors import LaunchError

TOKEN = a_context().token


@pytest.fixture
def world(tmp_path: Path) -> EmrServerlessWorld:
    return EmrServerlessWorld(surroundings(tmp_path))


def a_run(driver: Any = None, **config: Any) -> Pipeline:
    given = {
        "applicationId": "app",
        "executionRoleArn": ROLE,
        "jobDriver": driver or {"sparkSubmit": {"entryPoint": "hang"}},
    }
    return a_job("emr-serverless", **given, **config)


def test_a_start_carries_our_token_and_what_the_file_says(world: EmrServerlessWorld) -> None:
    spark = {
        "entryPoint": "hang",
        "entryPointArguments": ["--day", "${DATE}"],
        "sparkSubmitParameters": "--conf a=b",
    }
    more = {
        "tags": {"team": "data"},
        "executionTimeoutMinutes": 0,
        "configurationOverrides": {"applicationConfiguration": [{"classification": "spark"}]},
    }
    world.jobs().launch(a_run({"sparkSubmit": spark}, **more), a_context())
    assert world.aws.asked("emr-serverless:StartJobRun") == [
        {
            "applicationId": "app",
            "clientToken": TOKEN,
            "executionRoleArn": ROLE,
            "jobDriver": {"sparkSubmit": {**spark, "entryPointArguments": ["--day", "2026-03-03"]}},
            "name": f"silver-orders [{TOKEN}]",
            **more,
        }
    ]


def test_a_hive_query_is_a_driver_too(world: EmrServerlessWorld) -> None:
    hive = {"query": "s3://x/q.sql", "parameters": "--hiveconf a=b"}

    def look(operation: str, params: Params) -> None:
        raise Refused("ValidationException")

    world.aws.fault = look
    with pytest.raises(LaunchError):
        world.jobs().launch(a_run({"hive": hive}), a_context())
    assert world.aws.asked("emr-serverless:StartJobRun")[0]["jobDriver"] == {"hive": hive}


def conflicting(operation: str, params: Params) -> None:
    if operation.endswith("StartJobRun"):
        raise Refused("ConflictException")


def test_a_conflict_is_with_ourselves_when_the_run_is_there(world: EmrServerlessWorld) -> None:
    first = world.jobs().launch(a_run(), a_context())
    world.aws.fault = conflicting
    assert world.jobs().launch(a_run(), a_context()).run_id == first.run_id


def test_a_conflict_without_a_rival_is_retried(world: EmrServerlessWorld) -> None:
    world.aws.fault = conflicting
    with pytest.raises(LaunchError) as raised:
        world.jobs().launch(a_run(), a_context())
    assert raised.value.category == "TRANSIENT"


def test_a_run_is_found_among_many(world: EmrServerlessWorld) -> None:
    ours = world.jobs().launch(a_run(), a_context())
    for attempt in range(1, 60):
        world.jobs().launch(a_run(), a_context(attempt))
    found = world.jobs().find(a_run(), a_context())
    assert isinstance(found, Launched) and found.run_id == ours.run_id
    assert len(world.aws.asked("emr-serverless:ListJobRuns")) == 2


def test_a_run_under_a_token_that_was_used_long_ago_is_refused(world: EmrServerlessWorld) -> None:
    """The platform remembers the token of a state that was wiped, and gives us the old run."""
    world.service.began = timedelta(hours=-1)
    launched = world.jobs().launch(a_run(), a_context())
    assert world.jobs().find(a_run(), a_context()) == Absent()
    answer = world.jobs().poll(launched.metadata)
    assert isinstance(answer, Failed) and answer.category is Category.PERMANENT
    assert "set INTERLOCK_INSTANCE" in answer.message


@pytest.mark.parametrize(
    ("said", "category", "stopped"),
    [
        ("Job run timed out after 60 minutes", Category.TIMEOUT, False),
        ("Cancelled by user", None, True),
    ],
)
def test_a_cancelled_run_was_too_long_or_stopped(
    world: EmrServerlessWorld, said: str, category: Category | None, stopped: bool
) -> None:
    launched = world.jobs().launch(a_run(), a_context())
    world.service.jobs[launched.run_id] |= {"state": "CANCELLED", "said": said}
    answer = world.jobs().poll(launched.metadata)
    assert isinstance(answer, Failed)
    assert (answer.category, answer.stopped) == (category, stopped)
