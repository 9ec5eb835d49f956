"""Runs of Airflow's DAGs, beyond the contract."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from adapters.jobs.airflow_stand_in import AirflowStandIn
from adapters.jobs.job_samples import CANARY, ENVIRONMENT, a_context, a_job, now, surroundings
from adapters.jobs.stand_in import Reply, Seen, serving
from interlock.adapters.http.addresses import NOWHERE
from interlock.adapters.http.http_client import HttpClient
from interlock.adapters.http.platform_error import PlatformError
from interlock.adapters.jobs.airflow import AirflowJobs
from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.secrets.references import Secrets
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, Launched, Running, Succeeded
from interlock.domain.pipeline import Pipeline
from interlock.errors import LaunchError, TransientError

TOKEN = a_context().token
RUN_ID = f"interlock__silver-orders__2026-03-03__{TOKEN}"
AUTH = {"username": "interlock", "password": "secret://env/INTERLOCK_CANARY"}


@pytest.fixture(params=["v1", "v2"])
def airflow(request: pytest.FixtureRequest) -> Iterator[AirflowStandIn]:
    stand_in = AirflowStandIn(version=request.param, user=("interlock", CANARY))
    with serving(stand_in=stand_in):
        yield stand_in


@pytest.fixture
def airflow3() -> Iterator[AirflowStandIn]:
    stand_in = AirflowStandIn(version="v2", user=("interlock", CANARY))
    with serving(stand_in=stand_in):
        yield stand_in


@pytest.fixture
def jobs(tmp_path: Path) -> JobsByType:
    return JobsByType(surroundings(tmp_path))


def a_dag(airflow: AirflowStandIn, dag: str = "hang", **config: Any) -> Pipeline:
    return a_job("airflow", **{"url": airflow.url, "dagId": dag, "auth": AUTH, **config})


def posted(airflow: AirflowStandIn) -> list[Seen]:
    return [
        seen for seen in airflow.seen if seen.method == "POST" and seen.path.endswith("/dagRuns")
    ]


def failure(jobs: JobsByType, pipeline: Pipeline) -> LaunchError:
    with pytest.raises(LaunchError) as raised:
        jobs.launch(pipeline, a_context())
    return raised.value


# --- the request ----------------------------------------------------------------------------------


def test_a_run_is_named_by_its_token_and_gets_the_dates(
    airflow: AirflowStandIn, jobs: JobsByType
) -> None:
    launched = jobs.launch(a_dag(airflow), a_context())
    [seen] = posted(airflow)
    body = json.loads(seen.body)
    assert launched.run_id == body["dag_run_id"] == RUN_ID
    assert body["conf"] == {"par_day": "20260303"}
    assert seen.path == f"/api/{airflow.version}/dags/hang/dagRuns"
    assert launched.metadata["apiVersion"] == airflow.version


def test_a_given_body_is_the_conf(airflow: AirflowStandIn, jobs: JobsByType) -> None:
    jobs.launch(a_dag(airflow, body={"day": "${DATE}", "n": 1}), a_context())
    assert json.loads(posted(airflow)[0].body)["conf"] == {"day": "2026-03-03", "n": 1}


def test_a_path_prefix_is_kept_and_the_dag_is_encoded(
    airflow3: AirflowStandIn, jobs: JobsByType
) -> None:
    pipeline = a_dag(airflow3, "a/b c", url=f"{airflow3.url}/team/", apiVersion="v1", auth=None)
    error = failure(jobs, pipeline)
    assert error.category == "PERMANENT"
    assert airflow3.seen[0].path == "/team/api/v1/dags/a%2Fb%20c/dagRuns"


def test_an_id_has_only_what_ids_may_have(airflow3: AirflowStandIn, jobs: JobsByType) -> None:
    context = msgspec.structs.replace(a_context(), pipeline="a..b/c é" + "x" * 300)
    launched = jobs.launch(a_dag(airflow3), context)
    assert launched.run_id.startswith("interlock__a-.b-c--xxx")
    assert launched.run_id.endswith(f"__{TOKEN}") and len(launched.run_id) == 250


# --- which Airflow --------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 401, 403, 404, 410])
def test_a_server_without_a_version_page_is_airflow_2(
    airflow: AirflowStandIn, jobs: JobsByType, status: int
) -> None:
    airflow.plan("/api/v2/version", Reply(status, b"<html>"))
    airflow.version = "v1"
    assert jobs.launch(a_dag(airflow), a_context()).metadata["apiVersion"] == "v1"


def test_a_page_with_something_else_on_it_is_airflow_2(
    airflow: AirflowStandIn, jobs: JobsByType
) -> None:
    airflow.plan("/api/v2/version", Reply(200, b"<html>welcome</html>"), Reply(200, b"[]"))
    airflow.version = "v1"
    for attempt in range(2):
        launched = jobs.launch(a_dag(airflow), a_context(attempt))
        assert launched.metadata["apiVersion"] == "v1"


@pytest.mark.parametrize("status", [408, 425, 429, 500, 503, None])
def test_while_the_outcome_is_unknown_nothing_is_started(
    airflow3: AirflowStandIn, jobs: JobsByType, status: int | None
) -> None:
    airflow3.plan("/api/v2/version", Reply(status))
    assert failure(jobs, a_dag(airflow3)).category == "TRANSIENT"
    assert not posted(airflow3)


# --- logins ---------------------------------------------------------------------------------------


def test_a_login_is_made_once_and_kept(airflow3: AirflowStandIn, jobs: JobsByType) -> None:
    launched = jobs.launch(a_dag(airflow3), a_context())
    for _ in range(3):
        jobs.poll(launched.metadata)
    assert airflow3.logins == 1


@pytest.mark.parametrize("refusal", [401, 403])
def test_an_expired_login_is_renewed(
    airflow3: AirflowStandIn, jobs: JobsByType, refusal: int
) -> None:
    launched = jobs.launch(a_dag(airflow3), a_context())
    airflow3.tokens.clear()
    airflow3.plan(f"/api/v2/dags/hang/dagRuns/{RUN_ID}", Reply(refusal))
    assert isinstance(jobs.poll(launched.metadata), Running)
    assert airflow3.logins == 2


def test_a_login_that_has_run_out_starts_nothing_twice(
    airflow3: AirflowStandIn, jobs: JobsByType
) -> None:
    jobs.launch(a_dag(airflow3), a_context())
    airflow3.tokens.clear()
    jobs.launch(a_dag(airflow3), a_context(1))
    assert airflow3.starts[a_context(1).token] == 1


def test_a_forbidden_user_gets_the_error_after_one_login(
    airflow3: AirflowStandIn, jobs: JobsByType
) -> None:
    airflow3.fault = lambda seen: Reply(403, b"no") if "dagRuns" in seen.path else None
    error = failure(jobs, a_dag(airflow3))
    assert error.category == "PERMANENT" and airflow3.logins == 1


def test_a_password_that_was_replaced_is_read_again(
    airflow: AirflowStandIn, tmp_path: Path
) -> None:
    environment = dict(ENVIRONMENT)
    given = surroundings(tmp_path, environment, secrets=Secrets(environment))
    jobs = JobsByType(given)
    jobs.launch(a_dag(airflow), a_context())
    environment["INTERLOCK_CANARY"] = "another-secret"
    airflow.user = ("interlock", "another-secret")
    airflow.tokens.clear()
    jobs.launch(a_dag(airflow), a_context(1))
    assert airflow.starts[a_context(1).token] == 1


def test_a_wrong_password_is_permanent_and_not_told(
    airflow: AirflowStandIn, jobs: JobsByType
) -> None:
    airflow.user = ("interlock", "other")
    error = failure(jobs, a_dag(airflow))
    assert error.category == "PERMANENT" and not error.maybe_started
    assert CANARY not in str(error) and not airflow.runs


def test_a_login_without_a_token_is_tried_again(airflow3: AirflowStandIn, jobs: JobsByType) -> None:
    airflow3.plan("/auth/token", Reply(201, b"{}"), Reply(201, b"<html>"))
    for _ in range(2):
        assert failure(jobs, a_dag(airflow3)).category == "TRANSIENT"


def test_headers_of_the_file_may_be_the_login(airflow3: AirflowStandIn, jobs: JobsByType) -> None:
    airflow3.tokens.add(CANARY)
    headers = {"Authorization": "Bearer secret://env/INTERLOCK_CANARY"}
    launched = jobs.launch(a_dag(airflow3, auth=None, headers=headers), a_context())
    assert isinstance(jobs.poll(launched.metadata), Running)
    assert launched.metadata["headers"] == headers and airflow3.logins == 0


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_password_does_not_travel_in_the_open(tmp_path: Path, version: str) -> None:
    def connect(*place: Any) -> Any:
        raise AssertionError("a client connected")

    client = HttpClient(NOWHERE, resolve=lambda host, port: ["93.184.216.34"], connect=connect)
    pipeline = a_job(
        "airflow", url="http://a.example.com", dagId="d", auth=AUTH, apiVersion=version
    )
    with pytest.raises(PlatformError, match="over plain http"):
        AirflowJobs(surroundings(tmp_path), client).launch(pipeline, a_context())


# --- started once ---------------------------------------------------------------------------------


def test_a_conflict_is_with_ourselves(airflow: AirflowStandIn, jobs: JobsByType) -> None:
    first = jobs.launch(a_dag(airflow), a_context())
    assert jobs.launch(a_dag(airflow), a_context()) == first
    assert airflow.starts[TOKEN] == 1


def test_a_conflict_without_a_rival_is_retried(airflow: AirflowStandIn, jobs: JobsByType) -> None:
    path = f"/api/{airflow.version}/dags/hang/dagRuns"
    airflow.plan(path, Reply(409, b"{}"))
    error = failure(jobs, a_dag(airflow))
    assert error.category == "TRANSIENT" and error.maybe_started


def test_a_run_that_is_older_than_ours_is_refused(
    airflow: AirflowStandIn, jobs: JobsByType
) -> None:
    airflow.began = timedelta(hours=-1)
    pipeline = a_dag(airflow)
    jobs.launch(pipeline, a_context())
    for ask in (jobs.launch, jobs.find):
        with pytest.raises(LaunchError, match="set INTERLOCK_INSTANCE"):
            ask(pipeline, a_context())


def test_a_connection_that_is_lost_after_sending_starts_nothing_twice(
    airflow: AirflowStandIn, jobs: JobsByType
) -> None:
    airflow.plan(f"/api/{airflow.version}/dags/hang/dagRuns", Reply(None, after=True))
    error = failure(jobs, a_dag(airflow))
    assert error.category == "TRANSIENT" and error.maybe_started
    assert isinstance(jobs.find(a_dag(airflow), a_context()), Launched)
    jobs.launch(a_dag(airflow), a_context())
    assert airflow.starts[TOKEN] == 1


def test_a_connection_that_is_lost_before_anything_happened(
    airflow: AirflowStandIn, jobs: JobsByType
) -> None:
    airflow.plan(f"/api/{airflow.version}/dags/hang/dagRuns", Reply(None))
    assert failure(jobs, a_dag(airflow)).maybe_started
    assert jobs.find(a_dag(airflow), a_context()) == Absent()
    jobs.launch(a_dag(airflow), a_context())
    assert airflow.starts[TOKEN] == 1


@pytest.mark.parametrize(
    ("status", "category", "maybe"),
    [(400, "PERMANENT", False), (422, "PERMANENT", False), (503, "TRANSIENT", False),
     (502, "TRANSIENT", True), (504, "TRANSIENT", True)],
)  # fmt: skip
def test_a_refused_start(
    airflow3: AirflowStandIn, jobs: JobsByType, status: int, category: str, maybe: bool
) -> None:
    airflow3.plan("/api/v2/dags/hang/dagRuns", Reply(status, b"import errors"))
    error = failure(jobs, a_dag(airflow3))
    assert (error.category, error.maybe_started) == (category, maybe)
    assert "import errors" in str(error)


@pytest.mark.parametrize("body", [b"<html>log in</html>", b"{}", b'{"dag_run_id": "other"}'])
def test_a_yes_that_does_not_name_our_run_may_be_anybodys(
    airflow: AirflowStandIn, jobs: JobsByType, body: bytes
) -> None:
    airflow.plan(f"/api/{airflow.version}/dags/hang/dagRuns", Reply(200, body))
    error = failure(jobs, a_dag(airflow))
    assert error.category == "TRANSIENT" and error.maybe_started


def test_a_moment_without_a_zone_is_not_believed(airflow: AirflowStandIn, jobs: JobsByType) -> None:
    launched = jobs.launch(a_dag(airflow), a_context())
    airflow.runs[launched.run_id]["start_date"] = "2026-03-03T10:00:00"
    answer = jobs.poll(launched.metadata)
    assert isinstance(answer, Running) and answer.unseen
    with pytest.raises(TransientError):
        jobs.find(a_dag(airflow), a_context())


def test_a_dag_that_does_not_exist_is_permanent(airflow: AirflowStandIn, jobs: JobsByType) -> None:
    assert failure(jobs, a_dag(airflow, "nothing")).category == "PERMANENT"


# --- how it is doing ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paused", "minutes", "named"), [(True, 6, True), (True, 1, False), (False, 6, False)]
)
def test_a_paused_dag_is_named_when_its_run_is_queued_for_long(
    airflow: AirflowStandIn, tmp_path: Path, paused: bool, minutes: int, named: bool
) -> None:
    airflow.paused = paused
    given = surroundings(tmp_path, clock=lambda: now() + timedelta(minutes=minutes))
    jobs = JobsByType(given)
    launched = jobs.launch(a_dag(airflow, "queue"), a_context())
    answer = jobs.poll(launched.metadata)
    assert isinstance(answer, Running) and not answer.unseen
    assert ("paused" in answer.message) is named


@pytest.mark.parametrize("status", [429, 500, 502, None])
def test_an_unanswered_poll_is_repeated(
    airflow: AirflowStandIn, jobs: JobsByType, status: int | None
) -> None:
    launched = jobs.launch(a_dag(airflow), a_context())
    airflow.plan(f"/api/{airflow.version}/dags/hang/dagRuns/{RUN_ID}", Reply(status))
    with pytest.raises(TransientError):
        jobs.poll(launched.metadata)


def test_an_end_has_its_moment(airflow: AirflowStandIn, jobs: JobsByType) -> None:
    launched = jobs.launch(a_dag(airflow, "succeed"), a_context())
    answer = jobs.poll(launched.metadata)
    assert isinstance(answer, Succeeded) and answer.ended_at is not None


def test_cancelling_a_run_that_has_ended_changes_nothing(
    airflow: AirflowStandIn, jobs: JobsByType
) -> None:
    """Airflow itself would turn a success into a failure."""
    launched = jobs.launch(a_dag(airflow, "succeed"), a_context())
    assert not jobs.cancel(launched.metadata)
    assert airflow.runs[launched.run_id]["state"] == "success"
    assert not [seen for seen in airflow.seen if seen.method == "PATCH"]


def test_an_answer_that_makes_no_sense_is_not_a_failure(
    airflow: AirflowStandIn, jobs: JobsByType
) -> None:
    launched = jobs.launch(a_dag(airflow), a_context())
    path = f"/api/{airflow.version}/dags/hang/dagRuns/{RUN_ID}"
    airflow.plan(path, Reply(200, b"<html>"), Reply(200, b"{}"), Reply(200, b"[]"))
    for _ in range(3):
        answer = jobs.poll(launched.metadata)
        assert isinstance(answer, Running) and answer.unseen


def test_what_could_not_be_kept_track_of_is_not_started(
    airflow3: AirflowStandIn, jobs: JobsByType
) -> None:
    error = failure(jobs, a_dag(airflow3, headers={"X-Long": "x" * 16 * 1024}))
    assert error.category == Category.PERMANENT and not posted(airflow3)
