"""Homes: local stores of a given size, for benchmarks that need history or many waiting runs."""

import resource
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from interlock.adapters.jobs.by_pipeline import JobsByPipeline
from interlock.adapters.sqlite.backup import back_up
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.store import Store
from interlock.domain import canonical
from interlock.domain.config import Wanted
from interlock.domain.opening import Opening
from interlock.domain.run import OpenedBy, RunKey
from interlock.domain.sensor import Reading
from interlock.files import load_text
from interlock.runtime.execution_engine import Engine
from interlock.runtime.loop import Runtime
from interlock.simulation.scripted_jobs import ScriptedJobs
from interlock.simulation.virtual_clock import VirtualClock
from interlock.usecases.adopt_config import adopt_config
from interlock.usecases.open_run import open_run
from interlock.usecases.ports import Ports

START = datetime(2026, 3, 3, 8, tzinfo=UTC)

_PIPELINE = """
pipeline: {{id: p{n:05}}}
schedule:
  {schedule}
  evaluation: {{window: 3h, interval: 5m}}
sla: {{deadline: "23:00", expectedDuration: 30m}}
validation: {{rules: [{{key: landed, check: gte, field: count, value: 1000}}]}}
job: {{type: command, config: {{command: [etl]}}}}
"""


class PeakMemory:
    """How much more memory the process has used since."""

    def __init__(self) -> None:
        self._before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def megabytes(self) -> float:
        return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - self._before) / 1024


@contextmanager
def home(path: Path | str) -> Iterator[tuple[Store, Ports, Runtime]]:
    """A controller over a store, on a clock that stands still."""
    clock = VirtualClock(START)
    with Database(str(path)) as database:
        store = Store(database, clock)
        ports = Ports(
            clock=clock,
            pipelines=store.pipelines,
            sensors=store.sensors,
            runs=store.runs,
            job_log=store.job_log,
            reruns=store.reruns,
            backfills=store.backfills,
            events=store.events,
            outbox=store.outbox,
            claims=store.claims,
            timers=store.timers,
            workflows=store.workflows,
            jobs=JobsByPipeline(ScriptedJobs({}, clock)),
            watch=store.watch,
            unreadable=store.unreadable,
        )
        yield store, ports, Runtime(store, ports, timedelta(minutes=5))


def stored(path: Path, fill: Callable[[Store, Ports], None]) -> None:
    """Fill a store in memory, which does not wait for the disk, and write it to a file."""
    with home(":memory:") as (store, ports, _):
        fill(store, ports)
        back_up(store.database, path)


def pipelines_file(store: Store, ports: Ports, count: int) -> None:
    """Declare and adopt that many pipelines: seven of ten by the day, three by the hour."""
    adopt(store, ports, map(_text, range(count)))


def _text(n: int) -> str:
    trigger = "trigger: {key: landed, check: exists}"
    schedule = f'cron: "{n % 60} * * * *"' if n % 10 < 3 else trigger
    return _PIPELINE.format(n=n, schedule=schedule).replace("{{", "{")


def adopt(store: Store, ports: Ports, texts: Iterable[str]) -> None:
    """Declare and adopt the pipelines of these files."""
    for text in texts:
        loaded = load_text(text)
        assert loaded.pipeline is not None, loaded.problems
        config = canonical.as_json(loaded.pipeline)
        digest = canonical.content_hash(config)
        store.pipelines.want(Wanted(loaded.pipeline.id, config, digest, ports.clock()))
        adopt_config(loaded.pipeline.id, ports)


def sleeping_runs(store: Store, ports: Ports, count: int) -> None:
    """Open that many runs whose rules don't hold, and let each wait."""
    engine = Engine(store.workflows, ports)
    configs = store.pipelines.in_force()
    for n in range(count):
        config = configs[n % len(configs)]
        day = START + timedelta(days=n // len(configs))
        schedule = config.pipeline.schedules[0].id
        key = RunKey(config.pipeline.id, schedule, f"{day:%Y-%m-%d}")
        reading = Reading(config.pipeline.id, f"landed#{key.date}", {"count": 1}, START)
        store.sensors.put(reading)
        run = open_run(Opening(key, OpenedBy.SENSOR, "landed", START, reading), config, ports)
        engine.advance(run.execution_name)
