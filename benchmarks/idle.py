"""Idle: what the server costs while nothing happens, with 10 and with 10,000 pipelines.

    python -m benchmarks.idle [--short]

Half of the pipelines have a cron; a few of them fire during the measurement, and none may be late.
"""

import sqlite3
import sys
import time
from datetime import UTC, datetime

from benchmarks.figures import tell
from benchmarks.served import Server, serving

TARGET = "<= 2 % of a core, none late; <= 80 MB with 10, <= 250 MB with 10,000"
LATE_SECONDS = 2.0

_SENSOR = """
pipeline: {{id: p{n:05}}}
schedule: {{trigger: {{key: landed, check: exists}}}}
validation: {{rules: [{{key: landed, check: gte, field: count, value: 10}}]}}
job: {{type: command, config: {{command: ["true"]}}}}
"""
_CRON = """
pipeline: {{id: p{n:05}}}
schedule: {{cron: "{cron}"}}
validation: {{rules: [{{key: landed, check: gte, field: count, value: 10}}]}}
job: {{type: command, config: {{command: ["true"]}}}}
"""


def main(many: int, seconds: float) -> None:
    few_cpu, few_mb, _, _, few_ready = _measure(10, seconds)
    cpu, megabytes, ticks, late, ready = _measure(many, seconds)
    line = (
        f"{cpu:.1f} % of a core, {late} of {ticks} ticks late, {megabytes:.0f} MB with {many:,}"
        f" pipelines (read in {ready:.0f} s); {few_cpu:.1f} %, {few_mb:.0f} MB with 10"
    )
    tell(
        "idle",
        TARGET,
        line,
        pipelines=many,
        seconds=seconds,
        cpu_percent=round(cpu, 2),
        megabytes=round(megabytes),
        ticks=ticks,
        late=late,
        ready_seconds=round(ready, 1),
        few_cpu_percent=round(few_cpu, 2),
        few_megabytes=round(few_mb),
        few_ready_seconds=round(few_ready, 2),
    )


def _measure(count: int, seconds: float) -> tuple[float, float, int, int, float]:
    """Percent of a core, megabytes, cron moments in that time, how many were late, time to ready."""
    with serving({f"p{n:05}": _file(n) for n in range(count)}) as server:
        _settle(server)
        since, before = datetime.now(UTC), server.cpu_seconds()
        began = time.perf_counter()
        time.sleep(seconds)
        took = time.perf_counter() - began
        cpu = (server.cpu_seconds() - before) / took * 100
        ticks, late = _ticks(server, since)
        return cpu, server.megabytes(), ticks, late, server.seconds_to_ready


def _file(n: int) -> str:
    """One cron in a thousand fires each minute, the others some time in the day."""
    if n % 2:
        return _SENSOR.format(n=n)
    cron = "* * * * *" if n % 1000 == 0 else f"{n % 60} {n // 60 % 24} * * *"
    return _CRON.format(n=n, cron=cron)


def _settle(server: Server) -> None:
    """Wait until the work after the start is done."""
    client = server.client()
    until = time.monotonic() + 600
    quiet = 0
    while quiet < 3 and time.monotonic() < until:
        before = server.cpu_seconds()
        time.sleep(2)
        busy = server.cpu_seconds() - before > 0.4 or client.figure("interlock_changes_waiting")
        quiet = 0 if busy else quiet + 1


def _ticks(server: Server, since: datetime) -> tuple[int, int]:
    """The cron moments of that time that opened a run, and how many of them were late."""
    path = server.project / ".interlock" / "interlock.db"
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
        rows = store.execute(
            "SELECT due_at, settled_at FROM timers"
            " WHERE kind = 'cron' AND state = 'fired' AND due_at >= ?",
            (int(since.timestamp() * 1_000_000),),
        ).fetchall()
    late = [1 for due, settled in rows if settled - due > LATE_SECONDS * 1_000_000]
    return len(rows), len(late)


if __name__ == "__main__":
    main(*((1000, 20.0) if "--short" in sys.argv else (10_000, 60.0)))
