"""AWS cost: what one successful run uses: state transitions, requests, invocations.

Runs the deployed functions on stand-ins of the services and a virtual clock, so the numbers are exact.
"""

import contextlib
import io
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.figures import tell

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from aws.cloud import Cloud
from interlock.simulation.scenario import load_scenario

_BEGINS = datetime(2026, 3, 3, 8, 5, tzinfo=UTC)
_STORY = """
name: one run
start: 2026-03-03T08:00:00Z
until: 2026-03-03T10:30:00Z
watchdog: 1d
pipelines:
  - pipeline: {{id: silver-orders}}
    schedule: {{trigger: {{key: orders, check: exists}}, evaluation: {{window: 1h, interval: 5m}}}}
    validation: {{rules: [{{key: orders, check: gte, field: count, value: 1000}}]}}
    job: {{type: command, config: {{command: [etl]}}}}
jobs:
  silver-orders: [{{after: {minutes}m}}]
timeline:
  - {{at: 2026-03-03T08:10:00Z, sensor: {{pipeline: silver-orders, key: orders, data: {{count: 10}}}}}}
  - {{at: 2026-03-03T08:19:00Z, sensor: {{pipeline: silver-orders, key: orders, data: {{count: 2000}}}}}}
expect:
  - {{run: {{pipeline: silver-orders, date: 2026-03-03}}, status: COMPLETED}}
"""


class _Counted:
    """Counts the requests that a function makes while it is called, from the first reading on."""

    def __init__(self, client: Any, service: str, meter: "_Meter") -> None:
        self._client, self._service, self._meter = client, service, meter

    def __getattr__(self, operation: str) -> Any:
        self._meter.count(self._service, operation)
        return getattr(self._client, operation)


class _Meter:
    """Requests by purpose of the call, service and operation."""

    def __init__(self) -> None:
        self.calls: Counter[tuple[str, str, str]] = Counter()
        self.cloud: Cloud | None = None

    def count(self, service: str, operation: str) -> None:
        if self.cloud is not None and self.cloud.at_work and self.cloud.now >= _BEGINS:
            self.calls[self.cloud.at_work, service, operation] += 1


def main() -> None:
    short, long = _measured(10), _measured(60)
    line = "; ".join(
        f"{each['minutes']} min job: {each['transitions']} transitions,"
        f" {each['calls']} DynamoDB calls + {each['aPoll']} a poll ({each['polls']} polls),"
        f" {each['invocations']} invocations"
        for each in (short, long)
    )
    target = "<= 65 transitions, 16 calls + 1 a poll; 1 h job <= 215 transitions"
    tell("aws_cost", target, line, short=short, long=long)


def _measured(minutes: int) -> dict[str, Any]:
    meter = _Meter()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "one-run.yaml"
        file.write_text(_STORY.format(minutes=minutes))
        cloud = meter.cloud = Cloud(
            load_scenario(file),
            wakes=False,
            wrap=lambda function, service, client: _Counted(client, service, meter),
            configs_kept=timedelta(seconds=60),
        )
    with contextlib.redirect_stdout(io.StringIO()):
        outcome = cloud.play()
    assert [run.status for run in outcome.runs] == ["COMPLETED"], outcome.runs
    return _figures(minutes, cloud, meter)


def _figures(minutes: int, cloud: Cloud, meter: _Meter) -> dict[str, Any]:
    table: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for (work, service, operation), number in meter.calls.items():
        if service == "dynamodb":
            table[f"{work}: {operation}"] += number
        else:
            others[f"{service}: {operation}"] += number
    polls = cloud.engine.tasks["check-job"]
    polling = {name: n for name, n in table.items() if name.startswith("check-job") and n >= polls}
    return {
        "minutes": minutes,
        "transitions": cloud.engine.transitions,
        "calls": table.total() - sum(polling.values()),
        "aPoll": round(sum(polling.values()) / polls, 2),
        "polls": polls,
        "invocations": cloud.engine.calls + cloud.routed - 1,  # the config's was before
        "operations": dict(table),
        "others": dict(others),
    }


if __name__ == "__main__":
    main()
