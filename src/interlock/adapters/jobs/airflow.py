"""Airflow jobs: a run of a DAG, whose id is made of our token. v1 is Airflow 2, v2 is Airflow 3."""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any
from urllib.parse import quote

import msgspec

from interlock.adapters.http.http_client import HttpClient, HttpResponse
from interlock.adapters.http.platform_error import PlatformError, without_run_id
from interlock.adapters.jobs.ages import check_age
from interlock.adapters.jobs.airflow_logins import AirflowLogins
from interlock.adapters.jobs.calls import Calls
from interlock.adapters.jobs.classification import launch_category
from interlock.adapters.jobs.handles import metadata_of
from interlock.adapters.jobs.job_config import config_of
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.jobs.job_states import Meaning, judged, meaning_of
from interlock.adapters.jobs.platform_api import Api
from interlock.adapters.jobs.refused_calls import CONFLICT, NOT_FOUND, conflict, expect_yes, refusal
from interlock.adapters.secrets.texts import Texts, dates, run_values
from interlock.domain.budgets import Category
from interlock.domain.job import Absent, Failed, JobContext, Launched, Running, Succeeded
from interlock.domain.job_configs import AirflowConfig, AirflowVersion, Auth
from interlock.domain.pipeline import Pipeline

WHO = "Airflow"
LONGEST_ID = 250
#: After this long in the queue, the adapter asks whether the DAG is paused.
LONG_QUEUED = timedelta(minutes=5)

STATES = {
    "queued": Meaning.RUNNING,
    "running": Meaning.RUNNING,
    "success": Meaning.SUCCEEDED,
    "failed": Meaning.UNEXPLAINED,  # runs of DAGs carry no reason
}

_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_.~:+-]|\.(?=\.)")


#: One without a zone could be any.
Moment = Annotated[datetime, msgspec.Meta(tz=True)]


class Version(msgspec.Struct, frozen=True):
    """What Airflow 3 says of itself."""

    version: str


class Triggered(msgspec.Struct, frozen=True):
    """The answer to a start."""

    dag_run_id: str


class Dag(msgspec.Struct, frozen=True):
    """What Airflow says of a DAG, as far as we ask."""

    is_paused: bool | None = None


class DagRun(msgspec.Struct, frozen=True):
    """What Airflow says of a run, in either version."""

    state: str
    queued_at: Moment | None = None
    start_date: Moment | None = None
    run_after: Moment | None = None
    logical_date: Moment | None = None
    end_date: Moment | None = None

    @property
    def began(self) -> datetime | None:
        """The first of its moments: later ones may be those of a run that was cleared."""
        moments = (self.queued_at, self.start_date, self.run_after, self.logical_date)
        return min(filter(None, moments), default=None)


