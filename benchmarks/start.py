"""Start: how long a user waits for `serve` to be ready, `--help`, importing the package, validating files.

    python -m benchmarks.start

Each figure comes from fresh processes, as a user would see it.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.figures import spread, tell
from benchmarks.served import serving

TARGET = "serve 1 s; help 150 ms; import 50 ms"

_FILE = """\
pipeline:
  id: orders-{number:04}
  owner: data-platform
  description: Cleans the orders of shop {number}.
  tags: {{team: orders, tier: silver}}
schedule:
  cron: "{minute} 6 * * *"
  timezone: Europe/Berlin
  trigger: {{key: orders-landed, check: gte, field: count, value: {number}}}
  exclude: {{weekends: true, dates: [2026-12-24, 2026-12-31]}}
  evaluation: {{window: 2h, interval: 5m}}
sla: {{deadline: 10:00, expectedDuration: 30m}}
validation:
  trigger: ALL
  rules:
    - {{key: orders-landed, check: gte, field: count, value: 1000}}
    - {{key: orders-landed, check: age_lt, field: updatedAt, value: 6h}}
    - {{key: customers-landed, check: equals, field: status, value: complete}}
job:
  type: glue
  config:
    jobName: silver-orders-{number}
    arguments: {{--shop: {number}, --mode: full}}
  maxRetries: 2
postRun:
  driftThreshold: 100
  rules:
    - {{key: orders-audit, check: gte, field: count, value: 1000}}
"""


def main() -> None:
    empty = _times(["-c", "pass"], 15)
    figures = {
        "serve": spread([_serve() for _ in range(5)]),
        "help": spread(_times(["-m", "interlock", "--help"], 15)),
        "import": spread(_without(_times(["-c", "import interlock"], 15), empty)),
        "validate 1,000 files": spread(_validate(1000, runs=5)),
    }
    line = "; ".join(
        f"{name} {each['p50']:,.0f} ms (p95 {each['p95']:,.0f}, n {each['n']})"
        for name, each in figures.items()
    )
    tell("start", TARGET, line, unit="ms", figures=figures, python_alone=spread(empty))


def _serve() -> float:
    """Milliseconds until a server over ten files is ready."""
    files = {f"orders-{n:04}": _FILE.format(number=n, minute=n) for n in range(10)}
    with serving(files) as server:
        return server.seconds_to_ready * 1000


def _validate(files: int, runs: int) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        pipelines = Path(folder, "pipelines")
        pipelines.mkdir()
        for number in range(files):
            text = _FILE.format(number=number, minute=number % 60)
            (pipelines / f"orders-{number:04}.yaml").write_text(text)
        return _times(["-m", "interlock", "validate", folder], runs)


def _times(arguments: list[str], runs: int) -> list[float]:
    """Milliseconds of each run, after one that warms the disk."""
    taken = []
    for _ in range(runs + 1):
        begin = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        taken.append((time.perf_counter() - begin) * 1000)
    return taken[1:]


def _without(times: list[float], empty: list[float]) -> list[float]:
    """The time on top of starting Python."""
    base = statistics.median(empty)
    return [max(0.0, each - base) for each in times]


if __name__ == "__main__":
    main()
