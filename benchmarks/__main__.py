"""Run every benchmark and store its result: `make bench`, or `python -m benchmarks [--short] [NAME...]`.

With `--short` each benchmark is only tried, and nothing is stored.
"""

import json
import subprocess
import sys
from datetime import UTC, datetime

from benchmarks.kept import LATEST, ROOT, Row, keep

#: In the order of the table, each with its arguments: normally, and with `--short`.
BENCHMARKS: dict[str, tuple[list[str], list[str]]] = {
    "latency": ([], ["--short"]),
    "ingest": ([], ["--short"]),
    "load": (["--minutes", "3"], ["--minutes", "0.5"]),  # on its own it takes half an hour
    "idle": ([], ["--short"]),
    "start": ([], []),
    "sleepers": ([], []),
    "watchdog": ([], []),
    "breaches": ([], ["1000"]),
    "pages": ([], []),
    "rules": ([], []),
    "simulate": ([], []),
    "coldstart": ([], []),
    "aws_cost": ([], []),
    "aws_watchdog": ([], []),
}


def main(*given: str) -> int:
    short = "--short" in given
    names = [name for name in given if name != "--short"] or list(BENCHMARKS)
    rows = [row for name in names for row in _rows(name, short)]
    if not short:
        keep(rows, tuple(BENCHMARKS))
        print(f"\n{len(rows)} of {len(names)} kept in {LATEST.relative_to(ROOT)} and the README")
    return 0 if len(rows) == len(names) else 1


def _rows(name: str, short: bool) -> list[Row]:
    """Empty for a failed benchmark: its last figures stay, with their date."""
    print(f"... {name}", flush=True)
    command = [sys.executable, "-m", f"benchmarks.{name}", *BENCHMARKS[name][short]]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    print(done.stdout, end="", flush=True)
    if done.returncode:
        print(f"{name} FAILED with exit code {done.returncode}", flush=True)
        return []
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    return [Row(each["benchmark"], each["target"], each["line"], day) for each in told]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
