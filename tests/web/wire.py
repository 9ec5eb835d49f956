"""Wire: the real listener on a real socket, and a client that writes to it byte by byte."""

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from interlock.web.listener import Listener, bound, listener_of, serve_on
from interlock.web.protocol import Bounds
from web.house import OWNER, House

PATIENCE = 60.0


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Wire:
    """Where the listener listens."""

    def __init__(self, house: House, listener: Listener, port: int) -> None:
        self.house, self.port = house, port
        self._listener = listener

    @property
    def connections(self) -> int:
        """How many the listener holds."""
        return len(self._listener.server_state.connections)

    @contextmanager
    def connection(self) -> Iterator[socket.socket]:
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as opened:
            yield opened

    def said(self, text: str | bytes, most: int = 1) -> list[Answer]:
        """What is answered to a text that is sent as it is."""
        with self.connection() as opened:
            opened.sendall(text if isinstance(text, bytes) else text.encode("latin-1"))
            return answers(opened, most)

    def ask(self, method: str, path: str, *lines: str, body: bytes = b"") -> Answer:
        """One request of the owner's."""
        (answer,) = self.said(self.request(method, path, *lines, body=body))
        return answer

    def request(self, method: str, path: str, *lines: str, body: bytes = b"") -> bytes:
        head = [
            f"{method} {path} HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            f"Authorization: Bearer {OWNER}",
            *([f"Content-Length: {len(body)}", "Content-Type: application/json"] if body else []),
            *lines,
        ]
        return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def answers(opened: socket.socket, most: int = 1) -> list[Answer]:
    """As many as that, or fewer when the other side ends it, however rudely."""
    found: list[Answer] = []
    with opened.makefile("rb") as stream, suppress(ConnectionResetError):
        while len(found) < most and (first := stream.readline()):
            headers = dict(_header(line) for line in iter(stream.readline, b"\r\n"))
            body = stream.read(int(headers.get("content-length", "0")))
            found.append(Answer(int(first.split()[1]), headers, body))
    return found


def _header(line: bytes) -> tuple[str, str]:
    name, _, value = line.decode("latin-1").rstrip().partition(": ")
    return name.lower(), value


@contextmanager
def wired(house: House, bounds: Bounds | None = None) -> Iterator[Wire]:
    where = bound("127.0.0.1", 0)
    listener = listener_of(house.app, bounds)
    ready = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(serve_on(listener, where, ready.set)))
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield Wire(house, listener, where.getsockname()[1])
    finally:
        house.desk.closing = listener.should_exit = True
        thread.join(PATIENCE)
        where.close()
