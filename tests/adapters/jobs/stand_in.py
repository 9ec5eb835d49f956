"""A stand-in for a platform that starts jobs over HTTP: a real server that can misbehave.

It keeps runs by their Idempotency-Key. `POST /jobs/FATE` starts one, `GET /runs/KEY` tells of it,
`POST /runs/KEY/cancel` ends it. What is planned for a path happens instead of the usual, once a request.
"""

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Seen:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Reply:
    """What to answer. `None` as status: close the connection without a word."""

    status: int | None = 200
    body: bytes = b"{}"
    headers: dict[str, str] = field(default_factory=dict)
    #: Do what the request asks for first.
    after: bool = False
    #: Seconds between two bytes of the answer.
    drip: float = 0.0


@dataclass
class StandIn:
    """The server's memory, and what a test plans for it."""

    port: int = 0
    seen: list[Seen] = field(default_factory=list)
    runs: dict[str, dict[str, Any]] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    plans: dict[str, deque[Reply]] = field(default_factory=lambda: defaultdict(deque))
    #: Asked about every request that nothing is planned for.
    fault: Callable[[Seen], Reply | None] = lambda seen: None
    over: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def plan(self, path: str, *replies: Reply) -> None:
        self.plans[path].extend(replies)

    def answer(self, seen: Seen) -> Reply:
        with self.lock:
            self.seen.append(seen)
            planned = self.plans[seen.path]
            reply = planned.popleft() if planned else self.fault(seen)
            if reply is None:
                return self.usual(seen)
            if reply.after:
                self.usual(seen)
            return reply

    def usual(self, seen: Seen) -> Reply:
        match seen.path.partition("?")[0].strip("/").split("/"):
            case ["jobs", fate]:
                return self._start(seen.headers.get("idempotency-key", ""), fate)
            case ["runs", key] if key in self.runs:
                return Reply(body=json.dumps(self.runs[key]).encode())
            case ["runs", key, "cancel"] if key in self.runs:
                if self.runs[key]["status"] == "running":
                    self.runs[key] = {"status": "cancelled"}
                return Reply()
            case ["echo"]:
                return Reply(body=json.dumps({"headers": seen.headers}).encode())
        return Reply(404, b'{"error": "no such thing"}')

    def _start(self, key: str, fate: str) -> Reply:
        if key not in self.runs:
            self.starts[key] += 1
            self.runs[key] = FATES[fate]
        return Reply(201, json.dumps({"run": {"id": key}}).encode())


FATES: dict[str, dict[str, Any]] = {
    "succeed": {"status": "Succeeded"},
    "fail": {"status": "failed", "error": {"reason": "AnalysisException: no column x"}},
    "time-out": {"status": "timeout"},
    "hang": {"status": "running"},
    "say-secret": {"status": "failed"},
}


class _Handler(BaseHTTPRequestHandler):
    stand_in: StandIn
    protocol_version = "HTTP/1.1"

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.stand_in.answer(Seen(self.command, self.path, headers, body))
        self.close_connection = True
        if reply.status is None:
            return
        head = f"HTTP/1.1 {reply.status} So\r\nContent-Length: {len(reply.body)}\r\n"
        lines = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
        self._write((head + lines + "\r\n").encode() + reply.body, reply.drip)

    def _write(self, answer: bytes, drip: float) -> None:
        try:
            if not drip:
                self.wfile.write(answer)
                return
            for byte in answer:
                if self.stand_in.over.wait(drip):
                    return
                self.wfile.write(bytes([byte]))
        except OSError:
            pass  # the other side had enough

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _any  # noqa: N815 - http.server's names

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def serving(
    wrap: Callable[[Any], Any] | None = None, stand_in: StandIn | None = None
) -> Iterator[StandIn]:
    """A stand-in on a port of its own; `wrap` puts its socket into TLS."""
    stand_in = stand_in or StandIn()
    handler = type("Handler", (_Handler,), {"stand_in": stand_in})
    server = _Server(("127.0.0.1", 0), handler)
    if wrap is not None:
        server.socket = wrap(server.socket)
    stand_in.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield stand_in
    finally:
        stand_in.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
