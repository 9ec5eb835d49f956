"""Clients of AWS: made once, never repeating a start by themselves, and what their errors become."""

import sys
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
import pytest
from botocore.exceptions import (  # type: ignore[import-untyped]
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    NoRegionError,
    ReadTimeoutError,
    SSLError,
)

from adapters.jobs.aws_stand_in import AwsStandIn, GlueService, Refused
from adapters.jobs.cloud_worlds import GlueWorld
from adapters.jobs.job_samples import a_context, a_job, surroundings
from adapters.jobs.stand_in import Reply, StandIn
from interlock.adapters.http.platform_error import PlatformError
from interlock.adapters.jobs.aws.job_clients import AwsClients
from interlock.adapters.jobs.by_type import JobsByType
from interlock.domain.budgets import Category
from interlock.domain.job_kinds import JOB_KINDS
from interlock.errors import LaunchError

P, T = Category.PERMANENT, Category.TRANSIENT
RUNS = {"JobName": "hang"}
AT = {"endpoint_url": "https://x", "error": "gone"}


@pytest.mark.parametrize(
    ("error", "category", "maybe"),
    [
        (Refused("AccessDeniedException", status=400), P, False),
        (Refused("ThrottlingException", status=400), T, False),
        (Refused("SomethingNew", status=503), T, False),
        (Refused("SomethingNew", status=502), T, True),
        (Refused("SomethingNew", status=504), T, True),
        (Refused("InvalidZipFileException", status=502), P, False),
        (EndpointConnectionError(**AT), T, False),
        (ConnectTimeoutError(**AT), T, False),
        (ReadTimeoutError(**AT), T, True),
        (ConnectionClosedError(**AT), T, True),
        (SSLError(**AT), P, False),
        (NoCredentialsError(), P, False),
        (NoRegionError(), P, False),
    ],
)
def test_what_goes_wrong_is_of_a_kind(error: Exception, category: Category, maybe: bool) -> None:
    aws = AwsStandIn(glue=GlueService())

    def break_it(operation: str, params: Any) -> None:
        raise error

    aws.fault = break_it
    with pytest.raises(PlatformError) as raised:
        AwsClients(aws.client).call("glue:GetJobRuns", None, RUNS)
    assert (raised.value.category, raised.value.maybe_started) == (category, maybe)


def test_a_request_that_the_model_does_not_allow_is_never_sent() -> None:
    aws = AwsStandIn(glue=GlueService())
    with pytest.raises(PlatformError, match="Parameter validation") as raised:
        AwsClients(aws.client).call("glue:GetJobRuns", None, {"JobNames": "x"})
    assert raised.value.category is P and not aws.calls


def test_a_client_is_made_once_for_each_service_and_region() -> None:
    aws = AwsStandIn(glue=GlueService())
    clients = AwsClients(aws.client)
    for region in (None, "eu-west-1", "us-east-1", None, "us-east-1"):
        clients.call("glue:GetJobRuns", region, {**RUNS, "MaxResults": 1})
    assert [region for _, region, _ in aws.configs] == [None, "eu-west-1", "us-east-1"]


@pytest.mark.parametrize(
    ("service", "attempts"),
    [("glue", 1), ("emr", 1), ("lambda", 1), ("stepfunctions", 3), ("logs", 3)],
)
def test_only_those_who_know_our_token_are_asked_again_by_the_sdk(
    service: str, attempts: int
) -> None:
    aws = AwsStandIn()
    AwsClients(aws.client)._client(service, None, 30)
    [(_, _, config)] = aws.configs
    assert config.retries == {"mode": "standard", "total_max_attempts": attempts}
    assert (config.connect_timeout, config.read_timeout) == (5, 30)


@pytest.mark.parametrize(
    ("operation", "params"),
    [
        ("glue:StartJobRun", {"JobName": "x"}),
        ("emr:AddJobFlowSteps", {"JobFlowId": "j-1", "Steps": []}),
        ("lambda:Invoke", {"FunctionName": "x"}),
    ],
)
def test_a_start_whose_answer_is_lost_is_not_repeated_by_the_sdk(
    stand_in: StandIn, operation: str, params: dict[str, Any]
) -> None:
    """Over a real connection, which is closed when everything was sent."""
    stand_in.fault = lambda seen: Reply(None)

    def make(service: str, region: str | None, config: Any) -> Any:
        session = boto3.session.Session("testing", "testing", region_name="eu-west-1")
        return session.client(service, config=config, endpoint_url=stand_in.url)

    with pytest.raises(PlatformError) as raised:
        AwsClients(make).call(operation, None, params)
    assert raised.value.category is T and raised.value.maybe_started
    assert len(stand_in.seen) == 1


def test_the_region_of_the_file_goes_before_that_of_the_environment(tmp_path: Path) -> None:
    world = GlueWorld(surroundings(tmp_path))
    launched = world.jobs().launch(a_job("glue", jobName="hang", region="us-east-1"), a_context())
    assert [region for _, region, _ in world.aws.configs] == ["us-east-1"]
    assert launched.metadata["region"] == "us-east-1"


@pytest.mark.parametrize("kind", [each.name for each in JOB_KINDS.values() if each.extra == "aws"])
def test_without_the_sdk_a_job_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setitem(sys.modules, "boto3", None)
    jobs = "interlock.adapters.jobs"
    module = JOB_KINDS[kind].adapter_path.partition(":")[0]
    for name in (f"{jobs}.aws.job_clients", f"{jobs}.aws.job_requests", module):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(LaunchError, match=r"pip install 'interlock\[aws\]'") as raised:
        JobsByType(surroundings(tmp_path)).launch(a_job(kind), a_context())
    assert raised.value.category == P
