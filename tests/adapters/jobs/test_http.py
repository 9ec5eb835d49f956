"""Jobs over HTTP, beyond the contract."""

import json
from pathlib import Path
from typing import Any

import pytest

from adapters.jobs.job_samples import CANARY, ENVIRONMENT, a_context, a_job, surroundings
from adapters.jobs.stand_in import Reply, StandIn
from interlock.adapters.jobs.by_type import JobsByType
from interlock.adapters.secrets.references import Secrets
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, CannotTell, Failed, Launched, Running, Succeeded
from interlock.domain.pipeline import Pipeline
from interlock.errors import LaunchError, TransientError

TOKEN = a_context().token


@pytest.fixture
def jobs(tmp_path: Path) -> JobsByType:
    return JobsByType(surroundings(tmp_path))


def an_http(stand_in: StandIn, path: str = "/jobs/hang", **config: Any) -> Pipeline:
    return a_job("http", url=f"{stand_in.url}{path}", **config)


def polled(stand_in: StandIn, path: str = "/jobs/hang", **config: Any) -> Pipeline:
    return an_http(stand_in, path, statusUrl=f"{stand_in.url}/runs/${{JOB_RUN_ID}}", **config)


def failure(jobs: JobsByType, pipeline: Pipeline) -> LaunchError:
    with pytest.raises(LaunchError) as error:
        jobs.launch(pipeline, a_context())
    return error.value


# --- the request ----------------------------------------------------------------------------------


def test_a_request_names_its_run_and_carries_the_dates(jobs: JobsByType, stand_in: StandIn) -> None:
    context = a_context(1, "2026-03-03T10")
    jobs.launch(an_http(stand_in), context)
    seen = stand_in.seen[0]
    assert seen.method == "POST"
    assert seen.headers["idempotency-key"] == context.token
    assert seen.headers["x-interlock-run"] == "silver-orders/stream/2026-03-03T10/1"
    assert seen.headers["content-type"] == "application/json"
    assert json.loads(seen.body) == {"par_day": "20260303", "par_hour": "10"}


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_some_methods_carry_nothing_by_themselves(
    jobs: JobsByType, stand_in: StandIn, method: str
) -> None:
    jobs.launch(an_http(stand_in, method=method), a_context())
    assert stand_in.seen[0].body == b"" and "content-type" not in stand_in.seen[0].headers


@pytest.mark.parametrize(
    ("body", "sent", "kind"),
    [
        ({"d": "${DATE}", "n": 1}, b'{"d":"2026-03-03","n":1}', "application/json"),
        (["${INTERLOCK_BASE}"], '["base/é"]'.encode(), "application/json"),
        ({}, b"{}", "application/json"),
        ("day=${DATE}", b"day=2026-03-03", "text/plain; charset=utf-8"),
    ],
)
def test_a_given_body_is_sent_as_it_is(
    jobs: JobsByType, stand_in: StandIn, body: Any, sent: bytes, kind: str
) -> None:
    jobs.launch(an_http(stand_in, body=body), a_context())
    assert (stand_in.seen[0].body, stand_in.seen[0].headers["content-type"]) == (sent, kind)


def test_texts_are_replaced_in_the_address_and_the_headers(
    jobs: JobsByType, stand_in: StandIn
) -> None:
    headers = {"X-Day": "${DATE}", "X-Key": "secret://env/INTERLOCK_CANARY", "Content-Type": "a/b"}
    jobs.launch(an_http(stand_in, "/jobs/hang?l=${LABEL}", headers=headers), a_context())
    seen = stand_in.seen[0]
    assert seen.path == "/jobs/hang?l=2026-03-03"
    assert seen.headers["x-day"] == "2026-03-03"
    assert seen.headers["x-key"] == CANARY
    assert seen.headers["content-type"] == "a/b"


# --- the launch -----------------------------------------------------------------------------------


def test_without_a_status_page_the_answer_is_the_end(jobs: JobsByType, stand_in: StandIn) -> None:
    launched = jobs.launch(an_http(stand_in), a_context())
    assert launched.finished and launched.run_id == TOKEN
    answer = jobs.poll(launched.metadata)
    assert isinstance(answer, Succeeded) and answer.ended_at is not None
    assert len(stand_in.seen) == 1  # polling sent no request


def test_a_job_that_tells_its_own_end_is_running_until_then(
    jobs: JobsByType, stand_in: StandIn
) -> None:
    launched = jobs.launch(an_http(stand_in, completion="event"), a_context())
    assert not launched.finished
    assert isinstance(jobs.poll(launched.metadata), Running)


