"""HTTP jobs: a request starts the job, and its answer, a status page or the job itself tells the end."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from interlock.adapters.http.http_client import HttpClient, HttpResponse, Request
from interlock.adapters.http.platform_error import PlatformError
from interlock.adapters.jobs.calls import Calls
from interlock.adapters.jobs.handles import metadata_of
from interlock.adapters.jobs.job_config import config_of
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.jobs.job_states import Meaning, judged
from interlock.adapters.jobs.json_paths import at, text_at
from interlock.adapters.jobs.refused_calls import CONFLICT, NOT_FOUND, conflict, refusal
from interlock.adapters.secrets.texts import Texts, dates, run_values, with_job_run_id
from interlock.domain import canonical, duration
from interlock.domain.budgets import Category
from interlock.domain.job import (
    Absent,
    CannotTell,
    Failed,
    JobContext,
    Launched,
    Running,
    Succeeded,
)
from interlock.domain.job_configs import (
    FAILURE_VALUES,
    SUCCESS_VALUES,
    Completion,
    HttpConfig,
    Method,
)
from interlock.domain.job_forms import JOB_RUN_ID, names_in
from interlock.domain.pipeline import Pipeline

#: A look at a job is short, however long its start may take.
LONGEST_LOOK = 30.0
LONGEST_RUN_ID = 512


class HttpHandle(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True, kw_only=True):
    """All that polling and cancelling need. URLs and headers stay as the file wrote them."""

    run_id: str
    run: dict[str, str]
    completion: Completion
    headers: dict[str, str] = {}
    timeout: str = "30s"
    status_url: str | None = None
    status_path: str = "status"
    success_values: tuple[str, ...] = SUCCESS_VALUES
    failure_values: tuple[str, ...] = FAILURE_VALUES
    error_path: str | None = None
    cancel_url: str | None = None
    follow_redirects: bool = False
    ended_at: datetime | None = None


class HttpJobs:
    """At least once: whether a repeated request starts another job is up to the service that reads the
    Idempotency-Key.
    """

    def __init__(self, surroundings: Surroundings, client: HttpClient | None = None) -> None:
        self._calls = Calls(surroundings, client)
        self._clock = surroundings.clock
        self._looked_for: set[str] = set()

    def preview(self, pipeline: Pipeline, context: JobContext) -> dict[str, Any]:
        config = config_of(pipeline, HttpConfig)
        texts = self._calls.texts(run_values(context))
        return self._calls.preview(_request(config, context, texts), config.headers, texts)

    def launch(self, pipeline: Pipeline, context: JobContext) -> Launched:
        config = config_of(pipeline, HttpConfig)
        handle = _handle(config, context)
        metadata_of(handle)  # what could not be kept track of is not started
        repeated = context.token in self._looked_for
        self._looked_for.discard(context.token)
        texts = self._calls.texts(handle.run)
        answer = self._calls.send(_request(config, context, texts), config.headers, texts)
        if not answer.ok:
            raise _launch_failure(answer, repeated)
        return self._launched(handle, _run_id(config, answer, context.token))

    def find(self, pipeline: Pipeline, context: JobContext) -> Launched | Absent | CannotTell:
        """By the status page, if its address is this run's alone and known without the answer."""
        self._looked_for.add(context.token)
        config = config_of(pipeline, HttpConfig)
        if not _has_page_of_its_own(config):
            return CannotTell()
        handle = _handle(config, context)
        answer = self._look(handle)
        if answer.status == NOT_FOUND:
            return Absent()
        if not answer.ok:
            _raise_if_transient(answer)
            return CannotTell()
        self._looked_for.discard(context.token)
        return self._launched(handle, _found_run_id(config, answer) or context.token)

    def poll(self, metadata: Mapping[str, Any]) -> Running | Succeeded | Failed:
        handle = msgspec.convert(metadata, HttpHandle)
        if handle.completion is Completion.RESPONSE:
            return Succeeded("it answered", handle.ended_at)
        if handle.completion is Completion.EVENT:
            return Running("the job will write its own record")
        answer = self._look(handle)
        if not answer.ok:
            _raise_if_transient(answer)
            return Running(f"the status page answers {answer.status}: {answer.text}", unseen=True)
        return _judged(handle, answer)

    def cancel(self, metadata: Mapping[str, Any]) -> bool:
        handle = msgspec.convert(metadata, HttpHandle)
        if handle.cancel_url is None:
            return False
        return self._ask(handle, handle.cancel_url, Method.POST).ok

    def _launched(self, handle: HttpHandle, run_id: str) -> Launched:
        finished = handle.completion is Completion.RESPONSE
        ended_at = self._clock() if finished else None
        known = msgspec.structs.replace(handle, run_id=run_id, ended_at=ended_at)
        return Launched(run_id, msgspec.to_builtins(known), finished)

    def _look(self, handle: HttpHandle) -> HttpResponse:
        assert handle.status_url is not None
        return self._ask(handle, handle.status_url, Method.GET)

    def _ask(self, handle: HttpHandle, url: str, method: Method) -> HttpResponse:
        texts = self._calls.texts(with_job_run_id(handle.run, handle.run_id))
        request = Request(
            url=texts.url(url),
            method=method,
            timeout=min(_seconds(handle.timeout), LONGEST_LOOK),
            follow_redirects=handle.follow_redirects,
        )
        return self._calls.send(request, handle.headers, texts)


