"""Runs of DAGs in a real Airflow 3. By hand: `make airflow` installs one beside the project and runs this.

INTERLOCK_TEST_AIRFLOW names the `airflow` command of that installation; without it nothing here runs.
"""

import json
import os
import signal
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import urllib3

from adapters.jobs.job_samples import CANARY, a_context, a_job, ending, now, soon, surroundings
from interlock.adapters.jobs.by_type import JobsByType
from interlock.domain.job import Absent, Failed, Launched, Running, Succeeded
from interlock.domain.pipeline import Pipeline
from interlock.errors import LaunchError

AIRFLOW = os.environ.get("INTERLOCK_TEST_AIRFLOW")
pytestmark = pytest.mark.skipif(AIRFLOW is None, reason="needs an Airflow: make airflow")

PATIENCE, PAUSE = 180.0, 1.0  # an Airflow that is asked all the time does nothing else
#: So short that a login runs out while we watch.
TOKEN_SECONDS = 20
DAGS = """
import time
from airflow.sdk import dag, task

def made(name, do, paused=False):
    @dag(dag_id=name, schedule=None, is_paused_upon_creation=paused, max_active_runs=100)
    def flow():
        @task(task_id="do")
        def run():
            do()
        run()
    return flow()

def fail():
    raise RuntimeError("it broke")

succeed = made("succeed", lambda: None)
failing = made("fail", fail)
hang = made("hang", lambda: time.sleep(600))
paused = made("paused", lambda: None, paused=True)
"""


@dataclass
class Airflow:
    """A running one."""

    url: str

    def pipeline(self, dag: str, **config: Any) -> Pipeline:
        auth = {"username": "interlock", "password": "secret://env/INTERLOCK_CANARY"}
        return a_job("airflow", **{"url": self.url, "dagId": dag, "auth": auth, **config})

    def token(self) -> str:
        body = {"username": "interlock", "password": CANARY}
        answer = urllib3.request("POST", f"{self.url}/auth/token", json=body, retries=False)
        return str(answer.json()["access_token"])

    def get(self, path: str, token: str) -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        return urllib3.request("GET", f"{self.url}/api/v2/{path}", headers=headers, retries=False)

    def runs(self, dag: str) -> Counter[str]:
        """How many runs there are of each id."""
        found = self.get(f"dags/{dag}/dagRuns?limit=1000", self.token()).json()
        return Counter(run["dag_run_id"] for run in found["dag_runs"])

    def is_ready(self) -> bool:
        try:
            found = self.get("dags", self.token()).json()
        except (urllib3.exceptions.HTTPError, ValueError, KeyError):
            return False
        return bool(found.get("total_entries") == 4)


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Airflow]:
    assert AIRFLOW is not None
    home = tmp_path_factory.mktemp("airflow")
    (home / "dags").mkdir()
    (home / "dags" / "fates.py").write_text(DAGS)
    (home / "passwords.json").write_text(json.dumps({"interlock": CANARY}))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [AIRFLOW, "standalone"],
            env=_environment(home, port),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        running = Airflow(f"http://127.0.0.1:{port}")
        soon(running.is_ready, PATIENCE, PAUSE)
        yield running
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(60)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _environment(home: Path, port: int) -> dict[str, str]:
    assert AIRFLOW is not None
    ours = {
        "AIRFLOW_HOME": str(home),
        "PATH": f"{Path(AIRFLOW).parent}:{os.environ['PATH']}",
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__PARALLELISM": "4",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "interlock:admin",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"http://127.0.0.1:{port}/execution/",
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__API_AUTH__JWT_EXPIRATION_TIME": str(TOKEN_SECONDS),
    }
    inherited = {name: value for name, value in os.environ.items() if "AIRFLOW" not in name}
    return {**inherited, **ours}


@pytest.fixture
def jobs(tmp_path: Path) -> JobsByType:
    return JobsByType(surroundings(tmp_path))


