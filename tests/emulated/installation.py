"""Installation: one AWS home at work on the emulator, as its operators and producers see it."""

import json
from dataclasses import dataclass
from typing import Any

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer  # type: ignore[import-untyped]

from aws.homes import ACCOUNT, GROUP, MACHINE, NAMES, REGION
from emulated.emulator import Emulator
from emulated.waiting import wait_for
from interlock.lifecycle.definition import render
from interlock.wiring.aws_settings import Function

PREFIX = "t-interlock"
DEAD_LETTERS = ("alerts-dlq", "control-dlq", "joblog-dlq", "undelivered")

Row = dict[str, Any]


@dataclass(frozen=True)
class Installation:
    """Asked by name and never written to, but for readings."""

    emulator: Emulator

    # --- what producers do

    def put_reading(self, pipeline: str, key: str, **data: Any) -> None:
        """As any program writes one: a row with a map."""
        row = {"PK": f"PIPELINE#{pipeline}", "SK": f"SENSOR#{key}", "data": data}
        self._tables.put_item(TableName=NAMES.control, Item=_marshalled(row))

    # --- what is there

    def row(self, table: str, pipeline: str, sort_key: str) -> Row | None:
        key = _marshalled({"PK": f"PIPELINE#{pipeline}", "SK": sort_key})
        found = self._tables.get_item(TableName=table, Key=key, ConsistentRead=True)
        return _plain(found["Item"]) if "Item" in found else None

    def rows(self, table: str, pipeline: str, prefix: str = "") -> list[Row]:
        asked = {
            "TableName": table,
            "KeyConditionExpression": "PK = :pk",
            "ExpressionAttributeValues": {":pk": {"S": f"PIPELINE#{pipeline}"}},
            "ConsistentRead": True,
        }
        pages = self._tables.get_paginator("query").paginate(**asked)
        found = [_plain(item) for page in pages for item in page["Items"]]
        return [row for row in found if row["SK"].startswith(prefix)]

    def runs(self, pipeline: str) -> list[Row]:
        return self.rows(NAMES.control, pipeline, "TRIGGER#")

    def events(self, pipeline: str) -> list[Row]:
        """In the order in which they happened."""
        return [row for row in self.rows(NAMES.events, pipeline) if "eventType" in row]

    def story(self, pipeline: str) -> list[str]:
        """What became of its dates, but for a watchdog that was quicker than a slow machine."""
        types = [row["eventType"] for row in self.events(pipeline) if "date" in row]
        return [kind for kind in types if kind != "TRIGGER_RECOVERED"]

    def types(self, pipeline: str) -> list[str]:
        return [row["eventType"] for row in self.events(pipeline)]

    def entries(self) -> set[str]:
        """The names of the timers that Scheduler holds."""
        pages = self.emulator.client("scheduler").get_paginator("list_schedules")
        found = pages.paginate(GroupName=GROUP)
        return {each["Name"] for page in found for each in page["Schedules"]}

    def dead_letters(self) -> dict[str, list[str]]:
        queues = self.emulator.client("sqs")
        found = {}
        for name in DEAD_LETTERS:
            url = queues.get_queue_url(QueueName=f"{PREFIX}-{name}")["QueueUrl"]
            taken = queues.receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=0, WaitTimeSeconds=0
            )
            found[name] = [message["Body"] for message in taken.get("Messages", [])]
        return {name: bodies for name, bodies in found.items() if bodies}

    def executions(self) -> list[Row]:
        found = self.emulator.client("stepfunctions").list_executions(stateMachineArn=MACHINE)
        executions: list[Row] = found["executions"]
        return executions

    def history(self, execution: Row) -> list[Row]:
        asked = self.emulator.client("stepfunctions").get_paginator("get_execution_history")
        pages = asked.paginate(executionArn=execution["executionArn"])
        return [event for page in pages for event in page["events"]]

    # --- what is waited for

    def wait_for_event(self, pipeline: str, kind: str, count: int = 1) -> Row:
        """The last of several."""

        def found() -> list[Row]:
            events = [row for row in self.events(pipeline) if row["eventType"] == kind]
            return events if len(events) >= count else []

        return wait_for(found, f"{count} {kind} of {pipeline}", lambda: self.told(pipeline))[-1]

    def wait_for_run(self, pipeline: str, status: str, attempt: int = 0) -> Row:
        def found() -> list[Row]:
            return [
                run
                for run in self.runs(pipeline)
                if run["status"] == status and run["attempt"] == attempt
            ]

        what = f"attempt {attempt} of {pipeline} {status}"
        return wait_for(found, what, lambda: self.told(pipeline))[0]

    def told(self, pipeline: str) -> str:
        """Everything that may explain why something did not come."""
        parts = {
            "runs": self.runs(pipeline),
            "events": [
                f"{row['eventType']}: {row.get('message')}" for row in self.events(pipeline)
            ],
            "executions": [(each["name"], each["status"]) for each in self.executions()],
            "entries": sorted(self.entries()),
            "dead letters": self.dead_letters(),
        }
        shown = [
            f"{name}: {json.dumps(part, default=str, indent=1)}" for name, part in parts.items()
        ]
        return "\n".join([*shown, self.logs(), self.emulator.log.read_text()[-4000:]])

    def logs(self, last: int = 15) -> str:
        """The last lines of each function; 0 for all of them."""
        logs, lines = self.emulator.client("logs"), []
        for group in self._log_groups():
            pages = logs.get_paginator("filter_log_events").paginate(logGroupName=group)
            found = [event["message"].rstrip() for page in pages for event in page["events"]]
            lines += [f"{group}: {line}" for line in found[-last:]]
        return "\n".join(lines)

    def left(self) -> list[str]:
        """What is still there under our names."""
        ask = self.emulator.client
        found = [
            *ask("dynamodb").list_tables()["TableNames"],
            *(each["FunctionName"] for each in ask("lambda").list_functions()["Functions"]),
            *ask("sqs").list_queues().get("QueueUrls", []),
            *(each["Name"] for each in ask("events").list_event_buses()["EventBuses"]),
            *(each["Name"] for each in ask("events").list_rules()["Rules"]),
            *(each["name"] for each in ask("stepfunctions").list_state_machines()["stateMachines"]),
            *(each["Name"] for each in ask("scheduler").list_schedule_groups()["ScheduleGroups"]),
            *(each["RoleName"] for each in ask("iam").list_roles()["Roles"]),
            *(each["AlarmName"] for each in ask("cloudwatch").describe_alarms()["MetricAlarms"]),
            *self._log_groups(),
        ]
        return [name for name in found if PREFIX in name]

    def _log_groups(self) -> list[str]:
        found = self.emulator.client("logs").describe_log_groups(
            logGroupNamePrefix=f"/aws/lambda/{PREFIX}"
        )
        return [group["logGroupName"] for group in found["logGroups"]]

    @property
    def _tables(self) -> Any:
        return self.emulator.client("dynamodb")


def function_arn(name: str) -> str:
    return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"


def machine_definition() -> str:
    """Our file, as it is deployed."""
    return render(
        {
            "orchestrator_arn": function_arn(f"{PREFIX}-{Function.ORCHESTRATOR}"),
            "sla_monitor_arn": function_arn(f"{PREFIX}-{Function.SLA_MONITOR}"),
            "sfn_timeout_seconds": 14400,
            "trigger_max_attempts": 3,
        }
    )


def _marshalled(row: Row) -> Row:
    return {name: TypeSerializer().serialize(value) for name, value in row.items()}


def _plain(item: Row) -> Row:
    return {name: TypeDeserializer().deserialize(value) for name, value in item.items()}
