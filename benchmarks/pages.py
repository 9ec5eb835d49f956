"""Pages: how long each takes to render, with 10,000 pipelines and a year of runs."""

import asyncio
import os
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.figures import spread, tell
from benchmarks.homes import START, pipelines_file, stored
from interlock.adapters.sqlite.database import Database
from interlock.domain import canonical
from interlock.domain.deadline import SlaVerdict
from interlock.domain.event import EventType, happened, subject
from interlock.domain.run import Judgement, OpenedBy, RuleRecord, Run, RunKey, Status
from interlock.runtime.health import Health, NotedDatabase
from interlock.web.access import Access
from interlock.web.app import application
from interlock.web.gate import KnownHosts
from interlock.web.metrics import Metrics
from interlock.web.serve import local_context
from interlock.wiring.local_backend import open_local_backend
from interlock.wiring.settings import Settings

PIPELINES = int(os.environ.get("PIPELINES", "10000"))
DAYS = 365
#: Of this many pipelines, three in ten have hourly runs, for this many days.
HOURLY, HOURLY_DAYS = 200, 90
EVENT_DAYS = 45
TIMES = 15
SECRET = "secret-of-the-benchmark"

PAGES = {
    "overview": "/",
    "timeline 48h": "/timeline",
    "timeline 90d": "/timeline?span=90d",
    "timeline, far page": f"/timeline?start={PIPELINES // 2}",
    "timeline, search": "/timeline?q=77",
    "runs": "/runs",
    "runs, given up": "/runs?status=FAILED_FINAL",
    "runs, running": "/runs?status=RUNNING",
    "runs of a pipeline, retrying": "/runs?pipeline=p00007&status=RETRYING",
    "search": "/search?q=p0077",
    "search, suggestions": "/search?q=77&few=1",
    "search, date": "/search?q=p0077+2026-03-01",
    "api": "/docs",
    "run": "/runs/p00007/stream/2026-03-01",
    "pipeline": "/pipelines/p00007",
    "pipeline by the hour": "/pipelines/p00000",
    "pipelines": "/pipelines",
    "sla": "/sla",
    "sla of one": "/sla?pipeline=p00001",
    "dependencies": "/dependencies",
    "events": "/events",
    "events, warnings": "/events?note=1",
    "events, search for nothing": "/events?q=nowhere",
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(project=Path(folder), state=Path(folder) / ".interlock", environment={})
        settings.state.mkdir()
        began = time.perf_counter()
        _build(settings.database)
        size = settings.database.stat().st_size / 1e9
        print(f"built in {time.perf_counter() - began:.0f} s, {size:.1f} GB", file=sys.stderr)
        with _served(settings) as get:
            figures = {name: asyncio.run(_measured(get, path)) for name, path in PAGES.items()}
    for name, (clock, cpu, kilobytes) in figures.items():
        print(
            f"  {name:28} p50 {clock['p50']:6.1f} ms  p95 {clock['p95']:6.1f} ms"
            f"  cpu p50 {cpu['p50']:6.1f} ms  {kilobytes:5.0f} kB"
        )
    worst = max(figures, key=lambda name: figures[name][0]["p95"])
    line = (
        f"slowest is {worst}: p50 {figures[worst][0]['p50']:.0f} ms,"
        f" p95 {figures[worst][0]['p95']:.0f} ms"
    )
    told = {name: {"clock": clock, "cpu": cpu} for name, (clock, cpu, _) in figures.items()}
    tell("pages", "each <= 200 ms", line, pages=told)


Get = Callable[[str], Awaitable[int]]


@contextmanager
def _served(settings: Settings) -> Iterator[Get]:
    home = open_local_backend(settings, clock=lambda: START, database=NotedDatabase)
    assert isinstance(home.database, NotedDatabase)
    health = Health(home.database, home.queries)
    desk = local_context(home, health, Access(home.store.tokens, {"owner": SECRET}), Metrics())
    app = application(desk, KnownHosts("127.0.0.1"))

    async def get(path: str) -> int:
        size = 0

        async def send(message: Any) -> None:
            nonlocal size
            if message["type"] == "http.response.start":
                assert message["status"] == 200, (path, message)
            size += len(message.get("body", b""))

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        await app(_scope(path), receive, send)
        return size

    try:
        yield get
    finally:
        home.close()


def _scope(path: str) -> dict[str, Any]:
    place, _, query = path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": place,
        "raw_path": place.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [
            (b"host", b"127.0.0.1"),
            (b"accept", b"text/html"),
            (b"authorization", f"Bearer {SECRET}".encode()),
        ],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 1),
        "state": {},
    }


