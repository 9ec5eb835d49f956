"""AWS settings: what the environment of a function says, read once; one error lists every problem.

Problems name variables and never their values.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from interlock.errors import ConfigError

EVENTS_KEPT = timedelta(days=90)

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,255}")
_ARN = re.compile(r"arn:[a-z0-9-]+:[a-z0-9-]+:[a-z0-9-]*:[0-9]*:.+")
_SECONDS = re.compile(r"[1-9][0-9]{0,8}")
_URL = re.compile(r"https?://\S+")


class Function(StrEnum):
    """The six functions."""

    STREAM_ROUTER = "stream-router"
    ORCHESTRATOR = "orchestrator"
    SLA_MONITOR = "sla-monitor"
    WATCHDOG = "watchdog"
    EVENT_SINK = "event-sink"
    ALERT_DISPATCHER = "alert-dispatcher"


def _matching(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda value: pattern.fullmatch(value) is not None


_IS_NAME, _IS_ARN = _matching(_NAME), _matching(_ARN)
_IS_SECONDS, _IS_URL = _matching(_SECONDS), _matching(_URL)


def _anything(value: str) -> bool:
    return True


#: How the value of each variable must look.
VARIABLES: dict[str, Callable[[str], bool]] = {
    "CONTROL_TABLE": _IS_NAME,
    "JOBLOG_TABLE": _IS_NAME,
    "RERUN_TABLE": _IS_NAME,
    "EVENTS_TABLE": _IS_NAME,
    "EVENTS_TTL_DAYS": _anything,  # what is no number of days means the usual number
    "EVENT_BUS_NAME": _IS_NAME,
    "STATE_MACHINE_ARN": _IS_ARN,
    "SFN_TIMEOUT_SECONDS": _IS_SECONDS,
    "SCHEDULER_GROUP_NAME": _IS_NAME,
    "SCHEDULER_ROLE_ARN": _IS_ARN,
    "UNDELIVERED_QUEUE_ARN": _IS_ARN,
    "SLA_MONITOR_ARN": _IS_ARN,
    "STREAM_ROUTER_ARN": _IS_ARN,
    "ALERT_QUEUE_ARN": _IS_ARN,
    "ALERT_DLQ_URL": _IS_URL,
    "INTERLOCK_INSTANCE": _IS_NAME,
    "ENVIRONMENT": _IS_NAME,
}

_STATE = ("CONTROL_TABLE", "JOBLOG_TABLE", "EVENT_BUS_NAME")
_TIMERS = ("SCHEDULER_GROUP_NAME", "SCHEDULER_ROLE_ARN", "UNDELIVERED_QUEUE_ARN", "SLA_MONITOR_ARN")
_ENGINE = ("RERUN_TABLE", "STATE_MACHINE_ARN", "SFN_TIMEOUT_SECONDS", "STREAM_ROUTER_ARN")

#: What each function can't do without.
REQUIRED: dict[Function, tuple[str, ...]] = {
    Function.STREAM_ROUTER: (*_STATE, *_TIMERS, *_ENGINE, "ENVIRONMENT"),
    Function.ORCHESTRATOR: (*_STATE, "SFN_TIMEOUT_SECONDS", "INTERLOCK_INSTANCE", "ENVIRONMENT"),
    Function.SLA_MONITOR: (*_STATE, *_TIMERS, "INTERLOCK_INSTANCE", "ENVIRONMENT"),
    Function.WATCHDOG: (*_STATE, *_TIMERS, *_ENGINE, "ENVIRONMENT"),
    Function.EVENT_SINK: ("EVENTS_TABLE", "EVENTS_TTL_DAYS", "ENVIRONMENT"),
    Function.ALERT_DISPATCHER: (
        "EVENTS_TABLE",
        "EVENTS_TTL_DAYS",
        "EVENT_BUS_NAME",
        "SCHEDULER_GROUP_NAME",
        "SCHEDULER_ROLE_ARN",
        "UNDELIVERED_QUEUE_ARN",
        "ALERT_QUEUE_ARN",
        "ALERT_DLQ_URL",
        "INTERLOCK_INSTANCE",
        "ENVIRONMENT",
    ),
}

#: What a function may be given beside that.
OPTIONAL: dict[Function, tuple[str, ...]] = {
    Function.ORCHESTRATOR: ("INTERLOCK_ALLOW_HOSTS",),
    Function.SLA_MONITOR: ("INTERLOCK_ALLOW_HOSTS",),
    Function.WATCHDOG: ("DEAD_MAN_URL", "INTERLOCK_INSTANCE"),
    Function.ALERT_DISPATCHER: (
        "INTERLOCK_ALLOW_HOSTS",
        "INTERLOCK_PUBLIC_URL",
        "SLACK_API_URL",
        "SLACK_CHANNEL_ID",
        "SLACK_SECRET_ARN",
        "SLACK_BOT_TOKEN",
    ),
}
#: Set on all of them, and read by the runtime, the logs or the zone rules.
COMMON = ("LOG_LEVEL", "POWERTOOLS_SERVICE_NAME", "PYTHONTZPATH")


@dataclass(frozen=True, kw_only=True)
class AwsSettings:
    """One function's part of one installation; what it has no use for is empty."""

    function: Function
    environment_name: str
    control_table: str = ""
    joblog_table: str = ""
    rerun_table: str = ""
    events_table: str = ""
    events_kept: timedelta = EVENTS_KEPT
    bus: str = ""
    machine_arn: str = ""
    execution_timeout: timedelta | None = None
    scheduler_group: str = ""
    scheduler_role_arn: str = ""
    undelivered_queue_arn: str = ""
    sla_monitor_arn: str = ""
    stream_router_arn: str = ""
    alert_queue_arn: str = ""
    alert_dlq_url: str = ""
    instance: str = "interlock"
    dead_man_url: str | None = field(default=None, repr=False)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


