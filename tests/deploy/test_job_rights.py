"""Rights of jobs: what enabling a type grants is what its jobs ask of AWS, on what AWS asks it for."""

import re
from collections.abc import Callable, Iterator

import pytest

from adapters.jobs.cloud_worlds import (
    AwsWorld,
    EmrServerlessWorld,
    EmrWorld,
    GlueWorld,
    LambdaWorld,
    StepFunctionWorld,
)
from adapters.jobs.job_samples import a_context, ending, surroundings
from deploy.planned import Plan, as_list, statements
from deploy.terraform import MODULE
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.wiring.aws_settings import Function

#: The worlds in which jobs live, by the services whose rights they need.
WORLDS: dict[str, Callable[[Surroundings], AwsWorld]] = {
    "glue": GlueWorld,
    "elasticmapreduce": EmrWorld,
    "emr-serverless": EmrServerlessWorld,
    "states": StepFunctionWorld,
    "lambda": LambdaWorld,
}

#: What AWS checks each action against.
RESOURCES = {
    "glue:StartJobRun": "job",
    "glue:GetJobRun": "job",
    "glue:GetJobRuns": "job",
    "glue:BatchStopJobRun": "job",
    "logs:FilterLogEvents": "log-group",
    "elasticmapreduce:AddJobFlowSteps": "cluster",
    "elasticmapreduce:ListSteps": "cluster",
    "elasticmapreduce:DescribeStep": "cluster",
    "elasticmapreduce:CancelSteps": "cluster",
    "emr-serverless:StartJobRun": "applications",
    "emr-serverless:ListJobRuns": "applications",
    "emr-serverless:GetJobRun": "jobruns",
    "emr-serverless:CancelJobRun": "jobruns",
    "states:StartExecution": "stateMachine",
    "states:DescribeStateMachine": "stateMachine",
    "states:DescribeExecution": "execution",
    "states:StopExecution": "execution",
    "lambda:InvokeFunction": "function",
}
#: What finds and polls; a state machine itself is described only before it is started.
_LOOKS = re.compile(r":(Get|List|Filter|DescribeStep$|DescribeExecution)")
#: Glue explains itself in logs.
_ANALYSIS = "logs:FilterLogEvents"
#: Services and operations whose rights have other names.
_PREFIXES = {"emr": "elasticmapreduce", "stepfunctions": "states"}
_ACTIONS = {"lambda:Invoke": "lambda:InvokeFunction"}


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """The actions of each service's jobs, from the first look to a cancellation."""
    folder = tmp_path_factory.mktemp("jobs")
    return {name: _lived(world(surroundings(folder))) for name, world in WORLDS.items()}


@pytest.mark.parametrize("service", WORLDS)
def test_every_call_of_a_job_is_granted_and_every_grant_is_called(
    service: str, called: dict[str, set[str]], whole_plan: Plan
) -> None:
    granted = {a: kinds for a, kinds in _granted(whole_plan) if _service(a) == service}
    assert granted == {action: {RESOURCES[action]} for action in called[service]}


def test_what_a_job_calls_stands_in_the_file_of_its_rights(called: dict[str, set[str]]) -> None:
    """Also where there is no Terraform."""
    text = (MODULE / "jobs.tf").read_text()
    actions = set().union(*called.values())
    assert actions == set(RESOURCES)
    assert [action for action in sorted(actions) if f'"{action}"' not in text] == []


def test_a_role_is_handed_to_a_job_only_if_it_is_named(whole_plan: Plan) -> None:
    passed = {
        arn
        for each in statements(whole_plan, f'function["{Function.ORCHESTRATOR}"]')
        if "iam:PassRole" in as_list(each["Action"])
        for arn in as_list(each["Resource"])
    }
    assert {arn.rsplit("/", 1)[1] for arn in passed} == {"emr-step", "emr-job"}


def test_the_sla_monitor_may_look_at_jobs_and_do_nothing_to_them(whole_plan: Plan) -> None:
    looks = dict(_granted(whole_plan, Function.SLA_MONITOR))
    assert set(looks) == {action for action in RESOURCES if _LOOKS.search(action)}
    assert looks == {action: {RESOURCES[action]} for action in looks}


def _lived(world: AwsWorld) -> set[str]:
    """Jobs that succeed, fail and are cancelled, each looked for before and after its start."""
    for fate in ("succeed", "fail", "hang"):
        jobs, pipeline, context = world.jobs(), world.pipeline(fate), a_context()
        jobs.preview(pipeline, context)
        jobs.find(pipeline, context)
        launched = jobs.launch(pipeline, context)
        jobs.find(pipeline, context)
        if fate == "hang":
            jobs.cancel(launched.metadata)
        else:
            ending(jobs, launched)
    return {_action(name) for name, _ in world.aws.calls}


def _action(operation: str) -> str:
    service, _, name = operation.partition(":")
    action = f"{_PREFIXES.get(service, service)}:{name}"
    return _ACTIONS.get(action, action)


def _service(action: str) -> str:
    return "glue" if action == _ANALYSIS else action.split(":")[0]


def _granted(
    plan: Plan, function: Function = Function.ORCHESTRATOR
) -> Iterator[tuple[str, set[str]]]:
    """What a function may do to jobs, each with the kinds of what it may be done to."""
    for statement in statements(plan, f'function["{function}"]'):
        for action in as_list(statement["Action"]):
            if action == _ANALYSIS or action.split(":")[0] in WORLDS:
                yield action, {_kind(arn) for arn in as_list(statement["Resource"])}


def _kind(arn: str) -> str:
    resource = arn.split(":", 5)[5].lstrip("/")
    return "jobruns" if "/jobruns/" in resource else re.split("[/:]", resource)[0]
