"""Rights: what the plan grants is what the code calls, no less and no more."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from aws.functions import ENVIRONMENT
from aws.homes import TARGETS
from deploy.alert_calls import record_alerts
from deploy.calls import Call, Calls, record
from deploy.planned import Plan, as_list, resources, statements
from deploy.terraform import MODULE
from interlock.domain.job_kinds import JOB_KINDS
from interlock.wiring.aws_settings import Function

#: Together they make every call that any scenario makes.
PLAYED = (
    "sla-both",
    "alert-thread",
    "recovery-by-watchdog",
    "post-run-key-is-trigger",
    "places-job-never-ends",
)

#: Granted, and not called in those: by whom, and when it is.
_TIMERS = {
    ("scheduler:CreateSchedule", ""),
    ("scheduler:UpdateSchedule", ""),
    ("scheduler:GetSchedule", ""),
    ("scheduler:DeleteSchedule", ""),
}
RARELY: dict[Function, set[Call]] = {
    Function.STREAM_ROUTER: _TIMERS,  # a deadline that moved, a cron that changed
    Function.SLA_MONITOR: {
        *_TIMERS,  # the same, found by a reconcile
        ("dynamodb:Query", "joblog"),  # a deadline of a run that has a job: whether it has ended
        ("dynamodb:PutItem", "joblog"),
    },
    Function.WATCHDOG: {
        *_TIMERS,
        ("states:DescribeExecution", ""),  # an execution whose end no rule has told of
        (
            "dynamodb:Query",
            "joblog",
        ),  # an execution that ended without a word: what became of its job
        ("dynamodb:PutItem", "joblog"),
        ("dynamodb:Query", "rerun"),  # an unjudged rerun request
        ("dynamodb:PutItem", "rerun"),
    },
    Function.ALERT_DISPATCHER: _TIMERS,  # a mute whose end has moved
}

#: What the services themselves do with the role of a function: an action, and the queue if it is of one.
_PLATFORM = re.compile(
    r"(logs:(CreateLogStream|PutLogEvents)|xray:.*|kms:.*|iam:PassRole|secretsmanager:GetSecretValue"
    r"|dynamodb:(DescribeStream|GetRecords|GetShardIterator|ListStreams)) .*"
    r"|sqs:SendMessage (undelivered|control-dlq|joblog-dlq)"
    r"|sqs:(ReceiveMessage|DeleteMessage|GetQueueAttributes) alerts"
)
#: Where AWS knows no resources.
_NO_RESOURCES = re.compile(
    r"dynamodb:ListStreams|xray:.*|logs:.*(Delivery|Deliveries|Polic(y|ies)|LogGroups)"
)


@pytest.fixture(scope="module")
def made() -> Calls:
    return record(PLAYED) | record_alerts()


@pytest.mark.parametrize("function", Function)
def test_every_call_is_granted_and_every_grant_is_called(
    function: Function, made: Calls, default_plan: Plan
) -> None:
    granted = set(_granted(default_plan, function))
    assert made[function] - granted == set(), "called and not granted"
    rarely = RARELY.get(function, set())
    assert granted - made[function] - rarely == set(), "granted and never called"
    assert rarely <= granted


def test_what_is_called_stands_in_the_file_of_rights(made: Calls) -> None:
    """Also where there is no Terraform."""
    text = (MODULE / "rights.tf").read_text()
    called = {action for calls in made.values() for action, _ in calls}
    assert len(called) > 8
    assert [action for action in sorted(called) if f'"{action}"' not in text] == []


def test_a_star_stands_only_where_aws_knows_no_resources(whole_plan: Plan) -> None:
    for role in resources(whole_plan, "aws_iam_role_policy"):
        for statement in statements(whole_plan, role):
            for action in as_list(statement["Action"]):
                assert "*" not in action
                if "*" in as_list(statement["Resource"]):
                    assert _NO_RESOURCES.fullmatch(action), action


def test_jobs_are_granted_only_when_enabled(default_plan: Plan, whole_plan: Plan) -> None:
    rights = (right for kind in JOB_KINDS.values() for right in kind.rights)
    jobs = {right.action.split(":")[0] for right in rights} - {"logs"}
    assert _services(default_plan, Function.ORCHESTRATOR).isdisjoint(jobs)
    assert _services(whole_plan, Function.ORCHESTRATOR) > jobs


def test_a_role_is_passed_on_only_to_the_scheduler(default_plan: Plan) -> None:
    timing = (
        Function.STREAM_ROUTER,
        Function.SLA_MONITOR,
        Function.WATCHDOG,
        Function.ALERT_DISPATCHER,
    )
    for function in timing:
        (passing,) = (
            each for each in _statements(default_plan, function) if "iam:PassRole" in each["Action"]
        )
        assert passing["Condition"] == {
            "StringEquals": {"iam:PassedToService": "scheduler.amazonaws.com"}
        }


def test_scheduler_may_reach_whatever_a_timer_is_for_and_nothing_else(default_plan: Plan) -> None:
    """The router, the monitor of deadlines, the queue that receives the end of a mute; dead letters."""
    granted = {
        (action, arn)
        for each in statements(default_plan, "scheduler")
        for action in as_list(each["Action"])
        for arn in as_list(each["Resource"])
    }
    assert granted == {
        ("lambda:InvokeFunction", TARGETS.stream_router_arn),
        ("lambda:InvokeFunction", TARGETS.sla_monitor_arn),
        ("sqs:SendMessage", ENVIRONMENT["ALERT_QUEUE_ARN"]),
        ("sqs:SendMessage", TARGETS.dead_letter_arn),
    }


def _statements(plan: Plan, function: Function) -> list[dict[str, Any]]:
    return statements(plan, f'function["{function}"]')


def _services(plan: Plan, function: Function) -> set[str]:
    found = (action for each in _statements(plan, function) for action in as_list(each["Action"]))
    return {action.split(":")[0] for action in found}


def _granted(plan: Plan, function: Function) -> Iterator[Call]:
    """As calls are noted."""
    for statement in _statements(plan, function):
        for action in as_list(statement["Action"]):
            for arn in as_list(statement["Resource"]):
                place = _place(action, arn)
                if not _PLATFORM.fullmatch(f"{action} {place}"):
                    yield action, place


def _place(action: str, arn: str) -> str:
    """The table, index or queue; nothing for services with one resource of ours."""
    if action.startswith("sqs:"):
        return arn.rsplit("interlock-", 1)[1]
    if not action.startswith("dynamodb:") or ":table/" not in arn:
        return ""
    table, _, index = arn.split(":table/", 1)[1].partition("/index/")
    return table.rsplit("-", 1)[1] + (f"/{index}" if index else "")
