"""Calls: the AWS calls that each function makes while scenarios are played, as rights name them."""

import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from aws.cloud import Cloud
from interlock.simulation.scenario import load_scenario
from interlock.wiring.aws_settings import Function

SCENARIOS = Path(__file__).parents[2] / "scenarios"

#: An action on a resource: `dynamodb:Query`, `control/watch`; none where a service has one of ours.
Call = tuple[str, str]
Calls = dict[Function, set[Call]]

#: The parts of a transaction need the rights of single writes.
_PARTS = {"Put": "PutItem", "Update": "UpdateItem", "ConditionCheck": "ConditionCheckItem"}


class _Noting:
    def __init__(self, client: Any, note: Callable[[str, Mapping[str, Any]], None]) -> None:
        self._client, self._note = client, note

    def __getattr__(self, operation: str) -> Any:
        call = getattr(self._client, operation)

        def noted(**given: Any) -> Any:
            self._note(operation, given)
            return call(**given)

        return noted


def noting(calls: Calls) -> Callable[[Function, str, Any], Any]:
    """What the cloud puts around the clients of its functions."""

    def wrap(function: Function, service: str, client: Any) -> Any:
        def note(operation: str, given: Mapping[str, Any]) -> None:
            if _in_a_function():
                calls[function].update(_calls(service, operation, given))

        return _Noting(client, note)

    return wrap


def _in_a_function() -> bool:
    """The cloud looks into the tables itself too: that needs no permission."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("interlock.lambdas."):
            return True
        frame = frame.f_back
    return False


def _calls(service: str, operation: str, given: Mapping[str, Any]) -> Iterator[Call]:
    name = "".join(part.title() for part in operation.split("_"))
    if service == "dynamodb":
        yield from ((f"dynamodb:{action}", place) for action, place in _places(name, given))
    elif service == "sqs":
        yield f"sqs:{name}", given["QueueUrl"].rsplit("interlock-", 1)[1]
    else:
        prefix = {"stepfunctions": "states"}.get(service, service)
        yield f"{prefix}:{name}", ""


def _places(operation: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each action, with the table or index it is done to."""
    if operation == "TransactWriteItems":
        for part in given["TransactItems"]:
            ((kind, form),) = part.items()
            yield _PARTS[kind], _table(form["TableName"])
    elif operation == "BatchGetItem":
        yield from ((operation, _table(name)) for name in given["RequestItems"])
    else:
        index = f"/{given['IndexName']}" if "IndexName" in given else ""
        yield operation, _table(given["TableName"]) + index


def _table(name: str) -> str:
    return name.rsplit("-", 1)[1]


def record(names: Iterable[str]) -> Calls:
    """Who calls what in these scenarios."""
    calls: Calls = defaultdict(set)
    for name in names:
        scenario = load_scenario(SCENARIOS / f"{name}.yaml")
        Cloud(scenario, wrap=noting(calls)).play()
    return calls