@pytest.mark.parametrize(("dag", "end"), [("succeed", Succeeded), ("fail", Failed)])
def test_a_run_is_found_and_followed_to_its_end(
    airflow: Airflow, jobs: JobsByType, dag: str, end: type
) -> None:
    pipeline = airflow.pipeline(dag)
    assert jobs.find(pipeline, a_context()) == Absent()
    launched = jobs.launch(pipeline, a_context())
    found = jobs.find(pipeline, a_context())
    assert isinstance(found, Launched) and found == launched
    assert launched.metadata["apiVersion"] == "v2"
    answer = ending(jobs, launched, PATIENCE, PAUSE)
    assert isinstance(answer, end) and answer.ended_at is not None


def test_an_expired_login_is_renewed(airflow: Airflow, jobs: JobsByType) -> None:
    pipeline = airflow.pipeline("paused")
    launched = jobs.launch(pipeline, a_context(label="2026-03-05"))
    token = airflow.token()  # younger than that of the jobs
    refused = soon(lambda: _refusal(airflow, token), PATIENCE, PAUSE)
    assert refused in (401, 403)
    answer = jobs.poll(launched.metadata)
    assert isinstance(answer, Running) and not answer.unseen
    jobs.launch(pipeline, a_context(1, label="2026-03-05"))


def _refusal(airflow: Airflow, token: str) -> int | None:
    status: int = airflow.get("dags/paused", token).status
    return status if status != 200 else None


def test_a_paused_dag_is_named(airflow: Airflow, tmp_path: Path) -> None:
    given = surroundings(tmp_path, clock=lambda: now() + timedelta(minutes=6))
    jobs = JobsByType(given)
    launched = jobs.launch(airflow.pipeline("paused"), a_context(label="2026-03-06"))
    answer = jobs.poll(launched.metadata)
    assert isinstance(answer, Running) and "the DAG paused is paused" in answer.message


def test_a_run_is_stopped_and_one_that_has_ended_is_left_alone(
    airflow: Airflow, jobs: JobsByType
) -> None:
    hanging = jobs.launch(airflow.pipeline("hang"), a_context())
    assert jobs.cancel(hanging.metadata)
    assert isinstance(ending(jobs, hanging, PATIENCE, PAUSE), Failed)
    done = jobs.launch(airflow.pipeline("succeed"), a_context(1))
    assert isinstance(ending(jobs, done, PATIENCE, PAUSE), Succeeded)
    assert not jobs.cancel(done.metadata)
    assert isinstance(jobs.poll(done.metadata), Succeeded)


def test_what_can_not_work_is_permanent(airflow: Airflow, jobs: JobsByType) -> None:
    wrong = {"username": "interlock", "password": "wrong"}
    for pipeline in (airflow.pipeline("nothing"), airflow.pipeline("succeed", auth=wrong)):
        with pytest.raises(LaunchError) as raised:
            jobs.launch(pipeline, a_context(2))
        assert raised.value.category == "PERMANENT" and not raised.value.maybe_started


def test_a_run_that_is_gone_is_unseen_and_not_failed(airflow: Airflow, jobs: JobsByType) -> None:
    launched = jobs.launch(airflow.pipeline("paused"), a_context(label="2026-03-07"))
    headers = {"Authorization": f"Bearer {airflow.token()}"}
    path = f"{airflow.url}/api/v2/dags/paused/dagRuns/{launched.run_id}"
    assert urllib3.request("DELETE", path, headers=headers, retries=False).status == 204
    answer = jobs.poll(launched.metadata)
    assert isinstance(answer, Running) and answer.unseen


# --- last, since the SQLite of a small Airflow does not like a crowd ---


def test_thirty_dates_launched_three_times_each_are_thirty_runs(
    airflow: Airflow, tmp_path: Path
) -> None:
    contexts = [a_context(attempt, label="2026-03-04") for attempt in range(30)] * 3

    def launch(number: int) -> str:
        jobs = JobsByType(surroundings(tmp_path))
        for _ in range(20):
            try:
                return jobs.launch(airflow.pipeline("paused"), contexts[number]).run_id
            except LaunchError as error:
                if error.category != "TRANSIENT":  # otherwise another login is in progress
                    raise
        raise AssertionError("it never came to an end")

    with ThreadPoolExecutor(3) as pool:
        launched = Counter(pool.map(launch, range(90)))
    assert set(launched.values()) == {3} and len(launched) == 30
    counted = airflow.runs("paused")
    assert {run_id: counted[run_id] for run_id in launched} == dict.fromkeys(launched, 1)
