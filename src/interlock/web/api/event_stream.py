"""Stream: events as they are published, for connected clients. A client that reconnects misses none."""

import asyncio
from collections.abc import AsyncIterator

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from interlock.domain import canonical
from interlock.domain.event import ALIASES
from interlock.domain.history import LoggedEvent
from interlock.errors import InterlockError
from interlock.operations.requests import Query, Text
from interlock.web.api.context import ApiContext
from interlock.web.http_problem import HttpProblem

MOST_STREAMS = 100
_AT_ONCE = 500
_LOOK_SECONDS = 0.2
_QUIET_SECONDS = 15.0
_PULSE_SECONDS = 2.0
_PULSE = b"event: pulse\ndata: {}\n\n"
#: For a client whose last event is older than what can be replayed: the event log has the rest.
_GAP = b"event: gap\ndata: {}\n\n"
#: How long a browser waits before it reconnects.
_RETRY = b"retry: 2000\n\n"


class StreamQuery(Query, frozen=True, kw_only=True):
    pipeline: Text | None = None
    type: Text | None = None
    #: Without names one listener of a browser hears every event.
    named: bool = True
    #: Also an event named `pulse` when anything was written, every two seconds at most.
    pulse: bool = False


class Streams:
    """All the streams of one server."""

    def __init__(self, context: ApiContext) -> None:
        self._context = context
        self._count = 0

    async def open(self, request: Request, query: StreamQuery) -> Response:
        if self._count >= MOST_STREAMS:
            raise HttpProblem(503, "too many streams are open", headers={"Retry-After": "5"})
        seq = await run_in_threadpool(self._place, request.headers.get("last-event-id"))
        return StreamingResponse(
            self._told(seq, query),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    def _place(self, last_id: str | None) -> int:
        """Where to resume; a position beyond the end of this log belongs to another log."""
        last = self._context.backend.feed.last()
        if last_id is None:
            return last
        if not last_id.isdecimal() or len(last_id) > 18:
            raise HttpProblem(400, "Last-Event-ID is not one of ours")
        return min(int(last_id), last)

    async def _told(self, seq: int, query: StreamQuery) -> AsyncIterator[bytes]:
        feed = self._context.backend.feed
        kind = None if query.type is None else ALIASES.get(query.type, query.type)
        self._count += 1
        try:
            yield _RETRY if seq >= feed.oldest() else _RETRY + _GAP
            seen, felt, quiet = -1, feed.changes(), 0.0
            while not self._context.closing:
                changes = feed.changes()
                told = [] if changes == seen else await run_in_threadpool(feed.after, seq, _AT_ONCE)
                seen = seen if len(told) == _AT_ONCE else changes
                text = b"".join(
                    _spelt(each, query.named) for each in told if _is_wanted(each, query, kind)
                )
                seq = told[-1].seq if told else seq
                quiet = 0.0 if text else quiet + _LOOK_SECONDS
                if text:
                    yield text
                elif query.pulse and quiet >= _PULSE_SECONDS and changes != felt:
                    felt, quiet = changes, 0.0
                    yield _PULSE
                elif quiet >= _QUIET_SECONDS:
                    quiet = 0.0
                    yield b": still here\n\n"
                if len(told) < _AT_ONCE:
                    await asyncio.sleep(_LOOK_SECONDS)
        except InterlockError:
            return  # a client that reconnects gets the error
        finally:
            self._count -= 1


def _is_wanted(told: LoggedEvent, query: StreamQuery, kind: str | None) -> bool:
    return query.pipeline in (None, told.event.pipeline_id) and kind in (None, told.event.type)


def _spelt(told: LoggedEvent, named: bool) -> bytes:
    text = canonical.encode(told.event)
    name = f"event: {told.event.type}\n" if named else ""
    return f"id: {told.seq}\n{name}data: {text}\n\n".encode()


def stream_query(given: dict[str, str]) -> StreamQuery:
    return msgspec.convert(given, StreamQuery, strict=False)