def _handle(config: HttpConfig, context: JobContext) -> HttpHandle:
    asked_again = config.status_url is not None or config.cancel_url is not None
    return HttpHandle(
        run_id=context.token,
        run=run_values(context),
        completion=config.ends_by,
        headers=config.headers if asked_again else {},
        timeout=config.timeout,
        status_url=config.status_url,
        status_path=config.status_path,
        success_values=config.success_values,
        failure_values=config.failure_values,
        error_path=config.error_path,
        cancel_url=config.cancel_url,
        follow_redirects=config.follow_redirects,
    )


def _request(config: HttpConfig, context: JobContext, texts: Texts) -> Request:
    body, kind = _body(config, context, texts)
    return Request(
        url=texts.url(config.url),
        method=config.method,
        own={
            "Idempotency-Key": context.token,
            "X-Interlock-Run": "/".join(
                (context.pipeline, context.schedule, context.label, str(context.attempt))
            ),
            **kind,
        },
        body=body,
        timeout=_seconds(config.timeout),
        follow_redirects=config.follow_redirects,
    )


def _body(
    config: HttpConfig, context: JobContext, texts: Texts
) -> tuple[bytes | None, dict[str, str]]:
    """The bytes to send, and what they are."""
    written = config.body
    if written is None:
        if config.method in (Method.GET, Method.DELETE):
            return None, {}
        written = dates(run_values(context))
    if isinstance(written, str):
        return texts.text(written).encode(), {"Content-Type": "text/plain; charset=utf-8"}
    return canonical.encode(texts.value(written)).encode(), {"Content-Type": "application/json"}


def _launch_failure(answer: HttpResponse, repeated: bool) -> PlatformError:
    """A conflict on a repeat is most likely with ourselves."""
    who = "the job's address"
    if repeated and answer.status == CONFLICT:
        return conflict(answer, who)
    return refusal(answer, who)


def _run_id(config: HttpConfig, answer: HttpResponse, token: str) -> str:
    if config.run_id_path is None:
        return token
    found = _found_run_id(config, answer)
    if found is None:
        message = f"it answers {answer.status}, but has no run id at {config.run_id_path}"
        raise PlatformError(Category.TRANSIENT, message, maybe_started=True)
    return found


def _found_run_id(config: HttpConfig, answer: HttpResponse) -> str | None:
    if config.run_id_path is None:
        return None
    try:
        found = text_at(answer.json(), config.run_id_path)
    except ValueError:
        return None
    return found if found and len(found) <= LONGEST_RUN_ID else None


def _has_page_of_its_own(config: HttpConfig) -> bool:
    """A page that does not name the token would answer for another attempt too."""
    names = () if config.status_url is None else names_in(config.status_url)
    if JOB_RUN_ID in names:
        return config.run_id_path is None
    return "RUN_ID" in names


def _raise_if_transient(answer: HttpResponse) -> None:
    error = refusal(answer, "the status page")
    if error.category is Category.TRANSIENT:
        raise error


def _judged(handle: HttpHandle, answer: HttpResponse) -> Running | Succeeded | Failed:
    try:
        page = answer.json()
    except ValueError as error:
        return Running(f"the status page can't be read: {error}", unseen=True)
    state = text_at(page, handle.status_path)
    if state is None:
        return Running(f"the status page has nothing at {handle.status_path}")
    if _is_among(state, handle.success_values):
        return Succeeded(f"its status is {state}", detail={"state": state})
    if _is_among(state, handle.failure_values):
        return judged(_failure(state), state, _reason(handle, page) or f"its status is {state}")
    return Running(f"its status is {state}")


def _failure(state: str) -> Meaning:
    word = state.casefold()
    if "timeout" in word:
        return Meaning.TIMEOUT
    return Meaning.STOPPED if "cancel" in word or "abort" in word else Meaning.FAILED


def _reason(handle: HttpHandle, page: Any) -> str | None:
    if handle.error_path is None:
        return None
    found = at(page, handle.error_path)
    if found is None or isinstance(found, str):
        return found
    return canonical.encode(found)


def _is_among(state: str, values: tuple[str, ...]) -> bool:
    return state.casefold() in {value.casefold() for value in values}


def _seconds(text: str) -> float:
    return duration.parse(text).total_seconds()
