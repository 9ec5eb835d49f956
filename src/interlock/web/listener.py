"""Listener: the socket, and the server that answers on it until a signal stops it."""

import asyncio
import contextlib
import errno
import signal
import socket
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from interlock.errors import UnavailableError
from interlock.web.forced_stop import STOP_WITHIN, force_stop_after
from interlock.web.protocol import BoundedProtocol, Bounds

KEEP_ALIVE_SECONDS = 15
CLOSE_SECONDS = 2
#: A connection with a request in progress is never closed for another; past this limit, new ones are refused.
_ALL_BUSY = 100


class Listener(uvicorn.Server):
    """We handle the signals ourselves, to stop the controller and the server in order."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def bound(host: str, port: int) -> socket.socket:
    """Raises UnavailableError when the server can't bind the address."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # From the protocol, asyncio knows to set TCP_NODELAY: small answers must not wait for each other.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except OSError as error:
        found.close()
        reason = error.strerror or str(error)
        hint = _another(host, port, family) if error.errno == errno.EADDRINUSE else ""
        raise UnavailableError(f"can't listen on {host}:{port}: {reason}{hint}") from error
    return found


def _another(host: str, port: int, family: socket.AddressFamily) -> str:
    """The next port that is free now."""
    for near in range(port + 1, min(port + 20, 65536)):
        with socket.socket(family, socket.SOCK_STREAM) as tried, contextlib.suppress(OSError):
            tried.bind((host, near))
            return f"; {near} is free: --port {near}, or port = {near} in interlock.toml"
    return "; --port 0 picks a free one"


def listener_of(app: ASGIApp, bounds: Bounds | None = None) -> Listener:
    bounds = bounds or Bounds()
    protocol: Any = partial(BoundedProtocol, bounds=bounds)
    return Listener(
        uvicorn.Config(
            app,
            http=protocol,
            ws="none",
            lifespan="off",
            access_log=False,
            log_config=None,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=bounds.most_connections + _ALL_BUSY,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=CLOSE_SECONDS,
        )
    )


def listen(
    app: ASGIApp,
    where: socket.socket,
    started: Callable[[], None],
    stopping: Callable[[], None],
    stop_within: float = STOP_WITHIN,
) -> signal.Signals | None:
    """Serve until SIGTERM or SIGINT; then finish requests in progress, within seconds.

    Returns that signal. `stop_within` also bounds whatever the caller does afterwards to end the process.
    """
    listener = listener_of(app)
    received: list[signal.Signals] = []

    def stop(number: int, _: object) -> None:
        received.append(signal.Signals(number))
        force_stop_after(stop_within)
        stopping()
        listener.should_exit = True

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    with asyncio.Runner(loop_factory=listener.config.get_loop_factory()) as runner:
        runner.run(serve_on(listener, where, started))
    return received[0] if received else None


async def serve_on(listener: Listener, where: socket.socket, started: Callable[[], None]) -> None:
    serving = asyncio.create_task(listener.serve([where]))
    while not listener.started and not serving.done():
        await asyncio.sleep(0.005)
    if listener.started:
        started()
    await serving
