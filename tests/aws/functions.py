"""Functions: the homes of the six functions, over stand-ins of the services and one clock."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from aws.homes import ACCOUNT, BUS, GROUP, MACHINE, NAMES, REGION, TARGETS, Services
from interlock.ports.engine import Clock
from interlock.ports.jobs import Jobs
from interlock.wiring.aws_ports import AwsBackend, open_aws_ports
from interlock.wiring.aws_settings import Function, read_aws_settings

ENVIRONMENT = {
    "CONTROL_TABLE": NAMES.control,
    "JOBLOG_TABLE": NAMES.joblog,
    "RERUN_TABLE": NAMES.rerun,
    "EVENTS_TABLE": NAMES.events,
    "EVENTS_TTL_DAYS": "90",
    "EVENT_BUS_NAME": BUS,
    "STATE_MACHINE_ARN": MACHINE,
    "SFN_TIMEOUT_SECONDS": "14400",
    "SCHEDULER_GROUP_NAME": GROUP,
    "SCHEDULER_ROLE_ARN": TARGETS.role_arn,
    "UNDELIVERED_QUEUE_ARN": TARGETS.dead_letter_arn,
    "SLA_MONITOR_ARN": TARGETS.sla_monitor_arn,
    "STREAM_ROUTER_ARN": TARGETS.stream_router_arn,
    "ALERT_QUEUE_ARN": f"arn:aws:sqs:{REGION}:{ACCOUNT}:t-interlock-alerts",
    "ALERT_DLQ_URL": f"https://sqs.{REGION}.amazonaws.com/{ACCOUNT}/t-interlock-alerts-dlq",
    "INTERLOCK_INSTANCE": "t-interlock",
    "ENVIRONMENT": "t",
}


def function_home(
    function: Function,
    services: Services,
    clock: Clock,
    jobs: Jobs | None = None,
    configs_kept: timedelta = timedelta(0),
    wrap: Callable[[str, Any], Any] = lambda service, client: client,
    **beside: str,
) -> AwsBackend:
    """As in Lambda, but for the clients. `wrap` may put something around them.

    `beside` is what stands in its environment beside what it needs.
    """
    clients = {
        "dynamodb": services.tables,
        "events": services.bus,
        "scheduler": services.scheduler,
        "stepfunctions": services.engine,
    }
    return open_aws_ports(
        read_aws_settings(function, ENVIRONMENT | beside),
        clock=clock,
        make=lambda service: wrap(service, clients.get(service)),
        jobs=None if jobs is None else lambda time_left, now: jobs,
        configs_kept=configs_kept,
    )
