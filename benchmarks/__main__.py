"""Run every benchmark and keep what it said: `make bench`, or `python -m benchmarks NAME...`."""

import json
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "LATEST.md"
NAMES = (
    "coldstart",
    "start",
    "rules",
    "simulate",
    "sleepers",
    "watchdog",
    "latency",
    "ingest",
    "idle",
    "pages",
    "aws_cost",
    "aws_watchdog",
)


def main(names: list[str]) -> None:
    present = [n for n in names or NAMES if Path(__file__).with_name(f"{n}.py").exists()]
    rows = [row for name in present for row in _rows(name)]
    machine = f"Python {platform.python_version()}, {platform.machine()}, two cores"
    head = f"# Benchmarks\n\nMeasured {datetime.now(UTC):%Y-%m-%d} on {machine}.\n\n"
    table = "| benchmark | to reach | measured |\n|---|---|---|\n" + "\n".join(rows) + "\n"
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(head + table)
    print(f"\nwritten to {RESULTS.relative_to(Path.cwd())}")


def _rows(name: str) -> list[str]:
    print(f"... {name}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}"], stdout=subprocess.PIPE, text=True, check=False
    )
    print(done.stdout, end="", flush=True)
    if done.returncode:
        return [f"| {name} | | failed with exit code {done.returncode} |"]
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return [f"| {each['benchmark']} | {each['target']} | {each['line']} |" for each in told]


if __name__ == "__main__":
    main(sys.argv[1:])
