"""Answering: a request to a row of the interface, from its types to its answer."""

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

import msgspec
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Send
from starlette.types import Scope as ScopeOfRequest

from interlock.domain.callers import Scope
from interlock.domain.lineage import sources_of
from interlock.errors import InterlockError
from interlock.operations.endpoints import Endpoint
from interlock.operations.requests import NoQuery
from interlock.web.access import Caller
from interlock.web.api.bodies import read_json
from interlock.web.api.context import ApiContext
from interlock.web.api.readings import count_readings, put_reading
from interlock.web.gate import caller_of
from interlock.web.http_problem import HttpProblem, problem, problem_of
from interlock.web.read_only_refusals import is_refused, refusal

log = logging.getLogger(__name__)

#: The time limit of every request except streams.
ANSWER_SECONDS = 60.0

_encoder = msgspec.json.Encoder(decimal_format="number")
_NO_QUERY = NoQuery()


class Answering:
    """A row as its own ASGI application, which answers every failure with a problem document."""

    def __init__(self, row: Endpoint, context: ApiContext) -> None:
        self._row, self._context = row, context
        self._seconds = context.metrics.seconds.labels(row.name)

    async def __call__(self, scope: ScopeOfRequest, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        try:
            response = await _answer(self._row, self._context, Request(scope, receive))
        except Exception as error:  # noqa: BLE001 - everything has its problem document
            response = failure(error, self._row.name, self._context)
        self._context.metrics.requests.labels(self._row.name, response.status_code).inc()
        self._seconds.observe(time.perf_counter() - began)
        await response(scope, receive, send)


async def _answer(row: Endpoint, context: ApiContext, request: Request) -> Response:
    path = request.path_params
    if context.only_reads and is_refused(row.name):
        raise refusal(context.backend.info, row.name, path)
    caller = caller_of(request, row.scope, path.get("pipeline"))
    query = query_of(row.query, request)
    body = await _body(row, request)
    if row.name in _RIGHTS:
        _RIGHTS[row.name](context, caller, body)
    found: Any
    async with asyncio.timeout(ANSWER_SECONDS):
        if row.name == "putSensor":
            found = await put_reading(context, caller, row.arguments(path, query, body))
        else:
            call = partial(_call, row, context, caller, row.arguments(path, query, body))
            found = await to_thread.run_sync(call, abandon_on_cancel=True)
    if found is None:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    is_awaited = getattr(query, "wait", None) is not None
    status = HTTPStatus.ACCEPTED if is_awaited else row.status
    return Response(_encoder.encode(found), status, media_type="application/json")


def _call(row: Endpoint, context: ApiContext, caller: Caller, arguments: dict[str, Any]) -> Any:
    if row.is_query:
        ask = partial(getattr(context.queries, row.asks), **arguments)
        if row.method != "GET":
            return ask()
        return context.cache.get((row.name, *sorted(arguments.items())), ask)
    found = getattr(context.commands(caller), row.asks)(**arguments)
    if row.scope is Scope.OWN:
        context.access.refresh()
    count_readings(row, found, context.metrics)
    return found


def query_of(kind: type[msgspec.Struct], request: Request) -> Any:
    """The query of a request, as a struct. Raises HttpProblem."""
    given = request.query_params.multi_items()
    if not given and kind is NoQuery:
        return _NO_QUERY
    named = dict(given)
    if len(named) != len(given):
        raise HttpProblem(422, "a query parameter appears more than once")
    try:
        return msgspec.convert(named, kind, strict=False)
    except msgspec.ValidationError as error:
        raise HttpProblem(422, f"invalid query: {error}") from None


async def _body(row: Endpoint, request: Request) -> Any:
    if row.body is None:
        return None
    value = await read_json(request, row.largest)
    if value is None:
        if row.may_be_bare:
            return None
        raise HttpProblem(422, "a request body is required")
    try:
        return msgspec.convert(value, row.body)
    except msgspec.ValidationError as error:
        raise HttpProblem(422, f"invalid body: {error}") from None


def failure(error: Exception, endpoint: str, context: ApiContext) -> Response:
    """The problem document of whatever went wrong."""
    if isinstance(error, TimeoutError):
        return problem(503, "the request timed out")
    if not isinstance(error, HttpProblem | InterlockError):
        log.error(
            "a request failed",
            exc_info=error,
            extra={"action": "request_failed", "endpoint": endpoint},
        )
    return problem_of(
        context.backend.explained(error) if isinstance(error, InterlockError) else error
    )


def _may_report_all(context: ApiContext, caller: Caller, body: Any) -> None:
    _may_report(caller, {each.pipeline_id for each in body})


def _may_report_lineage(context: ApiContext, caller: Caller, body: Any) -> None:
    _may_report(caller, {source.pipeline for source in sources_of(body, context.lineage)})


def _may_report(caller: Caller, pipelines: set[str]) -> None:
    denied = sorted(name for name in pipelines if not caller.may(Scope.OBSERVE, name))
    if denied:
        raise HttpProblem(403, f"the token may not report for {', '.join(denied[:5])}")


#: Rights that hang on the body.
_RIGHTS: dict[str, Callable[[ApiContext, Caller, Any], None]] = {
    "putSensors": _may_report_all,
    "putLineage": _may_report_lineage,
}
