"""AWS jobs against moto: an independent model of AWS, where it has one.

What it lacks or does otherwise (stopping, ends of steps, client tokens) is played by the stand-in.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
import pytest
from moto import mock_aws
from moto.moto_api import state_manager

from adapters.jobs.cloud_worlds import ROLE
from adapters.jobs.job_samples import a_context, a_job, ending, now, surroundings
from interlock.adapters.jobs.aws.glue_analysis import JOB_FAILED, REASON
from interlock.adapters.jobs.aws.secrets_manager import fetch_secret
from interlock.adapters.jobs.by_type import JobsByType
from interlock.domain.job import Absent, Failed, Launched, Running, Succeeded
from interlock.domain.pipeline import Pipeline
from interlock.errors import ConfigError, LaunchError

REGION = "eu-west-1"
INSTANCES = {"InstanceCount": 1, "KeepJobFlowAliveWhenNoSteps": True}


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    with mock_aws():
        yield


@pytest.fixture
def jobs(tmp_path: Path) -> JobsByType:
    """A minute ahead, when every log has arrived."""
    return JobsByType(surroundings(tmp_path, clock=lambda: now() + timedelta(minutes=1)))


def client(service: str) -> Any:
    return boto3.client(service, region_name=REGION)


def a_role(name: str) -> str:
    made = client("iam").create_role(RoleName=name, AssumeRolePolicyDocument="{}")
    return str(made["Role"]["Arn"])


@pytest.fixture
def glue_run() -> Iterator[Pipeline]:
    state_manager.set_transition("glue::job_run", {"progression": "manual", "times": 1})
    command = {"Name": "glueetl", "ScriptLocation": "s3://x/y.py"}
    client("glue").create_job(Name="orders", Role=a_role("glue"), Command=command)
    yield a_job("glue", jobName="orders", arguments={"--day": "${DATE}"})
    state_manager.unset_transition("glue::job_run")


def test_a_run_of_glue_is_started_found_and_followed(jobs: JobsByType, glue_run: Pipeline) -> None:
    assert jobs.find(glue_run, a_context()) == Absent()
    launched = jobs.launch(glue_run, a_context())
    found = jobs.find(glue_run, a_context())
    assert isinstance(found, Launched) and found.run_id == launched.run_id
    run = client("glue").get_job_run(JobName="orders", RunId=launched.run_id)["JobRun"]
    assert run["Arguments"]["--interlock_token"] == a_context().token
    assert isinstance(ending(jobs, launched), Succeeded)


def test_a_job_of_glue_that_does_not_exist(jobs: JobsByType) -> None:
    with pytest.raises(LaunchError, match="EntityNotFoundException") as raised:
        jobs.launch(a_job("glue", jobName="nothing"), a_context())
    assert raised.value.category == "PERMANENT"


def test_an_analysis_in_the_logs_goes_before_the_state(
    jobs: JobsByType, glue_run: Pipeline
) -> None:
    launched = jobs.launch(glue_run, a_context())
    logs, group = client("logs"), "test/log/logs-v2"  # moto's own name
    stream = f"{launched.run_id}-job-insights-rca-driver"
    logs.create_log_group(logGroupName=group)
    logs.create_log_stream(logGroupName=group, logStreamName=stream)
    said = f'{{"Event": "{JOB_FAILED}", "{REASON}": "AnalysisException: no x"}}'
    event = {"timestamp": int(datetime.now(UTC).timestamp() * 1000), "message": said}
    logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=[event])
    answer = ending(jobs, launched)
    assert isinstance(answer, Failed) and "AnalysisException" in answer.message


def test_a_step_of_emr_is_started_found_and_seen(jobs: JobsByType) -> None:
    cluster = client("emr").run_job_flow(
        Name="c", Instances=INSTANCES, JobFlowRole="a", ServiceRole="b"
    )["JobFlowId"]
    pipeline = a_job("emr", clusterId=cluster, arguments=["spark-submit", "x.py"])
    assert jobs.find(pipeline, a_context()) == Absent()
    launched = jobs.launch(pipeline, a_context())
    found = jobs.find(pipeline, a_context())
    assert isinstance(found, Launched) and found.run_id == launched.run_id
    assert isinstance(jobs.poll(launched.metadata), Running)


def test_a_run_of_emr_serverless_is_started_found_and_followed(jobs: JobsByType) -> None:
    application = client("emr-serverless").create_application(
        name="a", releaseLabel="emr-7.5.0", type="SPARK"
    )["applicationId"]
    driver = {"sparkSubmit": {"entryPoint": "s3://x/y.py"}}
    pipeline = a_job(
        "emr-serverless", applicationId=application, executionRoleArn=ROLE, jobDriver=driver
    )
    # moto says of every run that it was made at midnight
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    context = a_context(opened_at=midnight)
    launched = jobs.launch(pipeline, context)
    found = jobs.find(pipeline, context)
    assert isinstance(found, Launched) and found.run_id == launched.run_id
    assert isinstance(ending(jobs, launched), Succeeded)


def test_an_execution_is_started_once_found_and_stopped(jobs: JobsByType) -> None:
    definition = '{"StartAt": "W", "States": {"W": {"Type": "Wait", "Seconds": 600, "End": true}}}'
    arn = client("stepfunctions").create_state_machine(
        name="m", definition=definition, roleArn=a_role("machine")
    )["stateMachineArn"]
    pipeline = a_job("step-function", stateMachineArn=arn)
    assert jobs.find(pipeline, a_context()) == Absent()
    launched = jobs.launch(pipeline, a_context())
    found = jobs.find(pipeline, a_context())
    assert isinstance(found, Launched) and found.run_id == launched.run_id
    assert jobs.launch(pipeline, a_context()).run_id == launched.run_id
    assert isinstance(jobs.poll(launched.metadata), Running)
    assert jobs.cancel(launched.metadata)
    answer = ending(jobs, launched)
    assert isinstance(answer, Failed) and answer.stopped


def test_a_secret_is_read_from_secrets_manager() -> None:
    made = client("secretsmanager").create_secret(Name="s", SecretString="hush")
    assert fetch_secret(made["ARN"]) == "hush"
    with pytest.raises(ConfigError, match="ResourceNotFoundException"):
        fetch_secret(f"{made['ARN']}x")
