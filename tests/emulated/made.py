"""Made: the same installation by calls of our own, for machines without Terraform. One role may do all.

Names, environments and tables are those that other tests hold against the module.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aws.functions import ENVIRONMENT
from aws.homes import ACCOUNT, BUS, GROUP, MACHINE, NAMES, REGION, table_form
from deploy.packaging import ARCH, PYTHON
from emulated.emulator import Emulator
from emulated.installation import DEAD_LETTERS, PREFIX, function_arn, machine_definition
from emulated.project import Project
from emulated.surroundings import make_role, policy
from interlock.wiring.aws_settings import REQUIRED, Function

QUEUES = ("alerts", *DEAD_LETTERS)
#: Which rows of a table wake the router, by the beginning of their sort keys or by the whole of it.
STREAMS: dict[str, tuple[Any, ...]] = {
    NAMES.control: ({"prefix": "SENSOR#"}, {"prefix": "RERUN_REQUEST#"}, "CONFIG"),
    NAMES.joblog: ({"prefix": "JOB#"},),
}
_FROM_RULES = policy(
    {
        "Effect": "Allow",
        "Principal": {"Service": "events.amazonaws.com"},
        "Action": "sqs:SendMessage",
        "Resource": "*",
    }
)
_OURS = {"EventPattern": json.dumps({"source": ["interlock"]})}
_ENDED_BADLY = json.dumps(
    {
        "source": ["aws.states"],
        "detail-type": ["Step Functions Execution Status Change"],
        "detail": {"status": ["FAILED", "TIMED_OUT", "ABORTED"]},
    }
)
#: Rule: its bus, what it reacts to, and its target.
RULES: dict[str, tuple[str, dict[str, str], str]] = {
    "all-events": (BUS, _OURS, function_arn(f"{PREFIX}-event-sink")),
    "alerts": (BUS, _OURS, f"arn:aws:sqs:{REGION}:{ACCOUNT}:{PREFIX}-alerts"),
    "watchdog": (
        "default",
        {"ScheduleExpression": "rate(1 minute)"},
        function_arn(f"{PREFIX}-watchdog"),
    ),
    "executions": ("default", {"EventPattern": _ENDED_BADLY}, function_arn(f"{PREFIX}-watchdog")),
}


@dataclass(frozen=True)
class Made:
    """The services of an installation, made one after the other."""

    emulator: Emulator
    dist: Path
    #: What each function is given beside what it needs.
    beside: dict[Function, dict[str, str]]

    def load(self, project: Project) -> None:
        """The first time it makes everything. Then, as the module does it, a row for each pipeline."""
        project.compile()
        tables = self.emulator.client("dynamodb")
        if not tables.list_tables()["TableNames"]:
            self._make()
        compiled = json.loads(project.compiled.read_text())
        wanted = compiled["pipelines"]
        there = {row["watchAt"]["S"] for row in tables.query(**_LOADED)["Items"]}
        for pipeline in there - wanted.keys():
            tables.delete_item(TableName=NAMES.control, Key=_key(pipeline))
        for pipeline, entry in wanted.items():
            tables.put_item(TableName=NAMES.control, Item=_config_row(pipeline, entry))
        tables.put_item(TableName=NAMES.events, Item=_alerts_row(compiled["alerts"]))

    def toml(self) -> str:
        names = (*REQUIRED[Function.WATCHDOG], "EVENTS_TABLE")
        lines = [f'{name.lower()} = "{ENVIRONMENT[name]}"' for name in names]
        return "\n".join(["[aws]", f'region = "{REGION}"', *lines])

    def _make(self) -> None:
        role = make_role(self.emulator, f"{PREFIX}-scheduler", "*")
        for queue in QUEUES:
            self.emulator.client("sqs").create_queue(
                QueueName=f"{PREFIX}-{queue}", Attributes={"Policy": _FROM_RULES}
            )
        self.emulator.client("events").create_event_bus(Name=BUS)
        self.emulator.client("scheduler").create_schedule_group(Name=GROUP)
        for function in Function:
            self._make_function(function, role)
        self._make_machine(role)
        for table in (NAMES.control, NAMES.joblog, NAMES.rerun, NAMES.events):
            self._make_table(table)
        self._map(f"arn:aws:sqs:{REGION}:{ACCOUNT}:{PREFIX}-alerts", Function.ALERT_DISPATCHER)
        for name, (bus, reacting, target) in RULES.items():
            self._make_rule(f"{PREFIX}-{name}", bus, reacting, target)

    def _make_function(self, function: Function, role: str) -> None:
        given = {name: ENVIRONMENT[name] for name in REQUIRED[function]}
        self.emulator.client("lambda").create_function(
            FunctionName=f"{PREFIX}-{function}",
            Role=role,
            Runtime=f"python{PYTHON}",
            Handler=f"interlock.lambdas.{function.replace('-', '_')}.handler",
            Code={"ZipFile": (self.dist / f"interlock-{ARCH}.zip").read_bytes()},
            Timeout=240,
            MemorySize=256,
            Environment={"Variables": given | self.beside.get(function, {})},
        )

    def _make_machine(self, role: str) -> None:
        self.emulator.client("stepfunctions").create_state_machine(
            name=MACHINE.rsplit(":", 1)[1], definition=machine_definition(), roleArn=role
        )

    def _make_table(self, name: str) -> None:
        made = self.emulator.client("dynamodb").create_table(**table_form(name))
        if name in STREAMS:
            patterns = [{"dynamodb": {"Keys": {"SK": {"S": [key]}}}} for key in STREAMS[name]]
            self._map(
                made["TableDescription"]["LatestStreamArn"],
                Function.STREAM_ROUTER,
                StartingPosition="TRIM_HORIZON",
                FilterCriteria={"Filters": [{"Pattern": json.dumps(each)} for each in patterns]},
            )

    def _map(self, source: str, function: Function, **more: Any) -> None:
        self.emulator.client("lambda").create_event_source_mapping(
            EventSourceArn=source,
            FunctionName=f"{PREFIX}-{function}",
            BatchSize=10,
            FunctionResponseTypes=["ReportBatchItemFailures"],
            **more,
        )

    def _make_rule(self, name: str, bus: str, reacting: dict[str, str], target: str) -> None:
        rules = self.emulator.client("events")
        rule = rules.put_rule(Name=name, EventBusName=bus, **reacting)
        rules.put_targets(Rule=name, EventBusName=bus, Targets=[{"Id": "target", "Arn": target}])
        if ":lambda:" in target:
            self.emulator.client("lambda").add_permission(
                FunctionName=target,
                StatementId=name,
                Action="lambda:InvokeFunction",
                Principal="events.amazonaws.com",
                SourceArn=rule["RuleArn"],
            )


#: The rows of pipelines that were loaded.
_LOADED = {
    "TableName": NAMES.control,
    "IndexName": "watch",
    "KeyConditionExpression": "watchShard = :shard",
    "ExpressionAttributeValues": {":shard": {"S": "CONFIG"}},
}


def _key(pipeline: str) -> dict[str, Any]:
    return {"PK": {"S": f"PIPELINE#{pipeline}"}, "SK": {"S": "CONFIG"}}


def _config_row(pipeline: str, entry: dict[str, Any]) -> dict[str, Any]:
    return {
        **_key(pipeline),
        "config": {"S": json.dumps(entry["config"])},
        "configHash": {"S": entry["hash"]},
        "watchShard": {"S": "CONFIG"},
        "watchAt": {"S": pipeline},
    }


def _alerts_row(alerts: dict[str, Any]) -> dict[str, Any]:
    return {
        "PK": {"S": "PIPELINE#_system"},
        "SK": {"S": "ALERTS"},
        "config": {"S": json.dumps(alerts)},
    }
