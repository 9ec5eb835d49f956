"""Databricks jobs: a run of an existing job, with our token as its idempotency token."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from interlock.adapters.http.http_client import HttpClient, HttpResponse
from interlock.adapters.http.platform_error import PlatformError, without_run_id
from interlock.adapters.jobs.ages import ALREADY_USED, is_too_old
from interlock.adapters.jobs.calls import Calls
from interlock.adapters.jobs.handles import metadata_of
from interlock.adapters.jobs.job_config import config_of
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.jobs.job_states import Meaning, judged, meaning_of
from interlock.adapters.jobs.platform_api import Api
from interlock.adapters.jobs.refused_calls import CONFLICT, conflict, expect_yes
from interlock.adapters.secrets.texts import Texts, run_values
from interlock.domain import canonical
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, Failed, JobContext, Launched, Running, Succeeded
from interlock.domain.job_configs import DatabricksConfig
from interlock.domain.pipeline import Pipeline

WHO = "Databricks"
LARGEST_ARGUMENTS = 10_000

LIFE_CYCLES = {
    "PENDING": Meaning.RUNNING,
    "QUEUED": Meaning.RUNNING,
    "RUNNING": Meaning.RUNNING,
    "TERMINATING": Meaning.RUNNING,
    "BLOCKED": Meaning.RUNNING,
    "WAITING_FOR_RETRY": Meaning.RUNNING,
    "WAITING": Meaning.RUNNING,
    "SKIPPED": Meaning.TRANSIENT,  # another run of the job was active
    "INTERNAL_ERROR": Meaning.TRANSIENT,
    "TERMINATED": Meaning.UNEXPLAINED,  # it always has a result, which goes before
}
#: A result counts in these only. INTERNAL_ERROR with a result: not verified against the real service.
ENDED = ("TERMINATED", "INTERNAL_ERROR")
RESULTS = {
    "SUCCESS": Meaning.SUCCEEDED,
    "SUCCESS_WITH_FAILURES": Meaning.SUCCEEDED,
    "FAILED": Meaning.FAILED,
    "TIMEDOUT": Meaning.TIMEOUT,
    "CANCELED": Meaning.STOPPED,
    "UPSTREAM_CANCELED": Meaning.STOPPED,
    "MAXIMUM_CONCURRENT_RUNS_REACHED": Meaning.TRANSIENT,
    "EXCLUDED": Meaning.PERMANENT,
    "DISABLED": Meaning.PERMANENT,
    "UPSTREAM_FAILED": Meaning.UNEXPLAINED,
}
#: For the reference.
STATES = {**LIFE_CYCLES, **RESULTS}


class Started(msgspec.Struct, frozen=True):
    """The answer to a start."""

    run_id: int


class State(msgspec.Struct, frozen=True):
    """How a run is doing."""

    life_cycle_state: str
    result_state: str | None = None
    state_message: str | None = None


class DatabricksRun(msgspec.Struct, frozen=True):
    """What Databricks says of a run, as far as we ask."""

    state: State
    start_time: int | None = None
    end_time: int | None = None


class DatabricksHandle(
    msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True
):
    """All that polling and cancelling need. URL and headers stay as the file wrote them."""

    run_id: str
    run: dict[str, str]
    workspace_url: str
    api_version: str
    opened_at: datetime
    headers: dict[str, str] = {}
    timeout: str = "30s"
    job_id: int = 0


class DatabricksJobs:
    """The platform knows our token: a repeated launch gets the same run."""

    def __init__(self, surroundings: Surroundings, client: HttpClient | None = None) -> None:
        self._calls = Calls(surroundings, client)

    def preview(self, pipeline: Pipeline, context: JobContext) -> dict[str, Any]:
        config = config_of(pipeline, DatabricksConfig)
        api = self._api(_handle(config, context))
        return api.preview(api.request("POST", *_start(config, context, api.texts)))

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        config = config_of(pipeline, DatabricksConfig)
        handle = _handle(config, context)
        metadata_of(handle)  # what could not be kept track of is not started
        api = self._api(handle)
        answer = api.ask("POST", *_start(config, context, api.texts))
        if answer.status == CONFLICT:
            raise conflict(answer, WHO)
        expect_yes(answer, WHO)
        run_id = _run_id(answer)
        known = msgspec.structs.replace(handle, run_id=run_id)
        return Launched(run_id, metadata_of(known))

    def find(self, pipeline: Pipeline, context: JobContext) -> Absent:
        """Runs can't be looked up by their token, and need not be."""
        return Absent()

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        handle = msgspec.convert(metadata, DatabricksHandle)
        path = f"{_base(handle.api_version)}/runs/get?run_id={int(handle.run_id)}"
        answer = self._api(handle).ask("GET", path)
        expect_yes(answer, WHO)
        run = msgspec.convert(answer.json(), DatabricksRun)
        if is_too_old(_moment(run.start_time), handle.opened_at):
            return judged(Meaning.PERMANENT, run.state.life_cycle_state, ALREADY_USED)
        return _judged(run.state, _moment(run.end_time))

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        handle = msgspec.convert(metadata, DatabricksHandle)
        body = {"run_id": int(handle.run_id)}
        path = f"{_base(handle.api_version)}/runs/cancel"
        return self._api(handle).ask("POST", path, body).ok

    def _api(self, handle: DatabricksHandle) -> Api:
        texts = self._calls.texts(handle.run)
        return Api(self._calls, handle.workspace_url, handle.headers, handle.timeout, texts)