def read_aws_settings(function: Function, environment: Mapping[str, str]) -> AwsSettings:
    """Raises ConfigError that names every variable which is missing or malformed."""
    problems = [
        f"{name} is {'malformed' if environment.get(name) else 'missing'}"
        for name in REQUIRED[function]
        if not environment.get(name) or not VARIABLES[name](environment[name])
    ]
    if problems:
        raise ConfigError(f"the environment of {function} can't be used: {'; '.join(problems)}")
    given = {name: environment.get(name, "") for name in REQUIRED[function]}
    timeout = given.get("SFN_TIMEOUT_SECONDS")
    return AwsSettings(
        function=function,
        environment_name=given["ENVIRONMENT"],
        control_table=given.get("CONTROL_TABLE", ""),
        joblog_table=given.get("JOBLOG_TABLE", ""),
        rerun_table=given.get("RERUN_TABLE", ""),
        events_table=given.get("EVENTS_TABLE", ""),
        events_kept=_days(given.get("EVENTS_TTL_DAYS", "")),
        bus=given.get("EVENT_BUS_NAME", ""),
        machine_arn=given.get("STATE_MACHINE_ARN", ""),
        execution_timeout=timedelta(seconds=int(timeout)) if timeout else None,
        scheduler_group=given.get("SCHEDULER_GROUP_NAME", ""),
        scheduler_role_arn=given.get("SCHEDULER_ROLE_ARN", ""),
        undelivered_queue_arn=given.get("UNDELIVERED_QUEUE_ARN", ""),
        sla_monitor_arn=given.get("SLA_MONITOR_ARN", ""),
        stream_router_arn=given.get("STREAM_ROUTER_ARN", ""),
        alert_queue_arn=given.get("ALERT_QUEUE_ARN", ""),
        alert_dlq_url=given.get("ALERT_DLQ_URL", ""),
        instance=given.get("INTERLOCK_INSTANCE") or "interlock",
        dead_man_url=environment.get("DEAD_MAN_URL") or None,
        environment=environment,
    )


def _days(text: str) -> timedelta:
    """What is no positive number of days means the usual one."""
    return timedelta(days=int(text)) if re.fullmatch(r"[1-9][0-9]{0,3}", text) else EVENTS_KEPT
