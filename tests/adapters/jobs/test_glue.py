"""Jobs of Glue, beyond the contract."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from adapters.jobs.aws_stand_in import Refused
from adapters.jobs.cloud_worlds import GlueWorld
from adapters.jobs.job_samples import a_context, a_job, now, surroundings
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, CannotTell, Failed, Launched
from interlock.domain.pipeline import Pipeline
from interlock.errors import LaunchError, TransientError

TOKEN = a_context().token


@pytest.fixture
def world(tmp_path: Path) -> GlueWorld:
    return GlueWorld(surroundings(tmp_path))


def a_glue(**config: Any) -> Pipeline:
    return a_job("glue", **{"jobName": "hang", **config})


def test_a_start_carries_the_dates_the_token_and_what_the_file_says(world: GlueWorld) -> None:
    pipeline = a_glue(
        arguments={"--day": "${DATE}", "--par_day": "mine"},
        workerType="G.1X",
        numberOfWorkers=4,
        timeoutMinutes=30,
        executionClass="FLEX",
        queuing=True,
    )
    context = a_context(label="2026-03-03T10")
    world.jobs().launch(pipeline, context)
    assert world.aws.asked("glue:StartJobRun") == [
        {
            "JobName": "hang",
            "Arguments": {
                "--day": "2026-03-03",
                "--par_day": "20260303",  # ours wins
                "--par_hour": "10",
                "--interlock_token": context.token,
            },
            "WorkerType": "G.1X",
            "NumberOfWorkers": 4,
            "Timeout": 30,
            "ExecutionClass": "FLEX",
            "JobRunQueuingEnabled": True,
        }
    ]


def test_what_the_file_leaves_out_is_left_to_the_job(world: GlueWorld) -> None:
    world.jobs().launch(a_glue(), a_context())
    [sent] = world.aws.asked("glue:StartJobRun")
    assert set(sent) == {"JobName", "Arguments"}


def test_a_script_that_refuses_unknown_arguments_gets_no_token(world: GlueWorld) -> None:
    pipeline = a_glue(passToken=False)
    world.jobs().launch(pipeline, a_context())
    assert "--interlock_token" not in world.aws.asked("glue:StartJobRun")[0]["Arguments"]
    assert world.jobs().find(pipeline, a_context()) == CannotTell()


def test_a_run_is_found_on_a_later_page(world: GlueWorld) -> None:
    world.service.page = 2
    ours = world.jobs().launch(a_glue(), a_context())
    for attempt in range(1, 6):
        world.jobs().launch(a_glue(), a_context(attempt))
    found = world.jobs().find(a_glue(), a_context())
    assert isinstance(found, Launched) and found.run_id == ours.run_id
    assert len(world.aws.asked("glue:GetJobRuns")) == 3


def test_runs_from_before_ours_are_not_read_to_the_end(world: GlueWorld) -> None:
    world.service.page = 2
    world.service.began = timedelta(hours=-1)
    for attempt in range(1, 20):
        world.jobs().launch(a_glue(), a_context(attempt))
    assert world.jobs().find(a_glue(), a_context()) == Absent()
    assert len(world.aws.asked("glue:GetJobRuns")) == 1


def test_of_glues_own_retries_the_first_is_ours(world: GlueWorld) -> None:
    ours = world.jobs().launch(a_glue(), a_context())
    first = world.service.jobs[ours.run_id]
    world.service.jobs["9"] = {**first, "id": "9", "attempt": 1}
    found = world.jobs().find(a_glue(), a_context())
    assert isinstance(found, Launched) and found.run_id == ours.run_id


def test_a_run_that_is_older_than_ours_is_refused(world: GlueWorld) -> None:
    world.jobs().launch(a_glue(), a_context())
    later = msgspec.structs.replace(a_context(), opened_at=now() + timedelta(minutes=10))
    with pytest.raises(LaunchError, match="set INTERLOCK_INSTANCE") as raised:
        world.jobs().find(a_glue(), later)
    assert raised.value.category == Category.PERMANENT


@pytest.mark.parametrize(
    ("code", "category"),
    [
        ("EntityNotFoundException", "PERMANENT"),
        ("ConcurrentRunsExceededException", "TRANSIENT"),
    ],
)
def test_a_refused_start(world: GlueWorld, code: str, category: str) -> None:
    def refuse(operation: str, params: Any) -> None:
        raise Refused(code)

    world.aws.fault = refuse
    with pytest.raises(LaunchError, match=code) as raised:
        world.jobs().launch(a_glue(), a_context())
    assert (raised.value.category, raised.value.maybe_started) == (category, False)


def test_a_poll_that_is_throttled_is_repeated(world: GlueWorld) -> None:
    launched = world.jobs().launch(a_glue(), a_context())

    def refuse(operation: str, params: Any) -> None:
        raise Refused("ThrottlingException")

    world.aws.fault = refuse
    with pytest.raises(TransientError):
        world.jobs().poll(launched.metadata)


@pytest.mark.parametrize(
    ("state", "category"), [("ERROR", Category.PERMANENT), ("EXPIRED", Category.TRANSIENT)]
)
def test_ends_that_are_glues_own(world: GlueWorld, state: str, category: Category) -> None:
    launched = world.jobs().launch(a_glue(), a_context())
    world.service.jobs[launched.run_id]["state"] = state
    answer = world.jobs().poll(launched.metadata)
    assert isinstance(answer, Failed) and answer.category is category
    assert answer.ended_at == world.service.jobs[launched.run_id]["ended"]
    assert answer.detail["state"] == state


def test_a_start_without_a_run_id_may_have_started(world: GlueWorld) -> None:
    world.service.StartJobRun = lambda params: {}
    with pytest.raises(LaunchError) as raised:
        world.jobs().launch(a_glue(), a_context())
    assert raised.value.category == "TRANSIENT" and raised.value.maybe_started


def test_an_hour_in_a_daily_run_is_never_started(world: GlueWorld) -> None:
    with pytest.raises(LaunchError, match="HOUR") as raised:
        world.jobs().launch(a_glue(jobName="x-${HOUR}"), a_context())
    assert raised.value.category == "PERMANENT" and not world.aws.calls
