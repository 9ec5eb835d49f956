"""Place: a project folder whose state file holds things that happened in the last hours.

The controller that made them happen is the real one, with scripted jobs and a clock of its own; the
commands under test then look at the file with the clock of the machine.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from declared import document
from interlock.cli import app
from interlock.domain import canonical
from interlock.domain.config import Wanted
from interlock.files import load_text
from interlock.runtime.loop import Runtime
from interlock.simulation.scenario import JobScript
from interlock.simulation.scripted_jobs import ScriptedJobs
from interlock.simulation.virtual_clock import VirtualClock
from interlock.usecases.put_reading import put_reading
from interlock.wiring.local_backend import LocalBackend, open_local_backend
from interlock.wiring.settings import read_settings

ORDERS = """\
pipeline: {id: silver-orders, owner: orders-team}
schedule:
  trigger: {key: orders, check: exists}
  evaluation: {window: 3h, interval: 5m}
validation: {rules: [{key: orders, check: gte, field: count, value: 1000}]}
sla: {maxDuration: 4h, expectedDuration: 1h}
job: {type: command, config: {command: ["true"]}}
"""
CADENCE = timedelta(minutes=5)


class Place:
    """A folder, and a controller that can be put to work in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = read_settings(folder, {})
        self.now = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=2)
        self.today = self.now.date().isoformat()
        self.scripts: dict[str, tuple[JobScript, ...]] = {}
        self._clock = VirtualClock(self.now)
        self._jobs = ScriptedJobs(self.scripts, self._clock)

    @property
    def state(self) -> Path:
        return self.settings.database

    def declare(self, text: str = ORDERS) -> None:
        """Write a pipeline file, and bring it into force."""
        text = document(text)
        loaded = load_text(text, year=2026)
        assert loaded.pipeline is not None, loaded.errors
        path = self.folder / "pipelines" / f"{loaded.pipeline.id}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        config = canonical.as_json(loaded.pipeline)
        wanted = Wanted(loaded.pipeline.id, config, canonical.content_hash(config), self.now)
        self.happen(lambda home: home.store.pipelines.want(wanted))

    def put(self, key: str = "orders", pipeline: str = "silver-orders", **fields: Any) -> None:
        """A reading, and everything that follows from it at once."""
        fields = {"date": self.today, **fields}
        self.happen(lambda home: put_reading(pipeline, key, fields, home.ports))

    def wait(self, **span: float) -> None:
        """Time passes, and the controller does what falls due."""
        self.happen(lambda home: None, timedelta(**span))

    def catch_up(self) -> None:
        """Up to the machine's clock if that is ahead, so that the watchdog has just passed."""
        self.wait(seconds=max(0.0, (datetime.now(UTC) - self.now).total_seconds()))

    def happen(self, act: Callable[[LocalBackend], object], span: timedelta = timedelta()) -> None:
        clock = self._clock
        with open_local_backend(self.settings, clock=clock) as home:
            ports = replace(home.ports, jobs=self._jobs)
            runtime = Runtime(home.store, ports, CADENCE)
            act(home)
            runtime.settle()
            until = self.now + span
            while clock.now < until:
                clock.now = min(until, clock.now + timedelta(minutes=1))
                runtime.settle()
            self.now = clock.now

    def run(self, *arguments: str, **environment: str) -> Result:
        """A command in this folder, in a terminal of 80 columns."""
        return CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1", **environment}).invoke(
            app, ["--project", str(self.folder), *arguments], catch_exceptions=True
        )

    def shown(self, *arguments: str, code: int = 0, **environment: str) -> str:
        """What a command prints; no line is wider than the terminal."""
        result = self.run(*arguments, **environment)
        assert result.exit_code == code, (result.output, result.exception)
        wide = [line for line in result.stdout.splitlines() if len(line) > 80]
        assert not wide, wide
        return result.output

    def json(self, *arguments: str, code: int = 0, **environment: str) -> Any:
        result = self.run(*arguments, "--json", **environment)
        assert result.exit_code == code, (result.output, result.exception)
        return json.loads(result.stdout)
