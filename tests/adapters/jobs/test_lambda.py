"""Calls of Lambda functions, beyond the contract."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError  # type: ignore[import-untyped]

from adapters.jobs.aws_stand_in import LambdaService, Params, Refused
from adapters.jobs.cloud_worlds import LambdaWorld
from adapters.jobs.job_samples import a_context, a_job, surroundings
from interlock.domain.budgets import Category
from interlock.domain.job import Failed, Running, Succeeded
from interlock.domain.pipeline import Pipeline
from interlock.errors import LaunchError


@pytest.fixture
def world(tmp_path: Path) -> LambdaWorld:
    return LambdaWorld(surroundings(tmp_path))


def a_call(name: str = "succeed", **config: Any) -> Pipeline:
    return a_job("lambda", functionName=name, **config)


def payload(world: LambdaWorld) -> Any:
    return json.loads(world.aws.asked("lambda:Invoke")[-1]["Payload"])


def test_a_function_gets_the_facts_of_its_run(world: LambdaWorld) -> None:
    context = a_context(2, "2026-03-03T10")
    launched = world.jobs().launch(a_call(qualifier="live"), context)
    [sent] = world.aws.asked("lambda:Invoke")
    assert (sent["FunctionName"], sent["Qualifier"]) == ("succeed", "live")
    assert sent["InvocationType"] == "RequestResponse"
    assert payload(world) == {
        "par_day": "20260303",
        "par_hour": "10",
        "interlock": {
            "pipeline": "silver-orders",
            "schedule": "stream",
            "date": "2026-03-03",
            "hour": "10",
            "label": "2026-03-03T10",
            "attempt": 2,
            "token": context.token,
        },
    }
    assert launched.finished and launched.run_id.startswith("request-")


def test_a_given_payload_is_left_alone_but_for_ours(world: LambdaWorld) -> None:
    world.jobs().launch(a_call(payload={"day": "${DATE}", "interlock": "mine"}), a_context())
    assert set(payload(world)) == {"day", "interlock"}
    assert payload(world)["day"] == "2026-03-03"
    assert payload(world)["interlock"]["token"] == a_context().token


@pytest.mark.parametrize(
    ("kind", "text", "category"),
    [
        ("Sandbox.Timedout", "RequestId: x", Category.TIMEOUT),
        ("", "2026-03-03 x Task timed out after 3.00 seconds", Category.TIMEOUT),
        ("Runtime.OutOfMemory", "no", Category.TRANSIENT),
        ("Runtime.ExitError", "RequestId: x Error: Runtime exited: signal: killed", "TRANSIENT"),
        ("Runtime.HandlerNotFound", "no", Category.PERMANENT),
        ("Runtime.UserCodeSyntaxError", "no", Category.PERMANENT),
        ("ModuleNotFoundError", "No module named 'x'", Category.PERMANENT),  # a hint
        ("ValueError", "it broke", None),
    ],
)
def test_a_function_that_failed_is_of_a_kind(
    world: LambdaWorld, kind: str, text: str, category: Category | None
) -> None:
    world.service.errors["broken"] = (kind or "Unknown", text)
    launched = world.jobs().launch(a_call("broken"), a_context())
    assert launched.finished
    answer = world.jobs().poll(launched.metadata)
    assert isinstance(answer, Failed) and answer.category == category
    assert text in answer.message and answer.ended_at is not None


def test_what_a_function_says_is_kept_short(world: LambdaWorld) -> None:
    world.service.errors["broken"] = ("ValueError", "y" * 50_000)
    launched = world.jobs().launch(a_call("broken"), a_context())
    assert len(json.dumps(launched.metadata)) < 16 * 1024


@pytest.mark.parametrize(
    ("invocation", "completion", "finished"),
    [
        ("Event", "event", False),
        ("Event", "response", True),  # it was accepted, and that is all
        ("RequestResponse", "event", False),
    ],
)
def test_how_the_end_is_known(
    world: LambdaWorld, invocation: str, completion: str, finished: bool
) -> None:
    pipeline = a_call(invocationType=invocation, completion=completion)
    launched = world.jobs().launch(pipeline, a_context())
    assert launched.finished is finished
    assert isinstance(world.jobs().poll(launched.metadata), Succeeded if finished else Running)


def test_a_function_that_broke_writes_no_record(world: LambdaWorld) -> None:
    launched = world.jobs().launch(a_call("fail", completion="event"), a_context())
    assert launched.finished and isinstance(world.jobs().poll(launched.metadata), Failed)


def test_an_answer_that_does_not_come_in_time_may_come_from_a_started_function(
    world: LambdaWorld,
) -> None:
    def lose(operation: str, params: Params) -> None:
        raise ReadTimeoutError(endpoint_url="https://x", error="late")

    world.aws.lost = lose
    with pytest.raises(LaunchError) as raised:
        world.jobs().launch(a_call(), a_context())
    assert raised.value.category == "TRANSIENT" and raised.value.maybe_started


def test_a_broken_set_up_is_permanent_though_it_answers_502(world: LambdaWorld) -> None:
    def refuse(operation: str, params: Params) -> None:
        raise Refused("InvalidZipFileException", status=502)

    world.aws.fault = refuse
    with pytest.raises(LaunchError) as raised:
        world.jobs().launch(a_call(), a_context())
    assert (raised.value.category, raised.value.maybe_started) == ("PERMANENT", False)


@pytest.mark.parametrize(
    ("timeout", "left", "seconds"),
    [
        ("5m", None, 300),
        ("5m", 600, 300),
        ("5m", 127, 110),  # less what the call keeps for itself, in whole tens
        ("5m", 3, 1),
    ],
)
def test_the_answer_is_waited_for_as_long_as_there_is_time(
    tmp_path: Path, timeout: str, left: int | None, seconds: int
) -> None:
    time_left = None if left is None else lambda: timedelta(seconds=left)
    world = LambdaWorld(surroundings(tmp_path))
    given = surroundings(tmp_path, aws_client=world.aws.client, time_left=time_left)
    world.given = given
    world.jobs().launch(a_call(timeout=timeout), a_context())
    assert [config.read_timeout for _, _, config in world.aws.configs] == [seconds]


def test_without_a_region_that_of_the_arn_is_used(world: LambdaWorld) -> None:
    arn = "arn:aws:lambda:us-east-2:123456789012:function:succeed"
    world.jobs().launch(a_call(arn), a_context())
    assert [region for _, region, _ in world.aws.configs] == ["us-east-2"]


def test_an_answer_without_an_id_may_have_come_from_a_call(world: LambdaWorld) -> None:
    assert isinstance(world.service, LambdaService)
    world.aws.request_id = False
    with pytest.raises(LaunchError) as raised:
        world.jobs().launch(a_call(), a_context())
    assert raised.value.maybe_started
