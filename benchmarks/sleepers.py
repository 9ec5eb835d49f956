"""Sleepers: ten thousand runs wait; the process is killed; how long until all are active again."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from benchmarks.figures import tell
from benchmarks.homes import PeakMemory, home, pipelines_file, sleeping_runs

RUNS = 10_000


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "interlock.db"
        _killed_asleep(path)
        empty = _live_again(Path(folder) / "empty.db")
        full = _live_again(path)
    more = full["megabytes"] - empty["megabytes"]
    line = f"{full['seconds']:.2f} s until {full['waiting']:.0f} are live, {more:.1f} MB more"
    tell("sleepers", "<= 1 s, <= 20 MB more", line, full=full, empty=empty)


def _killed_asleep(path: Path) -> None:
    """A child fills the store with waiting runs and is killed as soon as they wait."""
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.sleepers", "fill", str(path)], stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    child.stdout.readline()
    os.kill(child.pid, signal.SIGKILL)
    child.wait()


def _live_again(path: Path) -> dict[str, float]:
    """Measured in a separate process, from opening the file until the runtime has looked at all runs."""
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.sleepers", "wake", str(path)],
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    ).stdout.split()
    return {"seconds": float(told[0]), "megabytes": float(told[1]), "waiting": float(told[2])}


def _fill(path: Path) -> None:
    with home(path) as (store, ports, _):
        pipelines_file(store, ports, 100)
        sleeping_runs(store, ports, RUNS)
        print("asleep", flush=True)
        signal.pause()


def _wake(path: Path) -> None:
    memory = PeakMemory()
    start = perf_counter()
    with home(path) as (store, _, runtime):
        runtime.next_due()
        seconds = perf_counter() - start
        waiting = store.database.read(
            lambda connection: connection.execute(
                "SELECT count(*) FROM executions WHERE status = 'RUNNING'"
            ).fetchone()[0]
        )
        print(seconds, memory.megabytes(), waiting)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["fill", place]:
            _fill(Path(place))
        case ["wake", place]:
            _wake(Path(place))
        case _:
            main()
