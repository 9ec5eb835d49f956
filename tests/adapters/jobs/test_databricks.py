"""Runs of Databricks jobs, beyond the contract."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.jobs.databricks_stand_in import FIRST_RUN, DatabricksStandIn
from adapters.jobs.job_samples import CANARY, ENVIRONMENT, a_context, a_job, surroundings
from adapters.jobs.stand_in import Reply, serving
from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.secrets.references import Secrets
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, Failed, Running, Succeeded
from interlock.domain.pipeline import Pipeline
from interlock.errors import LaunchError, TransientError

TOKEN = a_context().token
START, GET = "/api/2.1/jobs/run-now", f"/api/2.1/jobs/runs/get?run_id={FIRST_RUN}"
T, P = Category.TRANSIENT, Category.PERMANENT


@pytest.fixture
def workspace() -> Iterator[DatabricksStandIn]:
    stand_in = DatabricksStandIn(token=CANARY)
    with serving(stand_in=stand_in):
        yield stand_in


@pytest.fixture
def jobs(tmp_path: Path) -> JobsByType:
    return JobsByType(surroundings(tmp_path))


def a_run(workspace: DatabricksStandIn, job: int = 4, **config: Any) -> Pipeline:
    headers = {"Authorization": "Bearer secret://env/INTERLOCK_CANARY"}
    given = {"workspaceUrl": workspace.url, "jobId": job, "headers": headers}
    return a_job("databricks", **{**given, **config})


def failure(jobs: JobsByType, pipeline: Pipeline) -> LaunchError:
    with pytest.raises(LaunchError) as raised:
        jobs.launch(pipeline, a_context())
    return raised.value


@pytest.mark.parametrize("name", ["notebook_params", "job_parameters"])
def test_a_start_carries_our_token_and_the_arguments(
    workspace: DatabricksStandIn, jobs: JobsByType, name: str
) -> None:
    pipeline = a_run(workspace, arguments={"day": "${DATE}"}, argumentsAs=name)
    jobs.launch(pipeline, a_context())
    [seen] = workspace.seen
    assert (seen.method, seen.path) == ("POST", START)
    assert json.loads(seen.body) == {
        "job_id": 4,
        "idempotency_token": TOKEN,
        name: {"day": "2026-03-03"},
    }


def test_without_arguments_none_are_sent(workspace: DatabricksStandIn, jobs: JobsByType) -> None:
    jobs.launch(a_run(workspace), a_context())
    assert set(json.loads(workspace.seen[0].body)) == {"job_id", "idempotency_token"}


def test_the_other_version_has_the_same_paths(
    workspace: DatabricksStandIn, jobs: JobsByType
) -> None:
    workspace.version = "2.2"
    launched = jobs.launch(a_run(workspace, apiVersion="2.2"), a_context())
    assert isinstance(jobs.poll(launched.metadata), Running)
    assert jobs.cancel(launched.metadata)


def test_a_run_id_is_never_read_through_a_float(
    workspace: DatabricksStandIn, jobs: JobsByType
) -> None:
    launched = jobs.launch(a_run(workspace), a_context())
    assert launched.run_id == str(2**53 + 1)
    jobs.poll(launched.metadata)
    assert workspace.seen[-1].path == GET
    jobs.cancel(launched.metadata)
    assert json.loads(workspace.seen[-1].body) == {"run_id": 2**53 + 1}


@pytest.mark.parametrize("body", [b"{}", b"<html>", b'{"run_id": 1.5}', b'{"run_id": true}', b"[]"])
def test_a_start_without_a_run_id_may_have_started(
    workspace: DatabricksStandIn, jobs: JobsByType, body: bytes
) -> None:
    workspace.plan(START, Reply(200, body))
    error = failure(jobs, a_run(workspace))
    assert error.category == T and error.maybe_started


def test_arguments_that_are_too_large_are_never_sent(
    workspace: DatabricksStandIn, jobs: JobsByType
) -> None:
    error = failure(jobs, a_run(workspace, arguments={"x": "x" * 10_000}))
    assert error.category == P and not workspace.seen


def test_a_connection_that_is_lost_after_sending_starts_nothing_twice(
    workspace: DatabricksStandIn, jobs: JobsByType
) -> None:
    workspace.plan(START, Reply(None, after=True))
    error = failure(jobs, a_run(workspace))
    assert error.category == T and error.maybe_started
    assert jobs.find(a_run(workspace), a_context()) == Absent()
    jobs.launch(a_run(workspace), a_context())
    assert workspace.starts[TOKEN] == 1


def test_a_conflict_is_tried_again(workspace: DatabricksStandIn, jobs: JobsByType) -> None:
    workspace.plan(START, Reply(409, b"{}"))
    error = failure(jobs, a_run(workspace))
    assert error.category == T and error.maybe_started


@pytest.mark.parametrize(
    ("status", "category"), [(400, P), (403, P), (404, P), (429, T), (500, T), (503, T)]
)
def test_a_refused_start(
    workspace: DatabricksStandIn, jobs: JobsByType, status: int, category: Category
) -> None:
    workspace.plan(START, Reply(status, b'{"message": "because"}'))
    error = failure(jobs, a_run(workspace))
    assert error.category == category and "because" in str(error)


def test_a_token_that_was_replaced_is_read_again(
    workspace: DatabricksStandIn, tmp_path: Path
) -> None:
    environment = dict(ENVIRONMENT)
    jobs = JobsByType(surroundings(tmp_path, environment, secrets=Secrets(environment)))
    launched = jobs.launch(a_run(workspace), a_context())
    environment["INTERLOCK_CANARY"] = workspace.token = "another"
    assert isinstance(jobs.poll(launched.metadata), Running)
    jobs.launch(a_run(workspace), a_context(1))
    assert workspace.starts[a_context(1).token] == 1


def test_a_run_under_a_token_that_was_used_long_ago_is_refused(
    workspace: DatabricksStandIn, jobs: JobsByType
) -> None:
    """The workspace remembers the token of a state that was wiped, and gives us the old run."""
    workspace.began = timedelta(hours=-1)
    launched = jobs.launch(a_run(workspace, 1), a_context())
    answer = jobs.poll(launched.metadata)
    assert isinstance(answer, Failed) and answer.category is P
    assert "set INTERLOCK_INSTANCE" in answer.message


@pytest.mark.parametrize(
    ("life_cycle", "result", "category", "stopped"),
    [
        ("SKIPPED", None, T, False),
        ("INTERNAL_ERROR", None, T, False),
        ("INTERNAL_ERROR", "FAILED", None, False),
        ("INTERNAL_ERROR", "TIMEDOUT", Category.TIMEOUT, False),
        ("TERMINATED", "CANCELED", None, True),
        ("TERMINATED", "UPSTREAM_CANCELED", None, True),
        ("TERMINATED", "MAXIMUM_CONCURRENT_RUNS_REACHED", T, False),
        ("TERMINATED", "EXCLUDED", P, False),
        ("TERMINATED", "DISABLED", P, False),
        ("TERMINATED", "UPSTREAM_FAILED", None, False),
        ("TERMINATED", "SOMETHING_NEW", None, False),  # it has ended: waiting would be in vain
        ("TERMINATED", None, None, False),
    ],
)
def test_an_end_is_of_a_kind(
    workspace: DatabricksStandIn,
    jobs: JobsByType,
    life_cycle: str,
    result: str | None,
    category: Category | None,
    stopped: bool,
) -> None:
    launched = jobs.launch(a_run(workspace), a_context())
    state = {"life_cycle_state": life_cycle, "result_state": result, "state_message": "no"}
    workspace.plan(GET, Reply(200, json.dumps({"state": state}).encode()))
    answer = jobs.poll(launched.metadata)
    assert isinstance(answer, Failed)
    assert (answer.category, answer.stopped) == (category, stopped)
    assert answer.detail["state"] == (result or life_cycle)


@pytest.mark.parametrize("life_cycle", ["PENDING", "QUEUED", "TERMINATING", "BLOCKED", "WAITING"])
def test_what_has_not_ended_goes_on(
    workspace: DatabricksStandIn, jobs: JobsByType, life_cycle: str
) -> None:
    """A result that stands there already is not an end."""
    launched = jobs.launch(a_run(workspace), a_context())
    state = {"life_cycle_state": life_cycle, "result_state": "FAILED"}
    workspace.plan(GET, Reply(200, json.dumps({"state": state}).encode()))
    answer = jobs.poll(launched.metadata)
    assert isinstance(answer, Running) and not answer.unseen


def test_a_success_with_failures_says_so(workspace: DatabricksStandIn, jobs: JobsByType) -> None:
    launched = jobs.launch(a_run(workspace), a_context())
    state = {"life_cycle_state": "TERMINATED", "result_state": "SUCCESS_WITH_FAILURES"}
    run = {"state": state, "end_time": 1772531000123}
    workspace.plan(GET, Reply(200, json.dumps(run).encode()))
    answer = jobs.poll(launched.metadata)
    assert isinstance(answer, Succeeded) and "with failures" in answer.message
    assert answer.ended_at is not None


def test_an_unanswered_poll_is_repeated(workspace: DatabricksStandIn, jobs: JobsByType) -> None:
    launched = jobs.launch(a_run(workspace), a_context())
    workspace.plan(GET, Reply(503), Reply(None), Reply(429))
    for _ in range(3):
        with pytest.raises(TransientError):
            jobs.poll(launched.metadata)


def test_a_long_answer_is_read_and_a_longer_one_refused(
    workspace: DatabricksStandIn, jobs: JobsByType
) -> None:
    """Lists of tasks are long."""
    launched = jobs.launch(a_run(workspace), a_context())
    state = {"life_cycle_state": "RUNNING"}
    for size, unseen in ((3 * 1024 * 1024, False), (5 * 1024 * 1024, True)):
        run = {"state": state, "tasks": "x" * size}
        workspace.plan(GET, Reply(200, json.dumps(run).encode()))
        answer = jobs.poll(launched.metadata)
        assert isinstance(answer, Running) and answer.unseen is unseen
