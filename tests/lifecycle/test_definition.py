"""The deployed state machine file: its states as the lifecycle describes them, and nothing loose."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interlock.errors import ConfigError
from interlock.lifecycle import asl, definition

ROOT = Path(__file__).parents[2]
FILE = ROOT / "deploy" / "statemachine.asl.json"
VARIABLES: dict[str, str | int] = {
    "orchestrator_arn": "arn:aws:lambda:eu-west-1:123456789012:function:orchestrator",
    "sla_monitor_arn": "arn:aws:lambda:eu-west-1:123456789012:function:sla-monitor",
    "sfn_timeout_seconds": 14400,
    "trigger_max_attempts": 7,
}
DOCUMENT = json.loads(definition.render(VARIABLES))
STATES: dict[str, dict[str, Any]] = DOCUMENT["States"]

ORCHESTRATOR, SLA_MONITOR = VARIABLES["orchestrator_arn"], VARIABLES["sla_monitor_arn"]

#: Tasks: function, mode, what is asked beside the usual, where the answer goes, next, next on error.
TASKS = {
    "Evaluate": (
        ORCHESTRATOR,
        "evaluate",
        {
            "openedAt.$": "$.openedAt",
            "windowEnd.$": "$.windowEnd",
            "executionName.$": "$.executionName",
        },
        ("$.eval", "IsReady", "MarkInfraFailure"),
    ),
    "ValidationExhausted": (
        ORCHESTRATOR,
        "validation-exhausted",
        {"windowEnd.$": "$.windowEnd"},
        ("$.finish", "CheckCancelSLA", "MarkInfraFailure"),
    ),
    "Trigger": (
        ORCHESTRATOR,
        "trigger",
        {"openedAt.$": "$.openedAt"},
        ("$.job", "HasTriggerResult", "TriggerRetryExhausted"),
    ),
    "TriggerRetryExhausted": (
        ORCHESTRATOR,
        "trigger-exhausted",
        {"errors.$": "$.errors"},
        ("$.finish", "IsLaunched", "MarkInfraFailure"),
    ),
    "ScheduleSLAAlerts": (
        SLA_MONITOR,
        "schedule",
        {},
        ("$.sla", "InitJobPollLoop", "InitJobPollLoop"),
    ),
    "CheckJob": (
        ORCHESTRATOR,
        "check-job",
        {"watched.$": "$.job.watched"},
        ("$.job", "IsJobDone", "IncrementJobPollElapsed"),
    ),
    "JobPollExhausted": (
        ORCHESTRATOR,
        "job-poll-exhausted",
        {},
        ("$.finish", "InjectTimeoutEvent", "MarkInfraFailure"),
    ),
    "CompleteTrigger": (
        ORCHESTRATOR,
        "complete-trigger",
        {"event.$": "$.job.event", "ending.$": "$.job.ending"},
        ("$.finish", "CheckCancelSLA", "MarkInfraFailure"),
    ),
    "CancelSLASchedules": (SLA_MONITOR, "cancel", {}, ("$.sla", "Done", "MarkInfraFailure")),
    "MarkInfraFailure": (
        ORCHESTRATOR,
        "infra-failure",
        {"errors.$": "$.errors"},
        ("$.finish", "InfraFailure", "InfraFailure"),
    ),
}
#: Every other state: its type, and where it may lead.
OTHERS = {
    "InitEvalLoop": ("Pass", ["Evaluate"]),
    "IsReady": ("Choice", ["Done", "Trigger", "IncrementElapsed", "WaitInterval"]),
    "WaitInterval": ("Wait", ["Evaluate"]),
    "IncrementElapsed": ("Pass", ["CheckWindowExhausted"]),
    "CheckWindowExhausted": ("Choice", ["ValidationExhausted", "Evaluate"]),
    "IsLaunched": ("Choice", ["Trigger", "CheckCancelSLA"]),
    "HasTriggerResult": ("Choice", ["CheckSLA", "Done"]),
    "CheckSLA": ("Choice", ["ScheduleSLAAlerts", "InitJobPollLoop"]),
    "InitJobPollLoop": ("Pass", ["WaitForJob"]),
    "WaitForJob": ("Wait", ["CheckJob"]),
    "IsJobDone": ("Choice", ["Done", "CompleteTrigger", "IncrementJobPollElapsed", "WaitForJob"]),
    "IncrementJobPollElapsed": ("Pass", ["CheckJobPollExhausted"]),
    "CheckJobPollExhausted": ("Choice", ["JobPollExhausted", "WaitForJob"]),
    "InjectTimeoutEvent": ("Pass", ["CompleteTrigger"]),
    "CheckCancelSLA": ("Choice", ["CancelSLASchedules", "Done"]),
    "InfraFailure": ("Fail", []),
    "Done": ("Succeed", []),
}

#: What can stand at each name of the data: given at the start, or written by the states.
INPUT = "pipelineId scheduleId date attempt executionName openedAt windowEnd config"
FIELDS = {
    "eval": "current passed exhausted waitSeconds elapsedSeconds failing",
    "job": "current launched runId event exhausted waitSeconds pollWindowSeconds armSla watched ending",
    "finish": "current outcome running settleSla",
    "loop": "elapsedSeconds",
    "poll": "elapsedSeconds",
}


def test_the_file_has_the_27_states_of_the_lifecycle() -> None:
    assert STATES.keys() == TASKS.keys() | OTHERS.keys()
    assert len(STATES) == 27


@pytest.mark.parametrize("name", OTHERS)
def test_a_state_leads_where_the_lifecycle_says(name: str) -> None:
    kind, targets = OTHERS[name]
    assert STATES[name]["Type"] == kind
    assert [target for _, target in ways_on(STATES[name])] == targets


@pytest.mark.parametrize("name", TASKS)
def test_a_task_asks_its_function_for_one_mode_with_the_run_and_its_config(name: str) -> None:
    function, mode, also, (path, following, _) = TASKS[name]
    usual = ("pipelineId", "scheduleId", "date", "attempt", "config")
    task = STATES[name]
    assert task["Resource"] == function
    assert task["Parameters"] == {"mode": mode, **{f"{k}.$": f"$.{k}" for k in usual}, **also}
    assert task["ResultPath"] == path
    assert task["Next"] == following


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_bounded_and_its_failure_never_lost(name: str) -> None:
    *_, caught = TASKS[name][3]
    assert STATES[name]["TimeoutSeconds"] == 960
    assert STATES[name]["Catch"] == [
        {"ErrorEquals": ["States.ALL"], "ResultPath": f"$.errors.{name}", "Next": caught}
    ]


LAMBDA_SERVICE = {
    "Lambda.ClientExecutionTimeoutException",
    "Lambda.ServiceException",
    "Lambda.AWSLambdaException",
    "Lambda.SdkClientException",
    "Lambda.TooManyRequestsException",
}


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_tried_again_after_what_may_pass(name: str) -> None:
    retrier = STATES[name]["Retry"][-1]
    interval, attempts = (30, 7) if name == "Trigger" else (2, 3)
    assert set(retrier["ErrorEquals"]) == LAMBDA_SERVICE | {"TransientError", "States.TaskFailed"}
    assert retrier["ErrorEquals"][-1] == "States.TaskFailed"
    assert retrier["IntervalSeconds"] == interval
    assert retrier["BackoffRate"] == 2
    assert retrier["MaxAttempts"] == attempts


def test_only_a_launch_knows_errors_that_are_never_tried_again() -> None:
    permanent = {"ErrorEquals": ["LaunchError", "ConfigError"], "MaxAttempts": 0}
    assert STATES["Trigger"]["Retry"][:-1] == [permanent]
    assert all(len(STATES[name]["Retry"]) == 1 for name in TASKS if name != "Trigger")


def test_the_waits_take_their_seconds_from_the_handlers() -> None:
    assert STATES["WaitInterval"]["SecondsPath"] == "$.eval.waitSeconds"
    assert STATES["WaitForJob"]["SecondsPath"] == "$.job.waitSeconds"


def test_the_whole_machine_is_bounded() -> None:
    assert DOCUMENT["TimeoutSeconds"] == 14400


def test_no_state_reads_what_was_not_written_on_every_way_to_it() -> None:
    written = written_before_each_state()
    loose = [
        f"{name} reads {path}"
        for name, state in STATES.items()
        for path in reads(state)
        if not known(path, written[name])
    ]
    assert loose == []


def test_the_file_takes_just_the_variables_that_are_promised() -> None:
    assert set(re.findall(r"\$\{(\w+)\}", FILE.read_text())) == VARIABLES.keys()


@pytest.mark.parametrize("number", ["sfn_timeout_seconds", "trigger_max_attempts"])
def test_a_number_stands_bare(number: str) -> None:
    assert f": ${{{number}}}" in FILE.read_text()


@pytest.mark.parametrize("directive", ["%{", "$${"])
def test_nothing_in_the_file_means_something_else_to_terraform(directive: str) -> None:
    assert directive not in FILE.read_text()


def test_no_name_is_given_twice() -> None:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        assert len(names) == len(set(names)), names
        return dict(pairs)

    json.loads(definition.render(VARIABLES), object_pairs_hook=once)


def test_loading_gives_a_machine_that_can_run() -> None:
    machine = definition.load(VARIABLES)
    assert machine.states.keys() == STATES.keys()
    assert asl.parse(machine.text).hash == machine.hash


def test_a_variable_without_a_value_is_named() -> None:
    with pytest.raises(ConfigError, match="sla_monitor_arn"):
        definition.load({k: v for k, v in VARIABLES.items() if k != "sla_monitor_arn"})


def test_a_wheel_carries_the_file_beside_the_module_that_reads_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == {
        "deploy/statemachine.asl.json": "interlock/lifecycle/statemachine.asl.json"
    }


# -- what the file says about its data ----------------------------------------------------------


def ways_on(state: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What each way on writes into the data, and the state it leads to."""
    for rule in state.get("Choices", []):
        yield "$", rule["Next"]
    if "Default" in state:
        yield "$", state["Default"]
    if "Next" in state:
        yield state.get("ResultPath", "$"), state["Next"]
    for catcher in state.get("Catch", []):
        yield catcher["ResultPath"], catcher["Next"]


def written_before_each_state() -> dict[str, set[str]]:
    """For each state the names that stand in the data whichever way it was reached."""
    written = {DOCUMENT["StartAt"]: set(INPUT.split())}
    waiting = [DOCUMENT["StartAt"]]
    while waiting:
        name = waiting.pop()
        for path, target in ways_on(STATES[name]):
            after = written[name] | set(path.split(".")[1:2])
            before = written.get(target, after)
            if target not in written or before & after != before:
                written[target] = before & after
                waiting.append(target)
    return written


def reads(value: Any) -> Iterator[str]:
    """Every path that a part of a state reads; those it writes to are not among them."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name not in ("ResultPath", "Catch"):
                yield from reads(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from reads(inner)
    elif isinstance(value, str):
        yield from re.findall(r"\$\.[\w.]+", value)


def known(path: str, written: set[str]) -> bool:
    name, *field = path.removeprefix("$.").split(".")
    return name in written and (not field or field[0] in FIELDS[name].split())
