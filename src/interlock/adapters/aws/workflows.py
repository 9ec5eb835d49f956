"""Workflows: executions of Step Functions, each under its own name."""

from collections.abc import Mapping
from typing import Any

from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from interlock.adapters.aws.failures import ask
from interlock.domain import canonical
from interlock.domain.guards import EngineState
from interlock.errors import TransientError, UnavailableError
from interlock.ports import Wait

_EXISTS = "ExecutionAlreadyExists"
_ABSENT = "ExecutionDoesNotExist"


class StepFunctions:
    """A name is used once per machine, and kept for 90 days after its end."""

    def __init__(self, client: Any, machine_arn: str) -> None:
        self._client = client
        self._machine = machine_arn
        self._executions = machine_arn.replace(":stateMachine:", ":execution:")

    def start(self, name: str, given: Mapping[str, Any]) -> None:
        try:
            ask(
                self._client.start_execution,
                _EXISTS,
                stateMachineArn=self._machine,
                name=name,
                input=canonical.encode(given),
            )
        except ClientError:
            return  # it was started before, whether or not it has ended

    def describe(self, name: str) -> EngineState:
        arn = f"{self._executions}:{name}"
        try:
            found = ask(self._client.describe_execution, _ABSENT, executionArn=arn)
        except ClientError:
            return EngineState.ABSENT
        except TransientError as error:
            raise UnavailableError(str(error)) from error
        return EngineState.RUNNING if found["status"] == "RUNNING" else EngineState.ENDED

    def wake(self, pipeline_id: str, waiting_for: Wait) -> None:
        """Nobody can cut a wait short there: the interval bounds the delay."""
