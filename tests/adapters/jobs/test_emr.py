"""Steps of EMR, beyond the contract."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from adapters.jobs.aws_stand_in import Refused
from adapters.jobs.cloud_worlds import ROLE, EmrWorld
from adapters.jobs.job_samples import a_context, a_job, now, surroundings
from interlock.adapters.jobs.aws.emr import LONGEST_STEP
from interlock.adapters.jobs.classification import EMR_FULL
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, Failed, Launched, Running
from interlock.domain.pipeline import Pipeline
from interlock.errors import LaunchError

TOKEN = a_context().token


@pytest.fixture
def world(tmp_path: Path) -> EmrWorld:
    return EmrWorld(surroundings(tmp_path))


def a_step(**config: Any) -> Pipeline:
    return a_job("emr", **{"clusterId": "j-1", "arguments": ["hang"], **config})


def test_a_step_is_named_by_its_pipeline_and_token(world: EmrWorld) -> None:
    pipeline = a_step(arguments=["hang", "day=${DATE}"], executionRoleArn=ROLE, mainClass="a.B")
    world.jobs().launch(pipeline, a_context())
    step = {"Jar": "command-runner.jar", "Args": ["hang", "day=2026-03-03"], "MainClass": "a.B"}
    assert world.aws.asked("emr:AddJobFlowSteps") == [
        {
            "JobFlowId": "j-1",
            "Steps": [
                {
                    "Name": f"silver-orders [{TOKEN}]",
                    "ActionOnFailure": "CONTINUE",
                    "HadoopJarStep": step,
                }
            ],
            "ExecutionRoleArn": ROLE,
        }
    ]


def test_a_long_name_is_cut_and_keeps_its_token(world: EmrWorld) -> None:
    pipeline = a_step(stepName="n" * 300)
    world.jobs().launch(pipeline, a_context())
    name = world.aws.asked("emr:AddJobFlowSteps")[0]["Steps"][0]["Name"]
    assert len(name) == 256 and name.endswith(f" [{TOKEN}]")
    assert isinstance(world.jobs().find(pipeline, a_context()), Launched)


def test_a_step_that_is_too_long_is_never_sent(world: EmrWorld) -> None:
    with pytest.raises(LaunchError, match=str(LONGEST_STEP)) as raised:
        world.jobs().launch(a_step(arguments=["hang", "x" * LONGEST_STEP]), a_context())
    assert raised.value.category == "PERMANENT" and not world.aws.calls


def test_a_step_is_found_on_a_later_page(world: EmrWorld) -> None:
    world.service.page = 2
    ours = world.jobs().launch(a_step(), a_context())
    for attempt in range(1, 6):
        world.jobs().launch(a_step(), a_context(attempt))
    found = world.jobs().find(a_step(), a_context())
    assert isinstance(found, Launched) and found.run_id == ours.run_id
    assert len(world.aws.asked("emr:ListSteps")) == 3


def test_old_steps_are_not_read_to_the_end(world: EmrWorld) -> None:
    world.service.page = 2
    world.service.began = timedelta(hours=-1)
    for attempt in range(1, 20):
        world.jobs().launch(a_step(), a_context(attempt))
    assert world.jobs().find(a_step(), a_context()) == Absent()
    assert len(world.aws.asked("emr:ListSteps")) == 1


def test_a_step_that_is_older_than_the_run_is_refused(world: EmrWorld) -> None:
    world.jobs().launch(a_step(), a_context())
    later = msgspec.structs.replace(a_context(), opened_at=now() + timedelta(minutes=10))
    with pytest.raises(LaunchError, match="set INTERLOCK_INSTANCE"):
        world.jobs().find(a_step(), later)


def test_a_full_cluster_may_have_room_later(world: EmrWorld) -> None:
    def refuse(operation: str, params: Any) -> None:
        raise Refused("ValidationException", f"{EMR_FULL} exceeded")

    world.aws.fault = refuse
    with pytest.raises(LaunchError) as raised:
        world.jobs().launch(a_step(), a_context())
    assert raised.value.category == "TRANSIENT" and not raised.value.maybe_started


@pytest.mark.parametrize(
    ("state", "category"), [("CANCELLED", None), ("INTERRUPTED", Category.TRANSIENT)]
)
def test_ends_without_a_request(world: EmrWorld, state: str, category: Category | None) -> None:
    launched = world.jobs().launch(a_step(), a_context())
    world.service.jobs[launched.run_id]["state"] = state
    answer = world.jobs().poll(launched.metadata)
    assert isinstance(answer, Failed) and answer.category is category and not answer.stopped


def test_a_failed_step_says_what_emr_says(world: EmrWorld) -> None:
    launched = world.jobs().launch(a_step(arguments=["fail"]), a_context())
    answer = world.jobs().poll(launched.metadata)
    assert isinstance(answer, Failed)
    assert answer.message == "Unknown Error.: ClassNotFoundException: x"


def test_a_step_that_has_ended_is_not_cancelled(world: EmrWorld) -> None:
    launched = world.jobs().launch(a_step(arguments=["succeed"]), a_context())
    assert not world.jobs().cancel(launched.metadata)
    [asked] = world.aws.asked("emr:CancelSteps")
    assert asked["StepCancellationOption"] == "SEND_INTERRUPT"


def test_a_cluster_that_is_gone_is_not_a_failed_step(world: EmrWorld) -> None:
    launched = world.jobs().launch(a_step(), a_context())
    world.service.jobs.clear()
    answer = world.jobs().poll(launched.metadata)
    assert isinstance(answer, Running) and answer.unseen
