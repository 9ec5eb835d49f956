"""Start: how long a newcomer waits. Importing the package, `--help`, and checking 1,000 files.

    python benchmarks/start.py

Each figure is taken from fresh processes, as a person would see it.
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TARGETS_MS = {"import": 50, "help": 150, "validate 1000 files": 3000}

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
    measured = {
        "python alone": empty,
        "import": _without(_times(["-c", "import interlock"], 15), empty),
        "help": _times(["-m", "interlock", "--help"], 15),
        "validate 1000 files": _validate(1000, runs=5),
    }
    figures = {name: _figures(times) for name, times in measured.items()}
    print(json.dumps({"benchmark": "start", "unit": "ms", "figures": figures}))
    for name, limit in TARGETS_MS.items():
        found = figures[name]["p50"]
        verdict = "reached" if found <= limit else "MISSED"
        print(
            f"{name}: {found:.0f} ms (p95 {figures[name]['p95']:.0f}), at most {limit}: {verdict}"
        )


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
    """What comes on top of starting Python."""
    base = statistics.median(empty)
    return [max(0.0, each - base) for each in times]


def _figures(times: list[float]) -> dict[str, float]:
    ordered = sorted(times)
    return {
        "p50": round(statistics.median(ordered), 1),
        "p95": round(ordered[int(0.95 * (len(ordered) - 1))], 1),
        "n": len(ordered),
    }


if __name__ == "__main__":
    main()