def test_the_run_id_is_where_the_path_says(jobs: JobsByType, stand_in: StandIn) -> None:
    stand_in.plan("/x", Reply(202, b'{"items": [{"id": 12345678901234567890}]}'))
    launched = jobs.launch(polled(stand_in, "/x", runIdPath="items.0.id"), a_context())
    assert launched.run_id == "12345678901234567890"
    jobs.poll(launched.metadata)
    assert stand_in.seen[-1].path == "/runs/12345678901234567890"


@pytest.mark.parametrize(
    "body", [b"{}", b"not json", b'{"id": ""}', b'{"id": null}', b'{"id": {}}']
)
def test_an_answer_without_a_run_id_may_have_started_the_job(
    jobs: JobsByType, stand_in: StandIn, body: bytes
) -> None:
    stand_in.plan("/x", Reply(200, body))
    error = failure(jobs, polled(stand_in, "/x", runIdPath="id"))
    assert error.category == Category.TRANSIENT and error.maybe_started


@pytest.mark.parametrize(
    ("status", "category", "maybe"),
    [
        (302, "PERMANENT", False),
        (400, "PERMANENT", False),
        (404, "PERMANENT", False),
        (409, "PERMANENT", False),
        (408, "TRANSIENT", False),
        (429, "TRANSIENT", False),
        (500, "TRANSIENT", False),
        (502, "TRANSIENT", True),
        (504, "TRANSIENT", True),
    ],
)
def test_an_answer_that_is_no_start(
    jobs: JobsByType, stand_in: StandIn, status: int, category: str, maybe: bool
) -> None:
    stand_in.plan("/x", Reply(status, b"\x1b[31mwhy\xff"))
    error = failure(jobs, an_http(stand_in, "/x"))
    assert (error.category, error.maybe_started) == (category, maybe)
    assert str(error) == f"the job's address answers {status}:  [31mwhy\ufffd"


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (Reply(503, b""), "the job's address answers 503"),
        (
            Reply(302, headers={"Location": "/login"}),
            "the job's address answers 302 and leads to /login, which is not followed",
        ),
    ],
)
def test_an_answer_without_words_still_says_what_is_wrong(
    jobs: JobsByType, stand_in: StandIn, reply: Reply, message: str
) -> None:
    stand_in.plan("/x", reply)
    assert str(failure(jobs, an_http(stand_in, "/x"))) == message


def test_a_conflict_on_a_repeat_is_with_ourselves(jobs: JobsByType, stand_in: StandIn) -> None:
    stand_in.plan("/x", Reply(409), Reply(409))
    pipeline = an_http(stand_in, "/x")
    assert isinstance(jobs.find(pipeline, a_context()), CannotTell)
    error = failure(jobs, pipeline)
    assert error.category == Category.TRANSIENT and error.maybe_started
    assert failure(jobs, pipeline).category == Category.PERMANENT


def test_a_launch_is_never_repeated_by_itself(jobs: JobsByType, stand_in: StandIn) -> None:
    stand_in.fault = lambda seen: Reply(503)
    failure(jobs, an_http(stand_in))
    assert len(stand_in.seen) == 1


@pytest.mark.parametrize(
    "config",
    [
        {"headers": {"A": "secret://env/INTERLOCK_MISSING"}},
        {"headers": {"A": "secret://env/INTERLOCK_TOKEN"}},
        {"headers": {"A": "x", "a": "y"}},
        {"headers": {"Host": "elsewhere"}},
        {"headers": {"A": "${INTERLOCK_LINES}"}},
        {"headers": {"A": "x" * 16_000}, "statusUrl": "http://127.0.0.1/"},
        {"body": "${HOUR}"},
        {"body": "${INTERLOCK_UNSET}"},
        {"method": "TRACE"},
        {"timeout": []},
    ],
)
def test_what_can_never_work_is_permanent_and_sends_nothing(
    tmp_path: Path, stand_in: StandIn, config: dict[str, Any]
) -> None:
    environment = {**ENVIRONMENT, "INTERLOCK_LINES": "a\r\nB: c", "INTERLOCK_TOKEN": "ours"}
    error = failure(JobsByType(surroundings(tmp_path, environment)), an_http(stand_in, **config))
    assert error.category == Category.PERMANENT and not error.maybe_started
    assert "ours" not in str(error)
    assert not stand_in.seen


def test_a_blocked_address_is_permanent(jobs: JobsByType) -> None:
    error = failure(jobs, a_job("http", url="http://169.254.169.254/latest/meta-data"))
    assert error.category == Category.PERMANENT


def test_nobody_listening_is_transient_and_not_started(jobs: JobsByType) -> None:
    error = failure(jobs, a_job("http", url="http://127.0.0.1:1/"))
    assert error.category == Category.TRANSIENT and not error.maybe_started


# --- secrets --------------------------------------------------------------------------------------


