"""Watchdog: one pass over 10,000 pipelines and 10,000 active runs, with and without a million past rows."""

import sqlite3
import tempfile
from datetime import timedelta
from pathlib import Path

from benchmarks.figures import spread, tell, timed
from benchmarks.homes import home, pipelines_file, sleeping_runs, stored
from interlock.adapters.sqlite.store import Store
from interlock.usecases.ports import Ports
from interlock.usecases.watch import watch

PIPELINES = 10_000
ACTIVE = 10_000
PAST = 1_000_000
EVERY = timedelta(minutes=5)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "interlock.db"
        stored(path, _fill)
        with home(path) as (store, ports, _):
            young = _passes(ports)
            store.database.write(_past)
            old = _passes(ports)
    ratio = old["p50"] / young["p50"]
    line = f"{young['p50']:.2f} s without history, {old['p50']:.2f} s with 1,000,000 rows: x{ratio:.2f}"
    tell("watchdog", "<= 1 s, ratio <= 1.2", line, young=young, old=old, ratio=ratio)


def _fill(store: Store, ports: Ports) -> None:
    pipelines_file(store, ports, PIPELINES)
    sleeping_runs(store, ports, ACTIVE)


def _passes(ports: Ports) -> dict[str, float]:
    """The first pass warms the caches of the process; it is not counted."""
    times = []
    for _ in range(6):
        times.append(timed(lambda: _pass(ports)))
        ports.clock.now += EVERY  # type: ignore[attr-defined] # the clock of a benchmark can be moved
    return spread(times[1:])


def _pass(ports: Ports) -> None:
    report = watch(EVERY, ports)
    assert report is not None and not report.failures, report


def _past(connection: sqlite3.Connection) -> None:
    """Finished runs and readings of earlier years, copied from an existing one."""
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        " INSERT INTO runs (pipeline, schedule, date, dry, status, version, attempt,"
        " execution_name, opened_at, watch_at, expires_at, run)"
        " SELECT printf('p%05d', i % 10000), 'past', date('2000-01-01', printf('+%d days', i / 10000)),"
        " 0, 'COMPLETED', 9, 0, printf('past-%d', i), i, NULL, NULL,"
        " (SELECT run FROM runs LIMIT 1) FROM n",
        (PAST // 2 - 1,),
    )
    connection.execute(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
        " INSERT INTO sensors (pipeline, key, reading, content, received_at)"
        " SELECT printf('p%05d', i % 10000),"
        " 'landed#' || date('2000-01-01', printf('+%d days', i / 10000)),"
        " (SELECT reading FROM sensors LIMIT 1), 'x', i FROM n",
        (PAST // 2 - 1,),
    )


if __name__ == "__main__":
    main()
