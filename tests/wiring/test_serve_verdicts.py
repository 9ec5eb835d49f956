"""Verdicts of the real process: what a slow platform has finished in time is never told to be late."""

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP, Signals
from typing import Any

from interlock.domain.timestamp import spell
from tiny_server import Asked, Said, tiny_server
from wiring.served import Served, eventually

RUNS = 40
LIMIT = "3s"
ANSWERS_AFTER = 0.15
JOB_TAKES = timedelta(seconds=0.5)

PIPELINE = """
pipeline: {{id: alpha}}
schedule: {{trigger: {{key: landed, check: exists}}}}
sla: {{maxDuration: {limit}, expectedDuration: 1s}}
validation: {{rules: [{{key: landed, check: exists}}]}}
job: {{type: airflow, config: {{url: "{url}", dagId: etl, apiVersion: v2}}}}
"""


class SlowAirflow:
    """Every run takes half a second, and every answer 150 ms."""

    def __init__(self) -> None:
        self.began: dict[str, datetime] = {}

    def __call__(self, asked: Asked) -> Said:
        time.sleep(ANSWERS_AFTER)
        if asked.method == "POST":
            run_id = asked.body["dag_run_id"]
            self.began.setdefault(run_id, datetime.now(UTC))
            return Said({"dag_run_id": run_id})
        return self._run(asked.path.rpartition("/")[2])

    def _run(self, run_id: str) -> Said:
        began = self.began.get(run_id)
        if began is None:
            return Said({"detail": "not found"}, 404)
        ended = began + JOB_TAKES
        if datetime.now(UTC) < ended:
            return Said({"state": "running", "start_date": spell(began)})
        return Said({"state": "success", "start_date": spell(began), "end_date": spell(ended)})

    @property
    def is_done(self) -> bool:
        return len(self.began) == RUNS


def test_no_job_that_ended_in_time_is_late_because_the_controller_was_away(tmp_path: Path) -> None:
    """Killed and stopped, both at once: most of the time is spent on waiting for deadlines."""
    with ThreadPoolExecutor() as pool:
        both = pool.map(partial(_verdicts, tmp_path), (SIGKILL, SIGSTOP))
        for verdicts, breaches in both:
            assert verdicts == {"MET": RUNS}
            assert breaches == []


def _verdicts(folder: Path, how: Signals) -> tuple[Counter[str], list[Any]]:
    """Those of all runs, and the breaches that were told."""
    airflow = SlowAirflow()
    with tiny_server(airflow) as platform:
        server = _server(folder / how.name, platform.url)
        try:
            _launch_all(server, airflow)
            _away(server, how, until=max(map(_due_at, _runs(server))))
            eventually(lambda: all(run["slaVerdict"] for run in _runs(server)), "all judged")
            breaches = server.ask("GET", "/api/v1/events?type=RELATIVE_SLA_BREACH")["items"]
            return Counter(run["slaVerdict"] for run in _runs(server)), breaches
        finally:
            server.close()


def _server(folder: Path, url: str) -> Served:
    (folder / "pipelines").mkdir(parents=True)
    (folder / "pipelines" / "alpha.yaml").write_text(PIPELINE.format(url=url, limit=LIMIT))
    return Served(folder, INTERLOCK_ALLOW_HOSTS="127.0.0.1").start()


def _launch_all(server: Served, airflow: SlowAirflow) -> None:
    for number in range(RUNS):
        server.put("alpha", f"landed#{date(2026, 1, 1) + timedelta(days=number)}", count=1)
    eventually(lambda: airflow.is_done and set(server.runs().values()) == {"RUNNING"}, "launched")


def _away(server: Served, how: Signals, until: datetime) -> None:
    """Killed and started again, or stopped and let go on, when every deadline has passed."""
    server.process.send_signal(how)
    time.sleep(max(0.0, (until - datetime.now(UTC)).total_seconds()))
    if how is SIGKILL:
        server.process.wait()
        server.start()
    else:
        server.process.send_signal(SIGCONT)


def _runs(server: Served) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.ask("GET", "/api/v1/runs?limit=1000")["items"]
    return found


def _due_at(run: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(run["relativeBreachAt"])