async def _measured(get: Get, path: str) -> tuple[dict[str, float], dict[str, float], float]:
    """The first response warms the caches of the process; it is not counted."""
    size = await get(path)
    clock, cpu = [], []
    for _ in range(TIMES):
        began, used = time.perf_counter(), _used()
        await get(path)
        clock.append((time.perf_counter() - began) * 1000)
        cpu.append((_used() - used) * 1000)
    return spread(clock), spread(cpu), size / 1024


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


# --- a year, written straight into the tables


def _build(path: Path) -> None:
    stored(path, lambda store, ports: pipelines_file(store, ports, PIPELINES))
    with Database(path):
        pass
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -400000"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("BEGIN")
    connection.execute(
        "UPDATE pipelines SET active_since = active_since - ?", (400 * 86400 * 1_000_000,)
    )
    _runs(connection)
    _events(connection)
    connection.execute("COMMIT")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()


_NUMBERS = (
    "WITH RECURSIVE p(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM p WHERE n < ?),"
    " d(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM d WHERE i < ?)"
)
_SCHEDULE = "iif(n % 10 < 3, 'cron', 'stream')"


def _runs(connection: sqlite3.Connection) -> None:
    """One run per day and pipeline: a twentieth late, a hundredth given up, today's still waiting."""
    texts = [
        _text(Status.COMPLETED, 30),
        _text(Status.COMPLETED, -5),
        _text(Status.FAILED_FINAL, 0),
    ]
    today = f"{START:%Y-%m-%d}"
    connection.execute(
        f"{_NUMBERS} INSERT INTO runs (pipeline, schedule, date, dry, status, version, attempt,"
        " execution_name, opened_at, watch_at, expires_at, run)"
        f" SELECT printf('p%05d', n), {_SCHEDULE}, date(?, printf('-%d days', i + 1)), 0,"
        " iif((n * 7 + i) % 100 = 1, 'FAILED_FINAL', 'COMPLETED'), 9, 0, printf('e-%d-%d', n, i),"
        " (unixepoch(?) - i * 86400) * 1000000, NULL, NULL,"
        " replace(replace(replace(CASE WHEN (n * 7 + i) % 100 = 1 THEN ? WHEN (n * 7 + i) % 20 = 0"
        " THEN ? ELSE ? END, '@P', printf('p%05d', n)), '@S', "
        f"{_SCHEDULE}), '@D', date(?, printf('-%d days', i + 1))) FROM p, d",
        (PIPELINES - 1, DAYS - 1, today, today, texts[2], texts[1], texts[0], today),
    )
    connection.execute(
        f"{_NUMBERS} INSERT INTO runs (pipeline, schedule, date, dry, status, version, attempt,"
        " execution_name, opened_at, watch_at, expires_at, run)"
        " SELECT printf('p%05d', n), 'cron',"
        " strftime('%Y-%m-%dT%H', ?, printf('-%d hours', i)), 0,"
        " 'COMPLETED', 9, 0, printf('h-%d-%d', n, i), i, NULL, NULL,"
        " replace(replace(replace(iif(i % 50 = 0, ?, ?), '@P', printf('p%05d', n)), '@S', 'cron'),"
        " '@D', strftime('%Y-%m-%dT%H', ?, printf('-%d hours', i))) FROM p, d WHERE n % 10 < 3",
        (
            min(PIPELINES, HOURLY) - 1,
            HOURLY_DAYS * 24,
            f"{START:%Y-%m-%d %H:%M:%S}",
            texts[1],
            texts[0],
            f"{START:%Y-%m-%d %H:%M:%S}",
        ),
    )
    waiting = _text(Status.PENDING, 0)
    connection.execute(
        f"{_NUMBERS} INSERT INTO runs (pipeline, schedule, date, dry, status, version, attempt,"
        " execution_name, opened_at, watch_at, expires_at, run)"
        f" SELECT printf('p%05d', n), {_SCHEDULE}, ?, 0, 'PENDING', 2, 0, printf('w-%d', n),"
        " unixepoch(?) * 1000000, NULL, NULL,"
        f" replace(replace(replace(?, '@P', printf('p%05d', n)), '@S', {_SCHEDULE}), '@D', ?)"
        " FROM p, d WHERE i = 0",
        (PIPELINES - 1, 0, today, today, waiting, today),
    )


