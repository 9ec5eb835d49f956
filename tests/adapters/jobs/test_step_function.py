"""Executions of Step Functions, beyond the contract."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from adapters.jobs.aws_stand_in import Params, Refused
from adapters.jobs.cloud_worlds import StepFunctionWorld
from adapters.jobs.job_samples import a_context, a_job, now, surroundings
from interlock.domain.budgets import Category
from interlock.domain.job import Failed, Launched
from interlock.domain.pipeline import Pipeline
from interlock.errors import LaunchError

ARN = "arn:aws:states:eu-west-1:123456789012:stateMachine"
TOKEN = a_context().token


@pytest.fixture
def world(tmp_path: Path) -> StepFunctionWorld:
    return StepFunctionWorld(surroundings(tmp_path))


def an_execution(machine: str = "hang", **config: Any) -> Pipeline:
    return a_job("step-function", stateMachineArn=f"{ARN}:{machine}", **config)


def test_a_start_is_named_by_its_token_and_gets_the_dates(world: StepFunctionWorld) -> None:
    launched = world.jobs().launch(an_execution(), a_context())
    [sent] = world.aws.asked("stepfunctions:StartExecution")
    assert sent["name"] == f"silver-orders-2026-03-03-0-{TOKEN}"
    assert json.loads(sent["input"]) == {"par_day": "20260303"}
    assert launched.run_id.endswith(sent["name"])


def test_a_name_has_only_what_names_may_have(world: StepFunctionWorld) -> None:
    context = msgspec.structs.replace(a_context(), pipeline="p" * 60, label="2026-03-03T10:30")
    world.jobs().launch(an_execution(), context)
    [sent] = world.aws.asked("stepfunctions:StartExecution")
    assert sent["name"] == f"{'p' * 44}-{TOKEN}" and len(sent["name"]) == 80


def test_a_given_input_is_left_alone(world: StepFunctionWorld) -> None:
    pipeline = an_execution(arguments={"z": 1, "day": "${DATE}"})
    world.jobs().launch(pipeline, a_context())
    [sent] = world.aws.asked("stepfunctions:StartExecution")
    assert sent["input"] == '{"day":"2026-03-03","z":1}'


def test_an_input_that_is_too_large_is_never_sent(world: StepFunctionWorld) -> None:
    with pytest.raises(LaunchError, match="262144") as raised:
        world.jobs().launch(an_execution(arguments={"x": "x" * 262_144}), a_context())
    assert raised.value.category == "PERMANENT" and not world.aws.calls


@pytest.mark.parametrize("qualifier", ["", ":7", ":live"])
def test_an_execution_that_has_ended_is_found_by_its_name(
    world: StepFunctionWorld, qualifier: str
) -> None:
    pipeline = an_execution(f"succeed{qualifier}")
    first = world.jobs().launch(pipeline, a_context())
    again = world.jobs().launch(pipeline, a_context())
    assert again == first
    assert world.aws.asked("stepfunctions:DescribeExecution")[-1] == {"executionArn": first.run_id}
    assert isinstance(world.jobs().find(pipeline, a_context()), Launched)


def test_the_same_name_with_another_input_is_still_ours(world: StepFunctionWorld) -> None:
    first = world.jobs().launch(an_execution(), a_context())
    again = world.jobs().launch(an_execution(arguments={"other": 1}), a_context())
    assert again.run_id == first.run_id and world.starts(TOKEN) == 1


@pytest.mark.parametrize("fate", ["hang", "succeed"])
def test_an_execution_that_is_older_than_the_run_is_refused(
    world: StepFunctionWorld, fate: str
) -> None:
    world.jobs().launch(an_execution(fate), a_context())
    later = msgspec.structs.replace(a_context(), opened_at=now() + timedelta(minutes=10))
    for ask in (world.jobs().launch, world.jobs().find):
        with pytest.raises(LaunchError, match="set INTERLOCK_INSTANCE"):
            ask(an_execution(fate), later)


def test_an_express_machine_is_refused_before_anything_starts(world: StepFunctionWorld) -> None:
    world.service.kind = "EXPRESS"
    with pytest.raises(LaunchError, match="EXPRESS") as raised:
        world.jobs().launch(an_execution("hang:live"), a_context())
    assert raised.value.category == "PERMANENT"
    assert not world.aws.asked("stepfunctions:StartExecution")


def test_a_machine_is_asked_for_its_kind_once(world: StepFunctionWorld) -> None:
    jobs = world.jobs()
    for attempt in range(3):
        jobs.launch(an_execution("hang:live"), a_context(attempt))
    assert world.aws.asked("stepfunctions:DescribeStateMachine") == [
        {"stateMachineArn": f"{ARN}:hang"}
    ]


def test_without_a_region_that_of_the_arn_is_used(world: StepFunctionWorld) -> None:
    launched = world.jobs().launch(an_execution(), a_context())
    assert {region for _, region, _ in world.aws.configs} == {"eu-west-1"}
    assert launched.metadata["region"] == "eu-west-1"


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("States.Timeout", Category.TIMEOUT),
        ("States.HeartbeatTimeout: no", Category.TIMEOUT),
        ("States.Runtime: no", Category.PERMANENT),
        ("States.NoChoiceMatched: no", Category.PERMANENT),
        ("States.TaskFailed: java.lang.OutOfMemoryError", Category.TRANSIENT),
        ("MyError: it broke", None),
    ],
)
def test_an_error_of_the_machine_is_of_a_kind(
    world: StepFunctionWorld, said: str, category: Category | None
) -> None:
    launched = world.jobs().launch(an_execution("fail"), a_context())
    [job] = world.service.jobs.values()
    job["said"] = said
    answer = world.jobs().poll(launched.metadata)
    assert isinstance(answer, Failed) and answer.category is category
    assert answer.message == said


def test_an_answer_that_is_lost_starts_nothing_twice(world: StepFunctionWorld) -> None:
    def lose(operation: str, params: Params) -> None:
        if operation.endswith("StartExecution"):
            raise Refused("ServiceUnavailable", status=503)

    world.aws.lost = lose
    with pytest.raises(LaunchError) as raised:
        world.jobs().launch(an_execution(), a_context())
    assert raised.value.category == "TRANSIENT"
    world.aws.lost = lambda operation, params: None
    assert isinstance(world.jobs().find(an_execution(), a_context()), Launched)
    world.jobs().launch(an_execution(), a_context())
    assert world.starts(TOKEN) == 1
