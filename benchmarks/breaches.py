"""Breaches: ten thousand dates miss a deadline in the same minute; how long until each is published.

Half of them have a run that waits for its rules, and half have none. The timers are fired by one worker and
by the server's workers, side by side on copies of one store.
"""

import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from benchmarks.figures import tell, timed
from benchmarks.homes import START, adopt, home, sleeping_runs, stored
from interlock.adapters.sqlite.store import Store
from interlock.runtime.execution_engine import Engine
from interlock.runtime.loop import InlineRunner, Runtime, TaskRunner
from interlock.runtime.workers import Workers
from interlock.usecases.ports import Ports

COUNT = 10_000
DUE = START + timedelta(hours=1)
EVERY = timedelta(hours=6)

_PIPELINE = """
pipeline: {{id: p{n:05}}}
schedule:
  trigger: {{key: landed, check: exists}}
  dayOffset: 0
  evaluation: {{window: 3h, interval: 3h}}
sla: {{deadline: "09:00", expectedDuration: 5m}}
validation: {{rules: [{{key: landed, check: gte, field: count, value: 1000}}]}}
job: {{type: command, config: {{command: [etl]}}}}
"""


def main(count: int = COUNT) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, copy = Path(folder) / "interlock.db", Path(folder) / "copy.db"
        stored(path, lambda store, ports: _fill(store, ports, count))
        shutil.copy(path, copy)
        one = _seconds(copy, count, InlineRunner)
        served = _seconds(path, count, lambda engine: Workers(engine, lambda: None))
    line = (
        f"{served:.1f} s for {count} breaches with the server's workers,"
        f" {one:.1f} s with one worker: x{one / served:.1f}"
    )
    tell("breaches", "<= 20 s", line, served=served, one=one, ratio=one / served, count=count)


def _fill(store: Store, ports: Ports, count: int) -> None:
    """Declared the day before, so that today is expected; half of the readings arrived."""
    clock = ports.clock
    clock.now = START - timedelta(days=1)  # type: ignore[attr-defined] # that of a benchmark can be moved
    adopt(store, ports, (_PIPELINE.format(n=n) for n in range(count)))
    runtime = Runtime(store, ports, EVERY)
    runtime.settle()
    clock.now = START  # type: ignore[attr-defined] # as above
    sleeping_runs(store, ports, count // 2)
    runtime.settle()


def _seconds(path: Path, count: int, hands: Callable[[Engine], TaskRunner]) -> float:
    with home(path) as (store, ports, _):
        ports.clock.now = DUE  # type: ignore[attr-defined] # as above
        runtime = Runtime(store, ports, EVERY, hands=hands)
        seconds = timed(runtime.settle)
        told = store.database.read(_breaches)
    assert told == count, f"{told} of {count}"
    return seconds


def _breaches(connection: sqlite3.Connection) -> int:
    (found,) = connection.execute(
        "SELECT count(*) FROM events WHERE type = 'SLA_BREACH'"
    ).fetchone()
    return int(found)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
