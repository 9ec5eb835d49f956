"""Listener: the socket and its bounds. Who sends no request within seconds is not waited for."""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from interlock.errors import UnavailableError

HEADER_SECONDS = 10.0
LARGEST_HEAD = 64 * 1024
KEEP_ALIVE_SECONDS = 15
CLOSE_SECONDS = 2
MOST_CONNECTIONS = 1000


class BoundedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]
    """As uvicorn has it, with an end to waiting for a request's head."""

    _head: asyncio.TimerHandle | None = None
    _head_bytes = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._have_head()
            return
        self._head_bytes += len(data)
        if self._head_bytes > LARGEST_HEAD:
            self._give_up()
        elif self._head is None:
            self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._have_head()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        self._head = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _have_head(self) -> None:
        self._head_bytes = 0
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _give_up(self) -> None:
        self._head = None
        if self.transport is not None and not self.transport.is_closing():
            self.transport.close()


class Listener(uvicorn.Server):
    """Signals are ours to handle: the controller stops with the server, in that order."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def bound(host: str, port: int) -> socket.socket:
    """Raises UnavailableError when the address can't be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # By its protocol asyncio knows that small answers must not wait for each other.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except OSError as error:
        found.close()
        reason = error.strerror or str(error)
        raise UnavailableError(f"{host}:{port} can't be listened on: {reason}") from error
    return found


def listen(
    app: ASGIApp, where: socket.socket, started: Callable[[], None], stopping: Callable[[], None]
) -> None:
    """Answer until SIGTERM or SIGINT; then finish what is under way, within seconds."""
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=CLOSE_SECONDS,
        h11_max_incomplete_event_size=LARGEST_HEAD,
    )
    listener = Listener(config)

    def stop(*_: object) -> None:
        stopping()
        listener.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    with asyncio.Runner(loop_factory=listener.config.get_loop_factory()) as runner:
        runner.run(_serve(listener, where, started))


async def _serve(listener: Listener, where: socket.socket, started: Callable[[], None]) -> None:
    serving = asyncio.create_task(listener.serve([where]))
    while not listener.started and not serving.done():
        await asyncio.sleep(0.005)
    if listener.started:
        started()
    await serving
