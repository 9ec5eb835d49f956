"""Step Functions jobs: an execution of a state machine, whose name is made of our token."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from interlock.adapters.http.platform_error import PlatformError, without_run_id
from interlock.adapters.jobs.ages import check_age
from interlock.adapters.jobs.aws.job_requests import Aws, AwsRequest, region_of
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.jobs.job_states import Meaning, judged, meaning_of
from interlock.adapters.secrets.texts import dates, run_values
from interlock.domain import canonical
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, Failed, JobContext, Launched, Running, Succeeded
from interlock.domain.job_configs import StepFunctionConfig
from interlock.domain.pipeline import Pipeline

LARGEST_INPUT = 262_144
LONGEST_PREFIX = 44
ALREADY_EXISTS = "ExecutionAlreadyExists"
DOES_NOT_EXIST = "ExecutionDoesNotExist"

STATES = {
    "RUNNING": Meaning.RUNNING,
    "PENDING_REDRIVE": Meaning.RUNNING,
    "SUCCEEDED": Meaning.SUCCEEDED,
    "FAILED": Meaning.FAILED,
    "TIMED_OUT": Meaning.TIMEOUT,
    "ABORTED": Meaning.STOPPED,
}
#: Errors of the machine itself, for which no message is needed.
ERRORS = {
    "States.Timeout": Meaning.TIMEOUT,
    "States.HeartbeatTimeout": Meaning.TIMEOUT,
    "States.Permissions": Meaning.PERMANENT,
    "States.Runtime": Meaning.PERMANENT,
    "States.ParameterPathFailure": Meaning.PERMANENT,
    "States.NoChoiceMatched": Meaning.PERMANENT,
}

_NOT_IN_NAMES = re.compile(r"[^0-9A-Za-z_-]")


class StepFunctionHandle(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """All that polling and cancelling need."""

    execution_arn: str
    region: str | None = None


class StepFunctionJobs:
    """Once per name: a second execution of that name is refused, for ninety days after the first."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._aws = Aws(surroundings)
        self._standard: set[str] = set()

    def preview(self, pipeline: Pipeline, context: JobContext) -> dict[str, Any]:
        return _request(self._config(pipeline, context), context).shown()

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        config = self._config(pipeline, context)
        request = _request(config, context)
        self._check_standard(config)
        try:
            answer = self._aws.send(request)
        except PlatformError as error:
            if error.code != ALREADY_EXISTS:
                raise
            return self._known(config, context)
        if not answer.get("executionArn"):
            raise without_run_id("Step Functions")
        check_age(answer.get("startDate"), context.opened_at)
        return _launched(answer["executionArn"], config)

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent:
        """The answer may lag behind; then the name still protects."""
        try:
            return self._known(self._config(pipeline, context), context)
        except PlatformError as error:
            if error.code == DOES_NOT_EXIST:
                return Absent()
            raise

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        handle = msgspec.convert(metadata, StepFunctionHandle)
        execution = self._describe(handle.execution_arn, handle.region)
        state, error = execution["status"], execution.get("error", "")
        meaning = meaning_of("step-function", state, STATES)
        if meaning is Meaning.FAILED:
            meaning = ERRORS.get(error, meaning)
        said = ": ".join(text for text in (error, execution.get("cause", "")) if text)
        return judged(meaning, state, said, execution.get("stopDate"))

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        handle = msgspec.convert(metadata, StepFunctionHandle)
        answer = self._aws.call(
            "stepfunctions:StopExecution", handle.region, executionArn=handle.execution_arn
        )
        return "stopDate" in answer

    def _config(self, pipeline: Pipeline, context: JobContext) -> StepFunctionConfig:
        config = self._aws.config(pipeline, context, StepFunctionConfig)
        region = region_of(config.state_machine_arn, config.region)
        return msgspec.structs.replace(config, region=region)

    def _check_standard(self, config: StepFunctionConfig) -> None:
        """Executions of an EXPRESS machine can't be asked about."""
        machine = _machine(config)
        if machine in self._standard:
            return
        answer = self._aws.call(
            "stepfunctions:DescribeStateMachine", config.region, stateMachineArn=machine
        )
        if answer["type"] != "STANDARD":
            message = f"the state machine is {answer['type']}, and only STANDARD can be followed"
            raise PlatformError(Category.PERMANENT, message)
        self._standard.add(machine)

    def _known(self, config: StepFunctionConfig, context: JobContext) -> Launched:
        """The execution of our name. Raises PlatformError if there is none, or it can't be this run's."""
        arn = f"{_machine(config).replace(':stateMachine:', ':execution:')}:{_name(context)}"
        execution = self._describe(arn, config.region)
        check_age(execution.get("startDate"), context.opened_at)
        return _launched(arn, config)

    def _describe(self, arn: str, region: str | None) -> dict[str, Any]:
        return self._aws.call("stepfunctions:DescribeExecution", region, executionArn=arn)


def _request(config: StepFunctionConfig, context: JobContext) -> AwsRequest:
    written = dates(run_values(context)) if config.arguments is None else config.arguments
    text = canonical.encode(written)
    if len(text.encode()) > LARGEST_INPUT:
        message = f"the arguments are more than {LARGEST_INPUT} bytes"
        raise PlatformError(Category.PERMANENT, message)
    params = {"stateMachineArn": config.state_machine_arn, "name": _name(context), "input": text}
    return AwsRequest("stepfunctions:StartExecution", params, config.region)


def _name(context: JobContext) -> str:
    """What a person can read, and the token."""
    read = f"{context.pipeline}-{context.label}-{context.attempt}"
    return f"{_NOT_IN_NAMES.sub('-', read)[:LONGEST_PREFIX]}-{context.token}"


def _machine(config: StepFunctionConfig) -> str:
    """The ARN without the version or alias."""
    return ":".join(config.state_machine_arn.split(":")[:7])


def _launched(arn: str, config: StepFunctionConfig) -> Launched:
    return Launched(arn, msgspec.to_builtins(StepFunctionHandle(arn, config.region)))
