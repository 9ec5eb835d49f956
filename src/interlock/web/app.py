"""App: the endpoints, behind the gate."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
from anyio import to_thread
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from interlock.domain import canonical
from interlock.domain.callers import Scope
from interlock.operations.endpoints import API, ENDPOINTS
from interlock.operations.requests import OutputQuery
from interlock.web.api.answering import Answering, failure, query_of
from interlock.web.api.context import ApiContext
from interlock.web.api.event_stream import Streams, stream_query
from interlock.web.api.openapi import document
from interlock.web.api.output_stream import OUTPUT_STREAM, OutputStreams
from interlock.web.api.pings import ping_routes
from interlock.web.api.slack_actions import slack_routes
from interlock.web.gate import LOGIN, Gate, KnownHosts, caller_of, wants_page
from interlock.web.http_problem import HttpProblem, problem, problem_of
from interlock.web.login import Login
from interlock.web.metrics import CONTENT_TYPE
from interlock.web.pages.site import Site


def application(context: ApiContext, hosts: KnownHosts) -> ASGIApp:
    """The whole interface as one ASGI application."""
    site = Site(context)
    login = Login(context, site)
    routes = [
        *(
            Route(API + row.path, Answering(row, context), methods=[row.method], name=row.name)
            for row in ENDPOINTS
        ),
        Route(f"{API}/events/stream", _streaming(context), methods=["GET"]),
        Route(API + OUTPUT_STREAM, _following(context), methods=["GET"]),
        Route("/healthz", _alive, methods=["GET"]),
        Route("/readyz", _readiness(context), methods=["GET"]),
        Route("/metrics", _figures(context), methods=["GET"]),
        Route("/openapi.json", _described(), methods=["GET"]),
        Route(LOGIN, login.page, methods=["GET"]),
        Route(LOGIN, login.enter, methods=["POST"]),
        Route("/logout", login.leave, methods=["POST"]),
        *ping_routes(context),
        *slack_routes(context),
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


def _streaming(context: ApiContext) -> Callable[[Request], Any]:
    streams = Streams(context)

    async def answer(request: Request) -> Response:
        try:
            caller_of(request, Scope.READ)
            return await streams.open(request, _stream_query(request))
        except Exception as error:  # noqa: BLE001 - everything has its problem document
            return failure(error, "streamEvents", context)

    return answer


def _following(context: ApiContext) -> Callable[[Request], Any]:
    streams = OutputStreams(context)

    async def answer(request: Request) -> Response:
        try:
            caller_of(request, Scope.READ)
            return await streams.open(request, query_of(OutputQuery, request))
        except Exception as error:  # noqa: BLE001 - everything has its problem document
            return failure(error, "streamOutput", context)

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
        except Exception as error:  # noqa: BLE001 - an unknown state counts as not ready
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
    headers = dict(error.headers or {})
    allowed = ", ".join(sorted(headers.get("Allow", "").split(", ")))
    detail = _DETAILS.get(error.status_code, "").format(allowed=allowed)
    return HttpProblem(error.status_code, detail, headers=headers)


async def _failed(request: Request, error: Exception) -> Response:
    return problem_of(error)


_DETAILS = {
    404: "there is nothing at this address; /openapi.json lists every address",
    405: "this method is not allowed here; allowed: {allowed}",
}
