"""Pings: the one GET with an effect. The token in the path is the right, and is never logged."""

import hmac
from collections.abc import Callable, Sequence
from typing import Any

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from interlock.domain.ping import PingSource, signal_of
from interlock.errors import InterlockError
from interlock.operations.tokens import digest_of
from interlock.usecases.take_ping import take_ping
from interlock.web.api.context import ApiContext
from interlock.web.gate import PING
from interlock.web.http_problem import HttpProblem, problem_of
from interlock.web.read_only_refusals import refusal

METHODS = ["GET", "HEAD", "POST"]


def ping_routes(context: ApiContext) -> list[Route]:
    answer = _answering(context)
    return [
        Route(f"{PING}{{token}}", answer, methods=METHODS),
        Route(f"{PING}{{token}}/{{signal}}", answer, methods=METHODS),
    ]


def _answering(context: ApiContext) -> Callable[[Request], Any]:
    async def answer(request: Request) -> Response:
        try:
            await to_thread.run_sync(_take, context, request.path_params)
        except (HttpProblem, InterlockError) as error:
            response = problem_of(error)
        else:
            response = PlainTextResponse("OK")
            context.metrics.readings.labels("accepted").inc()
        context.metrics.requests.labels("ping", response.status_code).inc()
        return response

    return answer


def _take(context: ApiContext, path: dict[str, str]) -> None:
    if context.only_reads:
        raise refusal(context.backend.info, "ping")
    source = _source(context.pings, path["token"])
    said = signal_of(path.get("signal", ""))
    if source is None or said is None:
        raise HttpProblem(404, "not found")
    take_ping(source, *said, context.backend.ports)


def _source(sources: Sequence[PingSource], token: str) -> PingSource | None:
    """In constant time, so that a caller can't learn how much of a token was right."""
    digest, found = digest_of(token), None
    for source in sources:
        if hmac.compare_digest(digest_of(source.token), digest):
            found = source
    return found