def test_a_refused_secret_is_looked_up_again_once(tmp_path: Path, stand_in: StandIn) -> None:
    values = iter(["old-secret", "new-secret", "never"])
    secrets = Secrets({}, fetch=lambda arn: next(values))
    jobs = JobsByType(surroundings(tmp_path, {}, secrets=secrets))
    stand_in.plan("/jobs/hang", Reply(401))
    headers = {"Authorization": "Bearer secret://aws-sm/arn:x"}
    launched = jobs.launch(polled(stand_in, headers=headers), a_context())
    sent = [seen.headers["authorization"] for seen in stand_in.seen]
    assert sent == ["Bearer old-secret", "Bearer new-secret"]
    stand_in.plan(f"/runs/{TOKEN}", Reply(401), Reply(401, b"you said new-secret or never"))
    answer = jobs.poll(launched.metadata)
    assert isinstance(answer, Running) and answer.unseen
    assert answer.message == "the status page answers 401: you said *** or ***"


def test_a_refusal_without_a_secret_is_not_repeated(jobs: JobsByType, stand_in: StandIn) -> None:
    stand_in.plan("/x", Reply(401), Reply(200))
    assert failure(jobs, an_http(stand_in, "/x")).category == Category.PERMANENT
    assert len(stand_in.seen) == 1


def test_a_variable_in_a_header_of_secrets_is_one_too(tmp_path: Path, stand_in: StandIn) -> None:
    jobs = JobsByType(
        surroundings(tmp_path, {"INTERLOCK_KEY": "sesame", "INTERLOCK_TEAM": "orders"})
    )
    stand_in.plan("/x", Reply(400, b"orders said sesame"))
    headers = {"X-Api-Key": "${INTERLOCK_KEY}", "X-Team": "${INTERLOCK_TEAM}"}
    error = failure(jobs, an_http(stand_in, "/x", headers=headers))
    assert str(error).endswith("orders said ***")


def test_metadata_keeps_headers_and_addresses_as_they_were_written(
    jobs: JobsByType, stand_in: StandIn
) -> None:
    headers = {"Authorization": "Bearer secret://env/INTERLOCK_CANARY", "X-Day": "${DATE}"}
    launched = jobs.launch(polled(stand_in, headers=headers), a_context())
    assert launched.metadata["headers"] == headers
    assert launched.metadata["statusUrl"].endswith("/runs/${JOB_RUN_ID}")
    jobs.poll(launched.metadata)
    assert stand_in.seen[-1].headers["authorization"] == f"Bearer {CANARY}"
    assert stand_in.seen[-1].headers["x-day"] == "2026-03-03"


def test_a_poll_whose_secret_is_gone_can_not_see_the_job(tmp_path: Path, stand_in: StandIn) -> None:
    headers = {"Authorization": "secret://env/INTERLOCK_CANARY"}
    launched = JobsByType(surroundings(tmp_path)).launch(
        polled(stand_in, headers=headers), a_context()
    )
    answer = JobsByType(surroundings(tmp_path, {})).poll(launched.metadata)
    assert isinstance(answer, Running) and answer.unseen and "INTERLOCK_CANARY" in answer.message


# --- the poll -------------------------------------------------------------------------------------


def status(stand_in: StandIn, jobs: JobsByType, page: Any, **config: Any) -> Any:
    launched = jobs.launch(polled(stand_in, **config), a_context())
    stand_in.plan(f"/runs/{TOKEN}", Reply(body=json.dumps(page).encode()))
    return jobs.poll(launched.metadata)


@pytest.mark.parametrize(
    "word", ["success", "SUCCEEDED", "Completed", "complete", "done", "finished"]
)
def test_words_of_success(jobs: JobsByType, stand_in: StandIn, word: str) -> None:
    assert isinstance(status(stand_in, jobs, {"status": word}), Succeeded)


@pytest.mark.parametrize(
    ("word", "category", "stopped"),
    [
        ("failed", None, False),
        ("FAILURE", None, False),
        ("error", None, False),
        ("timeout", Category.TIMEOUT, False),
        ("cancelled", None, True),
        ("Canceled", None, True),
        ("aborted", None, True),
    ],
)
def test_words_of_failure(
    jobs: JobsByType, stand_in: StandIn, word: str, category: Category | None, stopped: bool
) -> None:
    answer = status(stand_in, jobs, {"status": word})
    assert isinstance(answer, Failed)
    assert (answer.category, answer.stopped, answer.detail) == (category, stopped, {"state": word})