def _handle(config: DatabricksConfig, context: JobContext) -> DatabricksHandle:
    return DatabricksHandle(
        run_id="",
        run=run_values(context),
        workspace_url=config.workspace_url,
        api_version=config.api_version,
        opened_at=context.opened_at,
        headers=config.headers,
        timeout=config.timeout,
        job_id=config.job_id,
    )


def _start(
    config: DatabricksConfig, context: JobContext, texts: Texts
) -> tuple[str, dict[str, Any]]:
    """Runs an existing job: `runs/submit` would run tasks that belong to no job."""
    body: dict[str, Any] = {"job_id": config.job_id, "idempotency_token": context.token}
    arguments = texts.value(config.arguments)
    if len(canonical.encode(arguments).encode()) > LARGEST_ARGUMENTS:
        message = f"the arguments are more than {LARGEST_ARGUMENTS} bytes as JSON"
        raise PlatformError(Category.PERMANENT, message)
    if arguments:
        body[config.arguments_as] = arguments
    return f"{_base(config.api_version)}/run-now", body


def _base(version: str) -> str:
    return f"/api/{version}/jobs"


def _run_id(answer: HttpResponse) -> str:
    """A whole number of 64 bits, never read through a float."""
    try:
        return str(msgspec.convert(answer.json(), Started).run_id)
    except ValueError as error:
        raise without_run_id(WHO) from error


def _judged(state: State, ended_at: datetime | None) -> Running | Succeeded | Failed:
    life_cycle, result = state.life_cycle_state, state.result_state
    said = state.state_message or ""
    if life_cycle not in ENDED or not result:
        meaning = meaning_of("databricks", life_cycle, LIFE_CYCLES)
        return judged(meaning, life_cycle, said, ended_at)
    if result == "SUCCESS_WITH_FAILURES":
        said = f"succeeded, with failures: {said}"
    return judged(_result(result), result, said, ended_at)


def _result(result: str) -> Meaning:
    """It has ended, so an unknown result is a failure, not a reason to wait."""
    known = meaning_of("databricks", result, RESULTS)
    return known if result in RESULTS else Meaning.UNEXPLAINED


def _moment(milliseconds: int | None) -> datetime | None:
    """0 stands for: not yet."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds else None
