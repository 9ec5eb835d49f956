"""Gallery: an installation on which something has happened, to look at."""

from datetime import datetime, timedelta
from pathlib import Path

from aws.cloud import Cloud
from aws.functions import ENVIRONMENT
from aws.homes import NAMES, REGION, Services
from interlock.adapters.aws.store import Store
from interlock.domain.event import Event
from interlock.simulation.scenario import parse_scenario
from interlock.simulation.virtual_clock import VirtualClock

VARIABLES = (
    "CONTROL_TABLE", "JOBLOG_TABLE", "RERUN_TABLE", "EVENTS_TABLE", "EVENT_BUS_NAME",
    "STATE_MACHINE_ARN", "SFN_TIMEOUT_SECONDS", "SCHEDULER_GROUP_NAME", "SCHEDULER_ROLE_ARN",
    "UNDELIVERED_QUEUE_ARN", "SLA_MONITOR_ARN", "STREAM_ROUTER_ARN", "ENVIRONMENT",
)  # fmt: skip

#: `orders` is done and its report too; `bronze` waits for its rules; `broken` has failed for good.
STORY = """
name: something has happened
start: {start:%Y-%m-%dT%H:%M:%SZ}
until: {now:%Y-%m-%dT%H:%M:%SZ}
pipelines:
  - pipeline: {{id: orders, owner: orders-team}}
    schedule: {{trigger: {{key: landed, check: exists}}}}
    sla: {{maxDuration: 2h, expectedDuration: 10m}}
    validation: {{rules: [{{key: landed, check: gte, field: count, value: 1000}}]}}
    job: {{type: command, config: {{command: [etl]}}}}
  - pipeline: {{id: report}}
    schedule: {{trigger: {{pipeline: orders}}}}
    validation: {{rules: [{{key: "pipeline:orders", check: exists}}]}}
    job: {{type: command, config: {{command: [etl]}}}}
  - pipeline: {{id: bronze}}
    schedule: {{trigger: {{key: landed, check: exists}}, evaluation: {{window: 20h, interval: 5m}}}}
    validation: {{rules: [{{key: landed, check: gte, field: count, value: 1000}}]}}
    job: {{type: command, config: {{command: [etl]}}}}
  - pipeline: {{id: broken}}
    schedule: {{trigger: {{key: landed, check: exists}}}}
    validation: {{rules: [{{key: landed, check: exists}}]}}
    job: {{type: command, config: {{command: [etl]}}}}
jobs:
  orders: [{{after: 10m, result: success}}]
  report: [{{after: 5m, result: success}}]
  broken: [{{after: 5m, result: fail, category: PERMANENT, error: no such table}}]
timeline:
  - {{at: +1h, sensor: {{pipeline: orders, key: landed, data: {{count: 4200, date: "{day}"}}}}}}
  - {{at: +1m, sensor: {{pipeline: bronze, key: landed, data: {{count: 940, date: "{day}"}}}}}}
  - {{at: +1m, sensor: {{pipeline: broken, key: landed, data: {{count: 1, date: "{day}"}}}}}}
expect: [{{event: JOB_COMPLETED}}]
"""
#: How long the story lasts.
_SPAN = timedelta(hours=3)


class Gallery:
    """The tables after the story, and the clock at its end."""

    def __init__(self, now: datetime) -> None:
        self.now = now.replace(microsecond=0)
        self.day = f"{self.now - _SPAN:%Y-%m-%d}"
        text = STORY.format(start=self.now - _SPAN, now=self.now, day=self.day)
        cloud = Cloud(parse_scenario(text))
        self.outcome = cloud.play()
        self.services: Services = cloud._services
        self.clock: VirtualClock = cloud._clock
        self.store = Store(self.services.tables, NAMES, self.clock)

    def told(self, kind: str) -> Event:
        """The one event of that type."""
        (event,) = (each for each in self.outcome.events if each.type == kind)
        return event


def name_installation(project: Path) -> None:
    """Write the block that the Terraform module puts out."""
    lines = [f'{name.lower()} = "{ENVIRONMENT[name]}"' for name in VARIABLES]
    text = "\n".join(["[aws]", f'region = "{REGION}"', *lines])
    (project / "interlock.toml").write_text(text + "\n")