class AirflowHandle(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """All that polling and cancelling need. URL, headers and login stay as the file wrote them."""

    run_id: str
    run: dict[str, str]
    url: str
    dag_id: str
    api_version: str
    headers: dict[str, str] = {}
    auth: Auth | None = None
    timeout: str = "30s"


class AirflowJobs:
    """Once per id: a second run of that id is refused."""

    def __init__(self, surroundings: Surroundings, client: HttpClient | None = None) -> None:
        self._calls = Calls(surroundings, client)
        self._clock = surroundings.clock
        self._logins = AirflowLogins(surroundings.secrets)

    def preview(self, pipeline: Pipeline, context: JobContext) -> dict[str, Any]:
        config = config_of(pipeline, AirflowConfig)
        guessed = config.api_version is AirflowVersion.AUTO
        version = AirflowVersion.V2 if guessed else config.api_version
        handle = self._handle(config, context, version)
        api, path = self._api(handle), _path(handle)
        own = self._logins.shown(handle.auth, handle.api_version)
        request = api.request("POST", path, _body(config, context, version, api.texts), own)
        note = {"note": "as for Airflow 3; GET /api/v2/version tells before"} if guessed else {}
        return {**api.preview(request), **note}

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        config = config_of(pipeline, AirflowConfig)
        version = self._version(config, context)
        handle = self._handle(config, context, version)
        launched = Launched(handle.run_id, metadata_of(handle))
        texts = self._calls.texts(handle.run)
        answer = self._ask(handle, "POST", _path(handle), _body(config, context, version, texts))
        if answer.status == CONFLICT:
            self._expect_ours(handle, context, answer)
        else:
            expect_yes(answer, WHO)
            _expect_id(answer, handle.run_id)
        return launched

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent:
        config = config_of(pipeline, AirflowConfig)
        handle = self._handle(config, context, self._version(config, context))
        run = self._run(handle)
        if run is None:
            return Absent()
        check_age(run.began, context.opened_at)
        return Launched(handle.run_id, metadata_of(handle))

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        handle = msgspec.convert(metadata, AirflowHandle)
        answer = self._ask(handle, "GET", _path(handle, handle.run_id))
        expect_yes(answer, WHO)
        run = msgspec.convert(answer.json(), DagRun)
        meaning = meaning_of("airflow", run.state, STATES)
        said = self._why_queued(handle, run) if run.state == "queued" else ""
        return judged(meaning, run.state, said, run.end_date)

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        """A run that has ended keeps its state."""
        handle = msgspec.convert(metadata, AirflowHandle)
        run = self._run(handle)
        if run is None or STATES.get(run.state) is not Meaning.RUNNING:
            return False
        return self._ask(handle, "PATCH", _path(handle, handle.run_id), {"state": "failed"}).ok

    def _version(self, config: AirflowConfig, context: JobContext) -> AirflowVersion:
        """What has no such page, or another on it, is Airflow 2. Nothing is started yet."""
        if config.api_version is not AirflowVersion.AUTO:
            return config.api_version
        answer = self._api(self._handle(config, context, AirflowVersion.V2)).ask(
            "GET", "/api/v2/version"
        )
        if launch_category(None, answer.status) is Category.TRANSIENT and not answer.ok:
            raise refusal(answer, WHO)
        return AirflowVersion.V2 if answer.ok and _says_version(answer) else AirflowVersion.V1

    def _handle(
        self, config: AirflowConfig, context: JobContext, version: AirflowVersion
    ) -> AirflowHandle:
        values = run_values(context)
        return AirflowHandle(
            run_id=dag_run_id(context),
            run=values,
            url=config.url,
            dag_id=self._calls.texts(values).text(config.dag_id),
            api_version=version,
            headers=config.headers,
            auth=config.auth,
            timeout=config.timeout,
        )

    def _api(self, handle: AirflowHandle) -> Api:
        texts = self._calls.texts(handle.run)
        return Api(self._calls, handle.url, handle.headers, handle.timeout, texts)

    def _ask(self, handle: AirflowHandle, method: str, path: str, body: Any = None) -> HttpResponse:
        api = self._api(handle)
        return self._logins.send(
            lambda own: api.send(api.request(method, path, body, own)),
            handle.auth,
            handle.api_version,
            api,
        )

    def _run(self, handle: AirflowHandle) -> DagRun | None:
        """None when there is no such run. Raises PlatformError when Airflow does not tell."""
        answer = self._ask(handle, "GET", _path(handle, handle.run_id))
        if answer.status == NOT_FOUND:
            return None
        expect_yes(answer, WHO)
        try:
            return msgspec.convert(answer.json(), DagRun)
        except ValueError as error:
            message = f"{WHO}'s answer can't be read: {error}"
            raise PlatformError(Category.TRANSIENT, message, maybe_started=True) from error

    def _expect_ours(
        self, handle: AirflowHandle, context: JobContext, answer: HttpResponse
    ) -> None:
        """What the id conflicts with must be there, and no older than the run."""
        run = self._run(handle)
        if run is None:
            raise conflict(answer, WHO)
        check_age(run.began, context.opened_at)

    def _why_queued(self, handle: AirflowHandle, run: DagRun) -> str:
        if run.began is None or self._clock() - run.began < LONG_QUEUED:
            return ""
        answer = self._ask(handle, "GET", _dag(handle))
        if not answer.ok or not msgspec.convert(answer.json(), Dag).is_paused:
            return ""
        return f"queued, and the DAG {handle.dag_id} is paused"


def dag_run_id(context: JobContext) -> str:
    """What a person can read, and the token; only characters that Airflow takes."""
    end = f"__{context.token}"
    read = f"interlock__{context.pipeline}__{context.label}"
    return f"{_NOT_IN_IDS.sub('-', read)[: LONGEST_ID - len(end)]}{end}"


def _dag(handle: AirflowHandle) -> str:
    return f"/api/{handle.api_version}/dags/{quote(handle.dag_id, safe='')}"


def _path(handle: AirflowHandle, run_id: str | None = None) -> str:
    runs = f"{_dag(handle)}/dagRuns"
    return runs if run_id is None else f"{runs}/{quote(run_id, safe='')}"


def _body(
    config: AirflowConfig, context: JobContext, version: AirflowVersion, texts: Texts
) -> dict[str, Any]:
    """Airflow 3 wants to be told that the run is for no date of its own calendar."""
    conf = dates(run_values(context)) if config.body is None else texts.value(config.body)
    body: dict[str, Any] = {"dag_run_id": dag_run_id(context), "conf": conf}
    return {**body, "logical_date": None} if version is AirflowVersion.V2 else body


def _expect_id(answer: HttpResponse, run_id: str) -> None:
    """Something between us and Airflow may say yes to anything."""
    try:
        started = msgspec.convert(answer.json(), Triggered)
    except ValueError as error:
        raise without_run_id(WHO) from error
    if started.dag_run_id != run_id:
        raise without_run_id(WHO)


def _says_version(answer: HttpResponse) -> bool:
    try:
        msgspec.convert(answer.json(), Version)
    except ValueError:
        return False
    return True
