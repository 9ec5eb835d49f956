"""Output stream: what a job prints, as it comes, for clients that stay connected, until the job ends."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from interlock.domain import canonical
from interlock.errors import InterlockError
from interlock.operations.requests import OutputQuery
from interlock.queries.run_output import RunOutput
from interlock.web.api.context import ApiContext
from interlock.web.http_problem import HttpProblem

OUTPUT_STREAM = "/runs/{pipeline}/{schedule}/{date}/output/stream"
MOST_FOLLOWERS = 100
_LOOK_SECONDS = 0.5
_QUIET_SECONDS = 15.0
#: How long a browser waits before it comes back.
_RETRY = b"retry: 2000\n\n"
_LARGEST_OFFSET = 2**53


class OutputStreams:
    """All followers of outputs of one server."""

    def __init__(self, context: ApiContext) -> None:
        self._context = context
        self._count = 0

    async def open(self, request: Request, query: OutputQuery) -> Response:
        """The first answer comes before the stream, so that what is not there is an error."""
        if self._count >= MOST_FOLLOWERS:
            raise HttpProblem(503, "too many outputs are followed", headers={"Retry-After": "5"})
        query = _from_place(query, request.headers.get("last-event-id"))
        path = {name: request.path_params[name] for name in ("pipeline", "schedule", "date")}
        first = await run_in_threadpool(self._context.queries.output, **path, query=query)
        return StreamingResponse(
            self._told(path, query, first),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    async def _told(
        self, path: dict[str, str], query: OutputQuery, found: RunOutput
    ) -> AsyncIterator[bytes]:
        self._count += 1
        try:
            yield _RETRY + _spelt(found)
            quiet = 0.0
            while found.is_growing and not self._context.closing:
                if found.end >= found.size or not found.text:
                    await asyncio.sleep(self._look_seconds)
                    quiet += self._look_seconds
                known, query = found, _after(query, found)
                ask = partial(self._context.queries.output, **path, query=query)
                found = await run_in_threadpool(ask)
                if found.text or found.state != known.state:
                    quiet = 0.0
                    yield _spelt(found)
                elif quiet >= _QUIET_SECONDS:
                    quiet = 0.0
                    yield b": still here\n\n"
            if not found.is_growing:
                yield b"event: end\ndata: {}\n\n"
        except InterlockError:
            return  # a client that reconnects gets the error
        finally:
            self._count -= 1

    @property
    def _look_seconds(self) -> float:
        return max(_LOOK_SECONDS, self._context.backend.info.look_seconds)


def _from_place(query: OutputQuery, last_id: str | None) -> OutputQuery:
    """Where to go on: `attempt-offset`, as the last message was named."""
    if last_id is None:
        return query
    attempt, _, offset = last_id.partition("-")
    numbers = (attempt, offset)
    if not all(each.isdecimal() and len(each) <= 16 for each in numbers):
        raise HttpProblem(400, "Last-Event-ID is not one of ours")
    place = min(int(offset), _LARGEST_OFFSET)
    return msgspec.structs.replace(query, attempt=int(attempt), offset=place, tail=None)


def _after(query: OutputQuery, found: RunOutput) -> OutputQuery:
    """The attempt that was begun with is followed to its end, once it has started."""
    attempt = query.attempt if found.state == "waiting" else found.attempt
    return msgspec.structs.replace(query, attempt=attempt, offset=found.end, tail=None)


def _spelt(found: RunOutput) -> bytes:
    return f"id: {found.attempt}-{found.end}\ndata: {canonical.encode(found)}\n\n".encode()
