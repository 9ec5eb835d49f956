"""Shop: the real `interlock serve` with pipelines that wait, run and follow each other."""

import itertools
import json
from pathlib import Path

from wiring.served import Served, eventually

DAY = "2026-03-03"

_ORDERS = """
pipeline: {{id: {name}, owner: orders-team, tags: {{tier: "1"}}}}
schedule:
  trigger: {{key: landed, check: exists}}
  evaluation: {{window: 1h, interval: 1s}}
sla: {{maxDuration: 2h, expectedDuration: 10m}}
validation: {{rules: [{{key: landed, check: gte, field: count, value: 1000}}]}}
job:
  type: command
  config: {{command: [/bin/sh, -c, "echo done"]}}
  maxManualReruns: 3
"""
_REPORT = """
pipeline: {{id: {name}-report, owner: orders-team}}
schedule: {{trigger: {{pipeline: {name}}}}}
validation: {{rules: [{{key: "pipeline:{name}", check: exists}}]}}
job: {{type: command, config: {{command: [/bin/sh, -c, "echo report"]}}}}
"""


class Shop:
    """Tests share the server, never a pipeline."""

    def __init__(self, folder: Path) -> None:
        (folder / "pipelines").mkdir()
        self._numbers = itertools.count()
        self.served = Served(folder).start()
        address = json.loads((folder / ".interlock" / "serve.json").read_text())
        self.url: str = address["url"]
        self.token: str = address["token"]

    def new_pipeline(self, beginning: str = "orders") -> str:
        """Its name; its rules want a count of 1,000. A report follows it."""
        name = f"{beginning}-{next(self._numbers)}"
        folder = self.served.project / "pipelines"
        (folder / f"{name}.yaml").write_text(_ORDERS.format(name=name))
        (folder / f"{name}-report.yaml").write_text(_REPORT.format(name=name))
        eventually(lambda: self._knows(f"{name}-report") and self._knows(name), "in force")
        return name

    def new_job(self, script: str, reruns: int = 3) -> str:
        """The name of a pipeline that runs a script in its project; it has no report."""
        name = f"job-{next(self._numbers)}"
        text = _ORDERS.format(name=name).replace('"echo done"', json.dumps(script))
        text = text.replace("maxManualReruns: 3", f"maxManualReruns: {reruns}")
        (self.served.project / "pipelines" / f"{name}.yaml").write_text(text)
        eventually(lambda: self._knows(name), "in force")
        return name

    def put(self, name: str, count: object, day: str = DAY) -> None:
        self.served.put(name, f"landed#{day}", count=count)

    def reaches(self, name: str, status: str, day: str = DAY) -> None:
        """Waits until its run has this status."""
        eventually(lambda: self.served.runs().get((name, day)) == status, status)

    def finish(self, name: str, day: str = DAY) -> None:
        """A run that is done, and its report."""
        self.put(name, 4200, day)
        done = {(name, day): "COMPLETED", (f"{name}-report", day): "COMPLETED"}
        eventually(lambda: done.items() <= self.served.runs().items(), "done")

    def close(self) -> None:
        self.served.close()

    def _knows(self, name: str) -> bool:
        items = self.served.ask("GET", "/api/v1/pipelines?limit=1000")["items"]
        return name in {each["id"] for each in items}
