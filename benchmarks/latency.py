"""Latency: from an accepted reading to the first line of its job.

    python -m benchmarks.latency [--short]

The real server with 100 pipelines. Each job is a shell that writes the time, so the figure includes the
start of its process. One reading at a time; then all pipelines at once.
"""

import sys
import threading
import time
from pathlib import Path

from benchmarks.figures import spread, tell
from benchmarks.served import Client, Server, serving

PIPELINES = 100
TARGET = "p50 <= 25 ms, p95 <= 60 ms"

_FILE = """
pipeline: {{id: p{n:03}}}
schedule:
  trigger: {{key: landed, check: exists}}
validation: {{rules: [{{key: landed, check: gte, field: count, value: 10}}]}}
job:
  type: command
  config: {{command: [/bin/sh, -c, "date +%s.%N > {{project}}/out-$INTERLOCK_PIPELINE-$INTERLOCK_LABEL"]}}
"""


def main(rounds: int) -> None:
    files = {f"p{n:03}": _FILE.format(n=n) for n in range(PIPELINES)}
    with serving(files) as server:
        client = server.client()
        for n in range(5):
            _one(server, client, f"p{n:03}", "2025-12-31")
        alone = [
            _one(server, client, f"p{n % PIPELINES:03}", f"2026-01-{1 + n // PIPELINES:02}")
            for n in range(rounds)
        ]
        together = _together(server)
    figures, crowd = spread(alone), spread(together)
    line = (
        f"p50 {figures['p50']:.1f} ms, p95 {figures['p95']:.1f} ms (n {len(alone)});"
        f" {PIPELINES} at once: p50 {crowd['p50']:.0f} ms, p95 {crowd['p95']:.0f} ms"
    )
    tell("latency", TARGET, line, unit="ms", alone=figures, together=crowd)


def _one(server: Server, client: Client, pipeline: str, date: str) -> float:
    """Milliseconds from the response to the start time that the job reports."""
    client.put(pipeline, f"landed#{date}", b'{"count": 12}')
    accepted = time.time()
    began = _began(server.project / f"out-{pipeline}-{date}")
    return max(0.0, began - accepted) * 1000


def _together(server: Server) -> list[float]:
    """Eight clients, every pipeline once."""
    found: list[float] = []
    accepted: dict[str, float] = {}

    def put(names: list[str]) -> None:
        client = server.client()
        for name in names:
            client.put(name, "landed#2026-02-28", b'{"count": 12}')
            accepted[name] = time.time()

    names = [f"p{n:03}" for n in range(PIPELINES)]
    threads = [threading.Thread(target=put, args=(names[n::8],)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in names:
        began = _began(server.project / f"out-{name}-2026-02-28")
        found.append(max(0.0, began - accepted[name]) * 1000)
    return found


def _began(path: Path) -> float:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            text = path.read_text()
        except FileNotFoundError:
            text = ""
        if text.endswith("\n"):
            return float(text)
        time.sleep(0.002)
    raise TimeoutError(f"{path} was not written")


if __name__ == "__main__":
    main(50 if "--short" in sys.argv else 300)
