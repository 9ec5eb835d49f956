"""Protocol: HTTP as uvicorn reads it, with a limit on everything a client could drag out.

The server cuts off a client that sends slowly, reads slowly, sends too much before its request is complete,
or holds a connection that another client needs. Malformed requests get problem documents like any other.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import (
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)

from interlock.web.gate import WIRE_HEADERS
from interlock.web.http_problem import problem


@dataclass(frozen=True)
class Bounds:
    """The limits of one connection."""

    #: For the head of a request, and for the rest of a body after its response.
    head_seconds: float = 10.0
    #: For a client that reads slowly, each time it blocks our writing.
    read_seconds: float = 30.0
    largest_head: int = 64 * 1024
    most_headers: int = 100
    #: Past this limit, the server closes the connection that has kept it waiting the longest. The usual
    #: limit of open files is 1,024, and the store needs some of them.
    most_connections: int = 500


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    def __init__(self, *given: Any, bounds: Bounds, **named: Any) -> None:
        super().__init__(*given, **named)
        self._bounds = bounds
        self._patience: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None
        self._in_head = False
        self._head_bytes = 0
        self._waits_since = self.loop.time()
        self._reason = 400, "malformed or ambiguous HTTP/1.1 request"

    # --- the connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._make_room()
        self._await_client()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return  # already refused
        was_in_head = self._in_head
        super().data_received(data)
        if self._is_answering():
            self._stop_waiting()
            return
        self._head_bytes += len(data) if was_in_head and self._in_head else 0
        if self._head_bytes > self._bounds.largest_head:
            self._refuse(*self._too_large())
        elif self._patience is None:
            self._await_client()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._stop_reading_time()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._unread is None:
            self._unread = self.loop.call_later(self._bounds.read_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_reading_time()

    # --- the request

    def on_message_begin(self) -> None:
        self._in_head, self._head_bytes = True, 0
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # trailers are ignored: they arrive after the request was judged
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """An exception here stops the parser, and the server refuses the request."""
        self._check_head()
        self._in_head = False
        self._waits_since = self.loop.time()
        super().on_headers_complete()

    def _check_head(self) -> None:
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > self._bounds.largest_head or len(self.headers) > self._bounds.most_headers:
            self._reason = self._too_large()
        elif not _is_sent_plainly(self.headers):
            self._reason = 501, "unsupported transfer coding; only chunked is supported"
        elif not _names_one_host(self.url, self.headers):
            self._reason = 400, "the request line and the Host header name different hosts"
        else:
            return
        raise ValueError(self._reason[1])

    def on_response_complete(self) -> None:
        self._waits_since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(*self._reason)

    def _too_large(self) -> tuple[int, str]:
        most, kib = self._bounds.most_headers, self._bounds.largest_head // 1024
        return 431, f"headers too large; the limit is {most} headers and {kib} KiB before the body"

    def _refuse(self, status: int, detail: str) -> None:
        if self.transport.is_closing():
            return
        answer = problem(status, detail, headers={"Connection": "close"})
        lines = [name + b": " + value for name, value in (*answer.raw_headers, *WIRE_HEADERS)]
        head = STATUS_LINE[status] + b"\r\n".join(lines) + b"\r\n\r\n"
        self.transport.write(head + bytes(answer.body))
        self.transport.close()

    # --- patience

    def waits_for_client(self) -> bool:
        """Whether the server is waiting for the client."""
        turn = not self._is_answering() or self.cycle.more_body
        return turn and not self.transport.is_closing()

    def _is_answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _await_client(self) -> None:
        self._patience = self.loop.call_later(self._bounds.head_seconds, self._give_up)

    def _stop_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _stop_reading_time(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _give_up(self) -> None:
        self._patience = None
        if not self.transport.is_closing():
            self.transport.close()

    def _make_room(self) -> None:
        if len(self.connections) <= self._bounds.most_connections:
            return
        others = (
            each
            for each in self.connections
            if isinstance(each, BoundedProtocol) and each is not self and each.waits_for_client()
        )
        longest = min(others, key=lambda each: each._waits_since, default=None)
        if longest is not None:
            longest.transport.abort()


def _is_sent_plainly(headers: list[tuple[bytes, bytes]]) -> bool:
    codings = [value.lower() for name, value in headers if name == b"transfer-encoding"]
    return codings in ([], [b"chunked"])


def _names_one_host(url: bytes, headers: list[tuple[bytes, bytes]]) -> bool:
    """The host in the request line must match the Host header, which is the one the gate checks."""
    if url.startswith(b"/"):
        return True
    parts = httptools.parse_url(url)
    host = parts.host or b""
    named = b"[" + host + b"]" if b":" in host else host
    named += b":%d" % parts.port if parts.port else b""
    return [named.lower()] == [value.lower() for name, value in headers if name == b"host"]
