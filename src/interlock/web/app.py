"""App: the endpoints, behind the gate."""

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from typing import Any

import msgspec
from anyio import to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as ScopeOfRequest

from interlock.domain import canonical
from interlock.errors import InterlockError
from interlock.runtime.tokens import Scope
from interlock.web.api.bodies import read_json
from interlock.web.api.context import ApiContext
from interlock.web.api.endpoints import API, ENDPOINTS, Endpoint, Given, NoQuery
from interlock.web.api.event_stream import Streams, stream_query
from interlock.web.api.openapi import document
from interlock.web.api.pings import ping_routes
from interlock.web.gate import LOGIN, Gate, KnownHosts, caller_of, wants_page
from interlock.web.http_problem import HttpProblem, problem, problem_of
from interlock.web.login import Login
from interlock.web.metrics import CONTENT_TYPE
from interlock.web.pages.site import Site
from interlock.web.read_only_refusals import is_refused, refusal

log = logging.getLogger(__name__)

#: The time limit of every request except streams.
ANSWER_SECONDS = 60.0

_encoder = msgspec.json.Encoder(decimal_format="number")


def application(context: ApiContext, hosts: KnownHosts) -> ASGIApp:
    """The whole interface as one ASGI application."""
    site = Site(context)
    login = Login(context, site)
    routes = [
        *(
            Route(API + row.path, _Answering(row, context), methods=[row.method], name=row.name)
            for row in ENDPOINTS
        ),
        Route(f"{API}/events/stream", _streaming(context), methods=["GET"]),
        Route("/healthz", _alive, methods=["GET"]),
        Route("/readyz", _readiness(context), methods=["GET"]),
        Route("/metrics", _figures(context), methods=["GET"]),
        Route("/openapi.json", _described(), methods=["GET"]),
        Route(LOGIN, login.page, methods=["GET"]),
        Route(LOGIN, login.enter, methods=["POST"]),
        Route("/logout", login.leave, methods=["POST"]),
        *ping_routes(context),
        *site.routes(),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={
            HTTPException: _refusing(site),
            HttpProblem: _refusing(site),
            Exception: _failed,
        },
    )
    app.router.redirect_slashes = False
    return Gate(app, context.access, hosts)


class _Answering:
    """A row as its own ASGI application, which answers every failure with a problem document."""

    def __init__(self, row: Endpoint, context: ApiContext) -> None:
        self._row, self._context = row, context
        self._seconds = context.metrics.seconds.labels(row.name)

    async def __call__(self, scope: ScopeOfRequest, receive: Receive, send: Send) -> None:
        began = time.perf_counter()
        try:
            response = await _answer(self._row, self._context, Request(scope, receive))
        except Exception as error:  # noqa: BLE001 - everything has its problem document
            response = _told(error, self._row.name, self._context)
        self._context.metrics.requests.labels(self._row.name, response.status_code).inc()
        self._seconds.observe(time.perf_counter() - began)
        await response(scope, receive, send)


async def _answer(row: Endpoint, context: ApiContext, request: Request) -> Response:
    if context.only_reads and is_refused(row.name):
        raise refusal(context.backend.place, row.name, request.path_params)
    caller = caller_of(request, row.scope, request.path_params.get("pipeline"))
    query = _query(row.query, request)
    body = await _body(row, request)
    given = Given(caller, request.path_params, query, body)
    status = row.status
    if row.at_once is not None and getattr(query, "wait", None) is None:
        found = await row.at_once(context, given)
    else:
        status = HTTPStatus.ACCEPTED if row.at_once is not None else row.status
        async with asyncio.timeout(ANSWER_SECONDS):
            found = await to_thread.run_sync(_found, row, context, given, abandon_on_cancel=True)
    if found is None:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return Response(_encoder.encode(found), status, media_type="application/json")


def _found(row: Endpoint, context: ApiContext, given: Given) -> Any:
    assert row.act is not None
    if row.scope is not Scope.READ:
        return row.act(context, given)
    asked = (row.name, *sorted(given.path.items()), given.query)
    return context.kept.get(asked, partial(row.act, context, given))


def _query(kind: type[msgspec.Struct], request: Request) -> Any:
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
        if row.bare:
            return None
        raise HttpProblem(422, "a request body is required")
    try:
        return msgspec.convert(value, row.body)
    except msgspec.ValidationError as error:
        raise HttpProblem(422, f"invalid body: {error}") from None


def _streaming(context: ApiContext) -> Callable[[Request], Any]:
    streams = Streams(context)

    async def answer(request: Request) -> Response:
        try:
            caller_of(request, Scope.READ)
            return await streams.open(request, _stream_query(request))
        except Exception as error:  # noqa: BLE001 - everything has its problem document
            return _told(error, "streamEvents", context)

    return answer


def _stream_query(request: Request) -> Any:
    try:
        return stream_query(dict(request.query_params))
    except msgspec.ValidationError as error:
        raise HttpProblem(422, f"invalid query: {error}") from None


async def _alive(request: Request) -> Response:
    return Response(b'{"status":"alive"}', media_type="application/json")


def _readiness(context: ApiContext) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        now = context.backend.ports.clock()
        try:
            async with asyncio.timeout(5):
                reasons = await to_thread.run_sync(
                    context.health.reasons, now, abandon_on_cancel=True
                )
        except TimeoutError:
            reasons = ["the store does not respond"]
        except Exception as error:  # noqa: BLE001 - who can't tell is not ready
            reasons = [f"the server can't determine its state: {type(error).__name__} {error}"]
        if reasons:
            return problem(503, "\n".join(reasons), headers={"Retry-After": "1"})
        return Response(b'{"status":"ready"}', media_type="application/json")

    return answer


def _figures(context: ApiContext) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        try:
            caller_of(request, Scope.READ)
        except HttpProblem as refusal:
            return problem_of(refusal)
        return Response(await run_in_threadpool(context.metrics.text), media_type=CONTENT_TYPE)

    return answer


def _described() -> Callable[[Request], Any]:
    text = canonical.encode(document())

    async def answer(request: Request) -> Response:
        try:
            caller_of(request, Scope.READ)
        except HttpProblem as refusal:
            return problem_of(refusal)
        return Response(text, media_type="application/json")

    return answer


def _told(error: Exception, endpoint: str, context: ApiContext) -> Response:
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


def _refusing(site: Site) -> Callable[[Request, Exception], Any]:
    """Programs get problem documents, browsers get pages."""

    async def refuse(request: Request, error: Exception) -> Response:
        refusal = error if isinstance(error, HttpProblem) else _refusal_of(error)
        if wants_page(request.url.path, request.headers):
            return site.error_page(request, refusal.status, refusal.detail)
        return problem_of(refusal)

    return refuse


def _refusal_of(error: Exception) -> HttpProblem:
    assert isinstance(error, HTTPException)
    detail = _DETAILS.get(error.status_code, "")
    return HttpProblem(error.status_code, detail, headers=dict(error.headers or {}))


async def _failed(request: Request, error: Exception) -> Response:
    return problem_of(error)


_NO_QUERY = NoQuery()
_DETAILS = {404: "not found", 405: "method not allowed"}
