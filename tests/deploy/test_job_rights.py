"""Rights of jobs: the row of a type says what its jobs ask of AWS, and enabling the type grants that."""

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
from deploy.packaging import packaging
from deploy.planned import Plan, as_list, statements
from deploy.terraform import MODULE
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.domain.job_kinds import JOB_KINDS
from interlock.wiring.aws_settings import Function

#: The worlds in which the jobs of each type live.
WORLDS: dict[str, Callable[[Surroundings], AwsWorld]] = {
    "glue": GlueWorld,
    "emr": EmrWorld,
    "emr-serverless": EmrServerlessWorld,
    "step-function": StepFunctionWorld,
    "lambda": LambdaWorld,
}
RIGHTS = {name: kind.rights for name, kind in JOB_KINDS.items() if kind.rights}
EVERY_RIGHT = {right.action: right for rights in RIGHTS.values() for right in rights}
#: Services and operations whose rights have other names.
_PREFIXES = {"emr": "elasticmapreduce", "stepfunctions": "states"}
_ACTIONS = {"lambda:Invoke": "lambda:InvokeFunction"}
#: What is granted of these is for jobs; of logs, only what a row names is.
_SERVICES = {action.split(":")[0] for action in EVERY_RIGHT} - {"logs"}


@pytest.fixture(scope="module")
def operations(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """What each type's jobs ask of AWS, from the first look to a cancellation."""
    folder = tmp_path_factory.mktemp("jobs")
    return {name: _lived(world(surroundings(folder))) for name, world in WORLDS.items()}


def test_every_type_of_aws_has_its_rights_in_its_row() -> None:
    assert set(RIGHTS) == set(WORLDS)
    assert set(RIGHTS) == {name for name, kind in JOB_KINDS.items() if kind.extra == "aws"}


@pytest.mark.parametrize("name", RIGHTS)
def test_the_row_of_a_type_has_the_rights_that_its_jobs_use(
    name: str, operations: dict[str, set[str]]
) -> None:
    assert {right.action for right in RIGHTS[name]} == {_action(each) for each in operations[name]}


def test_the_orchestrator_is_granted_what_the_rows_say_and_no_more(whole_plan: Plan) -> None:
    assert dict(_granted(whole_plan)) == {each.action: {each.on} for each in EVERY_RIGHT.values()}


def test_what_the_rows_say_stands_in_the_file_of_rights() -> None:
    """Also where there is no Terraform."""
    text = (MODULE / "jobs.tf").read_text()
    written = set(re.findall(r'"([a-z-]+:[A-Z]\w+)"', text)) - {"iam:PassRole"}
    assert written == set(EVERY_RIGHT)


def test_the_package_holds_the_models_of_the_services_that_jobs_call(
    operations: dict[str, set[str]],
) -> None:
    services = {each.partition(":")[0] for each in set().union(*operations.values())}
    assert services <= set(packaging().SERVICES)


@pytest.mark.parametrize("name", RIGHTS)
def test_the_page_of_a_type_names_its_rights(name: str) -> None:
    """An action without its service stands beside one of the same service."""
    page = (MODULE.parents[1] / "docs" / "howto" / "jobs" / f"{name}.md").read_text()
    part = page.partition("## Rights")[2].partition("\n## ")[0]
    bare = (right.action.partition(":")[2] for right in RIGHTS[name])
    assert [each for each in bare if not re.search(rf"[`:]{each}`", part)] == []


def test_a_role_is_handed_to_a_job_only_if_it_is_named(whole_plan: Plan) -> None:
    passed = {
        arn
        for each in statements(whole_plan, f'function["{Function.ORCHESTRATOR}"]')
        if "iam:PassRole" in as_list(each["Action"])
        for arn in as_list(each["Resource"])
    }
    assert {arn.rsplit("/", 1)[1] for arn in passed} == {"emr-step", "emr-job"}


def test_the_sla_monitor_may_look_at_jobs_and_do_nothing_to_them(whole_plan: Plan) -> None:
    looks = {each.action: {each.on} for each in EVERY_RIGHT.values() if each.looks}
    assert dict(_granted(whole_plan, Function.SLA_MONITOR)) == looks


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
    return {name for name, _ in world.aws.calls}


def _action(operation: str) -> str:
    service, _, name = operation.partition(":")
    action = f"{_PREFIXES.get(service, service)}:{name}"
    return _ACTIONS.get(action, action)


def _granted(
    plan: Plan, function: Function = Function.ORCHESTRATOR
) -> Iterator[tuple[str, set[str]]]:
    """What a function may do to jobs, each with the kinds of what it may be done to."""
    for statement in statements(plan, f'function["{function}"]'):
        for action in as_list(statement["Action"]):
            if action in EVERY_RIGHT or action.split(":")[0] in _SERVICES:
                yield action, {_kind(arn) for arn in as_list(statement["Resource"])}


def _kind(arn: str) -> str:
    resource = arn.split(":", 5)[5].lstrip("/")
    return "jobruns" if "/jobruns/" in resource else re.split("[/:]", resource)[0]
