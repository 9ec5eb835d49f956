"""Load: half of what `ingest` achieves, for a long time, while runs complete.

    python -m benchmarks.load [--minutes N] [--rate N]

One reading in a hundred opens a run, whose job ends at once. The goal: no errors, memory that does not
grow, and responses that stay quick. Memory is the slope of a line through the second half.
"""

import argparse
import sqlite3
import statistics
import threading
import time
from datetime import date, timedelta

from benchmarks.figures import tell
from benchmarks.served import Client, Server, serving

TARGET = "no error, flat, p99 <= 250 ms"
CLIENTS = 4
ONE_IN = 100
_EVERY = 5.0
_FIRST = date(1970, 1, 1)

_FILE = """
pipeline: {id: orders}
schedule: {trigger: {key: landed, check: equals, field: status, value: done}}
validation: {rules: [{key: landed, check: equals, field: status, value: done}]}
job: {type: command, config: {command: ["true"]}}
"""


class Clients:
    """Each client keeps to its share of the rate, and records the time of every response."""

    def __init__(self, server: Server, rate: float) -> None:
        self.taken: list[float] = []
        self.errors = self.opened = 0
        self._pause = CLIENTS / rate
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._put_all, args=(server.client(), n))
            for n in range(CLIENTS)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _put_all(self, client: Client, number: int) -> None:
        due, n = time.perf_counter(), number
        while not self._stop.wait(max(0.0, due - time.perf_counter())):
            due = max(due + self._pause, time.perf_counter() - 1)
            n += CLIENTS
            is_done = n % ONE_IN == 0
            key = (
                f"landed#{_FIRST + timedelta(days=n // ONE_IN)}" if is_done else f"other-{n % 5000}"
            )
            self._put(client, key, b'{"status": "done"}' if is_done else b'{"status": "loading"}')
            self.opened += is_done

    def _put(self, client: Client, key: str, body: bytes) -> None:
        began = time.perf_counter()
        try:
            client.put("orders", key, body)
        except (OSError, RuntimeError):
            with self._lock:
                self.errors += 1
        self.taken.append(time.perf_counter() - began)


def main(minutes: float, rate: float) -> None:
    with serving({"orders": _FILE}) as server:
        clients, memory = Clients(server, rate), []
        until = time.monotonic() + 60 * minutes
        while time.monotonic() < until:
            memory.append((time.monotonic() / 60, server.megabytes()))
            time.sleep(_EVERY)
        clients.stop()
        completed = _completed(server, clients.opened)
    half = memory[len(memory) // 2 :]
    slope = statistics.linear_regression(*zip(*half, strict=True)).slope
    p99 = statistics.quantiles(clients.taken, n=100)[98] * 1000
    count = len(clients.taken)
    line = (
        f"{minutes:g} minutes, {count:,} readings at {count / 60 / minutes:,.0f} a second:"
        f" {clients.errors} errors, {completed:,} of {clients.opened:,} runs completed,"
        f" p99 {p99:.0f} ms, {slope:+.2f} MB a minute"
    )
    tell("load", TARGET, line, readings=count, errors=clients.errors, p99_ms=p99, slope=slope)


def _completed(server: Server, wanted: int) -> int:
    """How many runs are done, after some time for the last of them."""
    path, done = server.project / ".interlock" / "interlock.db", 0
    for _ in range(600):
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
            query = "SELECT count(*) FROM runs WHERE status = 'COMPLETED'"
            done = int(store.execute(query).fetchone()[0])
        if done >= wanted:
            break
        time.sleep(0.1)
    return done


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--rate", type=float, default=700)
    given = parser.parse_args()
    main(given.minutes, given.rate)