def test_words_of_ones_own(jobs: JobsByType, stand_in: StandIn) -> None:
    config = {
        "statusPath": "a.b",
        "successValues": ["Gut", "true"],
        "failureValues": ["Schlecht", "Timeout-ish", "7"],
        "errorPath": "why",
    }
    assert isinstance(status(stand_in, jobs, {"a": {"b": "GUT"}}, **config), Succeeded)
    assert isinstance(status(stand_in, jobs, {"a": {"b": True}}, **config), Succeeded)
    assert isinstance(status(stand_in, jobs, {"a": {"b": 7}}, **config), Failed)
    assert isinstance(status(stand_in, jobs, {"a": {"b": "done"}}, **config), Running)
    late = status(stand_in, jobs, {"a": {"b": "timeout-ISH"}, "why": "slow"}, **config)
    assert isinstance(late, Failed) and late.category is Category.TIMEOUT and late.message == "slow"


def test_the_reason_of_a_failure_is_a_hint(jobs: JobsByType, stand_in: StandIn) -> None:
    page = {"status": "failed", "error": {"what": "Connection reset by peer"}}
    answer = status(stand_in, jobs, page, errorPath="error")
    assert isinstance(answer, Failed)
    assert answer.category is Category.TRANSIENT
    assert answer.detail == {"state": "failed", "hint": "Connection reset"}


@pytest.mark.parametrize(
    "page", [{"status": "queued"}, {"status": None}, {}, [], "x", {"status": {}}]
)
def test_anything_else_is_running(jobs: JobsByType, stand_in: StandIn, page: Any) -> None:
    answer = status(stand_in, jobs, page)
    assert isinstance(answer, Running) and not answer.unseen


@pytest.mark.parametrize("code", [408, 429, 500, 503])
def test_a_page_that_is_down_is_asked_again(jobs: JobsByType, stand_in: StandIn, code: int) -> None:
    launched = jobs.launch(polled(stand_in), a_context())
    stand_in.plan(f"/runs/{TOKEN}", Reply(code))
    with pytest.raises(TransientError):
        jobs.poll(launched.metadata)


@pytest.mark.parametrize("reply", [Reply(None), Reply(200, b"x", {"Content-Length": "9"})])
def test_a_page_that_breaks_off_is_asked_again(
    jobs: JobsByType, stand_in: StandIn, reply: Reply
) -> None:
    launched = jobs.launch(polled(stand_in), a_context())
    stand_in.plan(f"/runs/{TOKEN}", reply)
    with pytest.raises(TransientError):
        jobs.poll(launched.metadata)


@pytest.mark.parametrize(
    "reply",
    [
        Reply(401),
        Reply(403),
        Reply(404),
        Reply(302),
        Reply(200, b"<html>"),
        Reply(200, b" " * 70_000),
    ],
)
def test_a_page_that_does_not_tell_hides_the_job(
    jobs: JobsByType, stand_in: StandIn, reply: Reply
) -> None:
    launched = jobs.launch(polled(stand_in), a_context())
    stand_in.plan(f"/runs/{TOKEN}", reply)
    answer = jobs.poll(launched.metadata)
    assert isinstance(answer, Running) and answer.unseen and answer.message


# --- find and cancel ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "found"),
    [
        ({}, CannotTell),
        ({"statusUrl": "{}/runs/${{JOB_RUN_ID}}"}, Launched),  # the run id is the token
        ({"statusUrl": "{}/runs/${{RUN_ID}}", "runIdPath": "run.id"}, Launched),
        ({"statusUrl": "{}/runs/${{JOB_RUN_ID}}", "runIdPath": "run.id"}, CannotTell),
        ({"statusUrl": "{}/runs/latest"}, CannotTell),  # would answer for any run
        ({"statusUrl": "{}/runs/${{RUN_ID}}-x"}, Absent),
    ],
)
def test_a_job_is_found_by_a_page_of_its_own(
    jobs: JobsByType, stand_in: StandIn, config: dict[str, str], found: type
) -> None:
    urls = {name: value.format(stand_in.url) for name, value in config.items() if "{" in value}
    pipeline = an_http(stand_in, **{**config, **urls})
    jobs.launch(pipeline, a_context())
    assert isinstance(jobs.find(pipeline, a_context()), found)


def test_a_look_that_fails_for_a_moment_is_no_answer(jobs: JobsByType, stand_in: StandIn) -> None:
    stand_in.fault = lambda seen: Reply(503)
    with pytest.raises(TransientError):
        jobs.find(polled(stand_in), a_context())
    stand_in.fault = lambda seen: Reply(403)
    assert isinstance(jobs.find(polled(stand_in), a_context()), CannotTell)


def test_without_an_address_for_it_a_job_can_not_be_cancelled(
    jobs: JobsByType, stand_in: StandIn
) -> None:
    launched = jobs.launch(polled(stand_in), a_context())
    assert not jobs.cancel(launched.metadata)


def test_cancelling_without_an_answer_does_not_raise(jobs: JobsByType, stand_in: StandIn) -> None:
    pipeline = polled(stand_in, cancelUrl="http://127.0.0.1:1/")
    assert not jobs.cancel(jobs.launch(pipeline, a_context()).metadata)
