"""EMR jobs: a step on a cluster. A step takes no token, so its name ends with ours."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec

from interlock.adapters.http.platform_error import PlatformError, without_run_id
from interlock.adapters.jobs.ages import check_age, earliest, is_before
from interlock.adapters.jobs.aws.job_requests import Aws, AwsRequest, given, is_marked, marked
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.jobs.job_states import Meaning, judged, meaning_of
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, Failed, JobContext, Launched, Running, Succeeded
from interlock.domain.job_configs import EmrConfig
from interlock.domain.pipeline import Pipeline

#: EMR's limit for all strings of a step together.
LONGEST_STEP = 10_240

STATES = {
    "PENDING": Meaning.RUNNING,
    "RUNNING": Meaning.RUNNING,
    "CANCEL_PENDING": Meaning.RUNNING,
    "COMPLETED": Meaning.SUCCEEDED,
    "FAILED": Meaning.FAILED,
    "CANCELLED": Meaning.UNEXPLAINED,  # by a person, or because an earlier step failed
    "INTERRUPTED": Meaning.TRANSIENT,  # the cluster has ended
}


class EmrHandle(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """All that polling and cancelling need."""

    cluster_id: str
    step_id: str
    region: str | None = None


class EmrJobs:
    """A start that was not recorded is found by the name of its step."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._aws = Aws(surroundings)

    def preview(self, pipeline: Pipeline, context: JobContext) -> dict[str, Any]:
        return _request(self._config(pipeline, context), context).shown()

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        config = self._config(pipeline, context)
        answer = self._aws.send(_request(config, context))
        if not answer.get("StepIds"):
            raise without_run_id("EMR")
        return _launched(config, answer["StepIds"][0])

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent:
        config = self._config(pipeline, context)
        for step in self._steps_since(earliest(context.opened_at), config):
            if is_marked(step.get("Name"), context.token):
                check_age(_created(step), context.opened_at)
                return _launched(config, step["Id"])
        return Absent()

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        handle = msgspec.convert(metadata, EmrHandle)
        answer = self._aws.call(
            "emr:DescribeStep", handle.region, ClusterId=handle.cluster_id, StepId=handle.step_id
        )
        status = answer["Step"]["Status"]
        meaning = meaning_of("emr", status["State"], STATES)
        ended_at = status.get("Timeline", {}).get("EndDateTime")
        return judged(meaning, status["State"], _reason(status), ended_at)

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        handle = msgspec.convert(metadata, EmrHandle)
        answer = self._aws.call(
            "emr:CancelSteps",
            handle.region,
            ClusterId=handle.cluster_id,
            StepIds=[handle.step_id],
            StepCancellationOption="SEND_INTERRUPT",
        )
        steps = answer.get("CancelStepsInfoList", [])
        return any(step.get("Status") == "SUBMITTED" for step in steps)

    def _config(self, pipeline: Pipeline, context: JobContext) -> EmrConfig:
        config = self._aws.config(pipeline, context, EmrConfig)
        return msgspec.structs.replace(config, step_name=config.step_name or pipeline.id)

    def _steps_since(self, since: datetime, config: EmrConfig) -> Iterator[dict[str, Any]]:
        """The newest first."""
        cluster = config.cluster_id
        for page in self._aws.pages("emr:ListSteps", config.region, "Marker", ClusterId=cluster):
            steps = page.get("Steps", [])
            yield from steps
            if any(is_before(_created(step), since) for step in steps):
                return


def _request(config: EmrConfig, context: JobContext) -> AwsRequest:
    assert config.step_name is not None
    step = given(
        Jar=config.command, Args=list(config.arguments) or None, MainClass=config.main_class
    )
    name = marked(config.step_name, context.token)
    _check_length(name, config)
    params = given(
        JobFlowId=config.cluster_id,
        Steps=[{"Name": name, "ActionOnFailure": config.action_on_failure, "HadoopJarStep": step}],
        ExecutionRoleArn=config.execution_role_arn,
    )
    return AwsRequest("emr:AddJobFlowSteps", params, config.region)


def _check_length(name: str, config: EmrConfig) -> None:
    texts = (name, config.command, config.main_class or "", *config.arguments)
    if sum(map(len, texts)) > LONGEST_STEP:
        message = f"the texts of an EMR step have at most {LONGEST_STEP} characters together"
        raise PlatformError(Category.PERMANENT, message)


def _launched(config: EmrConfig, step_id: str) -> Launched:
    handle = EmrHandle(config.cluster_id, step_id, config.region)
    return Launched(step_id, msgspec.to_builtins(handle))


def _created(step: Mapping[str, Any]) -> datetime | None:
    created: datetime | None = step["Status"].get("Timeline", {}).get("CreationDateTime")
    return created


def _reason(status: Mapping[str, Any]) -> str:
    details = status.get("FailureDetails", {})
    said = [details.get("Reason"), details.get("Message")]
    if not any(said):
        said = [status.get("StateChangeReason", {}).get("Message")]
    return ": ".join(text for text in said if text)
