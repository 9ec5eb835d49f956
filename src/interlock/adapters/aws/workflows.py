"""Workflows: Step Functions executions, each under its own name."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError  # type: ignore[import-untyped]

from interlock.adapters.aws.failures import ask
from interlock.domain import canonical
from interlock.domain.run import EngineState
from interlock.domain.waiting_for import WaitingFor
from interlock.errors import TransientError, UnavailableError

_EXISTS = "ExecutionAlreadyExists"
_ABSENT = "ExecutionDoesNotExist"
_RUNNING = "RUNNING"
#: The page size of Step Functions.
_PAGE = 1000


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
            return  # already started, whether or not it has ended

    def describe(self, name: str) -> EngineState:
        found = self._described(name)
        if found is None:
            return EngineState.ABSENT
        return EngineState.RUNNING if found["status"] == _RUNNING else EngineState.ENDED

    def running(self) -> set[str]:
        return {name for page in self._listed() for name in page}

    def given(self, name: str) -> dict[str, Any] | None:
        found = self._described(name)
        text = None if found is None else found.get("input")
        return None if text is None else canonical.decode(text)

    def wake(self, pipeline_id: str, waiting_for: WaitingFor) -> None:
        """Step Functions can't cut a wait short: the interval bounds the delay."""

    def _described(self, name: str) -> Mapping[str, Any] | None:
        arn = f"{self._executions}:{name}"
        try:
            return _asked(self._client.describe_execution, _ABSENT, executionArn=arn)
        except ClientError:
            return None

    def _listed(self) -> Iterator[list[str]]:
        given = {"stateMachineArn": self._machine, "statusFilter": _RUNNING, "maxResults": _PAGE}
        while True:
            page = _asked(self._client.list_executions, **given)
            yield [each["name"] for each in page["executions"]]
            if not page.get("nextToken"):
                return
            given["nextToken"] = page["nextToken"]


def _asked(call: Callable[..., Any], *expected: str, **given: Any) -> Mapping[str, Any]:
    """Call the engine. To the caller, temporarily unavailable is the same as unavailable."""
    try:
        found: Mapping[str, Any] = ask(call, *expected, **given)
    except TransientError as error:
        raise UnavailableError(str(error)) from error
    return found
