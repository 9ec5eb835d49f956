"""Ingest: durable readings per second over HTTP, from 1 and 8 clients, and in batches of 1,000.

    python -m benchmarks.ingest [--short]

Clients are separate processes: on two cores they compete with the server. Afterwards every reading is
looked up in the store, and the raw speed of a durable write is measured in the same minute.
"""

import json
import multiprocessing
import sqlite3
import statistics
import sys
import time
from multiprocessing.queues import Queue
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from benchmarks.figures import tell
from benchmarks.served import Client, Server, serving

TARGET = "2,000 / 5,000 / 50,000 a second, none lost"
BATCH = 1000

_FILE = """
pipeline: {id: orders}
schedule: {trigger: {key: landed, check: equals, field: status, value: done}}
validation: {rules: [{key: landed, check: equals, field: status, value: done}]}
job: {type: command, config: {command: ["true"]}}
"""


def main(seconds: float) -> None:
    with serving({"orders": _FILE}) as server:
        write_ms = _durable_write(server.project / "probe.db")
        one, stored_one = _rate(server, 1, seconds, batch=False)
        eight, stored_eight = _rate(server, 8, seconds, batch=False)
        batches, stored_batches = _rate(server, 2, seconds, batch=True)
        accepted = stored_one + stored_eight + stored_batches
        lost = accepted - _stored(server)
        caught_up = _catch_up(server)
    line = (
        f"{one:,.0f} / {eight:,.0f} / {batches:,.0f} a second, {lost} lost;"
        f" a bare durable write takes {write_ms:.2f} ms; acted on all after {caught_up:.1f} s"
    )
    tell(
        "ingest",
        TARGET,
        line,
        one=round(one),
        eight=round(eight),
        batches=round(batches),
        lost=lost,
        accepted=accepted,
        durable_write_ms=round(write_ms, 3),
        caught_up_seconds=round(caught_up, 1),
    )


def _rate(server: Server, clients: int, seconds: float, *, batch: bool) -> tuple[float, int]:
    """Readings per second of all clients together, and how many were accepted."""
    address = json.loads((server.project / ".interlock" / "serve.json").read_text())
    gate = multiprocessing.Barrier(clients)
    told: Queue[tuple[int, float]] = multiprocessing.Queue()
    processes = [
        multiprocessing.Process(
            target=_put, args=(address, f"c{clients}{batch}{n}", seconds, batch, gate, told)
        )
        for n in range(clients)
    ]
    for process in processes:
        process.start()
    done = [told.get(timeout=seconds + 60) for _ in processes]
    for process in processes:
        process.join()
    return sum(count / took for count, took in done), sum(count for count, _ in done)


def _put(
    address: object, name: str, seconds: float, batch: bool, gate: Barrier, told: "Queue[Any]"
) -> None:
    client = Client(address)
    gate.wait()
    began = time.perf_counter()
    count = 0
    while time.perf_counter() - began < seconds:
        if batch:
            readings = [
                {"pipelineId": "orders", "key": f"{name}-{count + n}", "fields": {"count": n}}
                for n in range(BATCH)
            ]
            status, text = client.ask("POST", "/api/v1/sensors", json.dumps(readings).encode())
            if status != 200 or b'"problem"' in text:
                raise RuntimeError(text[:200])
            count += BATCH
        else:
            client.put("orders", f"{name}-{count}", b'{"count": 12}')
            count += 1
    told.put((count, time.perf_counter() - began))


def _stored(server: Server) -> int:
    path = server.project / ".interlock" / "interlock.db"
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as store:
        return int(store.execute("SELECT count(*) FROM sensors").fetchone()[0])


def _catch_up(server: Server) -> float:
    """Seconds until everything was acted on."""
    client, began = server.client(), time.perf_counter()
    while client.figure("interlock_changes_waiting"):
        if time.perf_counter() - began > 300:
            raise TimeoutError("the changes are not handled")
        time.sleep(0.1)
    return time.perf_counter() - began


def _durable_write(path: Path) -> float:
    """The time of the disk alone, writing as the store does."""
    taken = []
    with sqlite3.connect(path, isolation_level=None) as probe:
        probe.execute("PRAGMA journal_mode = WAL")
        probe.execute("PRAGMA synchronous = FULL")
        probe.execute("CREATE TABLE t (a)")
        for _ in range(200):
            began = time.perf_counter()
            probe.execute("INSERT INTO t VALUES (1)")
            taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1000


if __name__ == "__main__":
    main(2.0 if "--short" in sys.argv else 8.0)
