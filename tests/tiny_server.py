"""Tiny server: HTTP on this machine, answering what a test says."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from interlock.domain import canonical


@dataclass
class Asked:
    """A request as it came."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any = None


@dataclass
class Said:
    """What to answer. Without a document there is no body; `hang_up` answers nothing at all."""

    document: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    text: str | None = None
    hang_up: bool = False


Answering = Callable[[Asked], Said]


@dataclass
class Tiny:
    """A server that is up: its address, and everything it was asked."""

    url: str
    asked: list[Asked]


@contextmanager
def tiny_server(answer: Answering) -> Iterator[Tiny]:
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def _handle(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            request = Asked(
                self.command,
                unquote(parts.path),
                dict(parse_qsl(parts.query)),
                dict(self.headers.items()),
                json.loads(raw) if raw else None,
            )
            asked.append(request)
            said = answer(request)
            if said.hang_up:
                self.close_connection = True
                self.connection.close()
                return
            self._say(said)

        def _say(self, said: Said) -> None:
            text = said.text
            if text is None:
                text = "" if said.document is None else canonical.encode(said.document)
            self.send_response(said.status)
            for name, value in said.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        do_GET = do_PUT = do_POST = _handle  # noqa: N815 - the names of http.server

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: Any, client_address: Any) -> None:
            pass

    server = Quiet(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield Tiny(f"http://127.0.0.1:{server.server_port}", asked)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