def _text(status: Status, minutes: int) -> str:
    """A run as it would be stored, with placeholders for its names; done this long before its deadline."""
    breach = START + timedelta(hours=2)
    done = breach - timedelta(minutes=minutes) if status is Status.COMPLETED else None
    run = Run(
        key=RunKey("@P", "@S", "@D"),
        status=status,
        version=2 if status is Status.PENDING else 9,  # as in its row: otherwise it is unreadable
        execution_name="@P-@S-@D",
        opened_at=START,
        opened_by=OpenedBy.SENSOR,
        opened_for="landed",
        changed_at=START,
        lease_until=START + timedelta(hours=5),
        verdict=Judgement(
            START,
            status is Status.COMPLETED,
            (RuleRecord("landed", "gte", "count", 1000, 940, None, START),),
        ),
        run_id="4711",
        job_type="command",
        launched_at=START if done else None,
        completed_at=done,
        warning_at=breach - timedelta(minutes=30),
        breach_at=breach,
        sla_verdict=None
        if done is None
        else SlaVerdict.MET
        if minutes > 0
        else SlaVerdict.BREACHED,
    )
    return canonical.encode(run)


def _events(connection: sqlite3.Connection) -> None:
    """Two events per run, and one for every breached deadline."""
    for kind, share in ((EventType.TRIGGER_STARTED, 1), (EventType.JOB_COMPLETED, 1),
                        (EventType.SLA_BREACH, 20)):  # fmt: skip
        text = _event_text(kind, START)
        connection.execute(
            f"{_NUMBERS} INSERT INTO events (id, pipeline, schedule, date, type, at, body)"
            f" SELECT printf('p%05d/%d/%s', n, i, ?), printf('p%05d', n), {_SCHEDULE},"
            " date(?, printf('-%d days', i + 1)), ?,"
            " (unixepoch(?) - i * 86400 - n) * 1000000,"
            f" replace(replace(replace(?, '@P', printf('p%05d', n)), '@S', {_SCHEDULE}),"
            " '@D', date(?, printf('-%d days', i + 1))) FROM d, p WHERE (n * 7 + i) % ? = 0",
            (
                PIPELINES - 1,
                EVENT_DAYS - 1,
                kind,
                f"{START:%Y-%m-%d}",
                kind,
                f"{START:%Y-%m-%d %H:%M:%S}",
                text,
                f"{START:%Y-%m-%d}",
                share,
            ),
        )


def _event_text(kind: EventType, at: datetime) -> str:
    about = subject(None, RunKey("@P", "@S", "@D"), 0)
    parts = ("0",) if kind is not EventType.SLA_BREACH else ()
    return canonical.encode(happened(kind, about, at, "something happened to @P", parts=parts))


if __name__ == "__main__":
    main()
