"""Job platform: an HTTP service that is slow, breaks and hangs, with its own ledger of launches by token."""

import json
import random
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

from attack.ledger import Launch, Ledger

#: Beyond the timeout that the pipeline gives it.
_HANG = 3.5
#: So many tries of a start are spoilt at most, by a refusal or by an answer that comes too late: it is tried
#: four times, and each try may also ask whether the job is there already.
_MOST_SPOILT = 2
_SPOILING = ("refuse", "hang before", "hang after")


class JobPlatform:
    """Answers on a port of its own until it is closed."""

    def __init__(self, seed: int, ledger: Ledger) -> None:
        self._chance = random.Random(seed)
        self._lock = threading.Lock()
        self._ledger = ledger
        self._jobs: dict[str, dict[str, Any]] = {}
        self._spoilt: dict[str, int] = {}
        self._started: set[str] = set()
        self.launches: list[Launch] = []
        #: When a question about a job got no answer in time: then its end could not be known.
        self.unhelpful: dict[str, list[float]] = {}
        #: When it said of a job that it is done. It never says since when.
        self.told_done: dict[str, list[float]] = {}
        #: When a start was answered in time: before, the server can't know the id of its job.
        self.named: dict[str, list[float]] = {}
        self.vicious = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def launch(self, token: str, run: str) -> tuple[int, dict[str, Any]]:
        """A request that starts a job: what is noted is noted before anything goes wrong."""
        whim = self._whim()
        with self._lock:
            whim = self._bounded(token, whim)
            taken = whim not in ("refuse", "hang before")
            if taken:
                self._take(token, run)
            if whim not in _SPOILING:
                self._started.add(token)
        self._ledger.did(f"platform: {whim}")
        self._dawdle(whim)
        if whim not in _SPOILING:
            self.named.setdefault(token, []).append(time.time())
        return (200, {"id": token}) if taken else (500, {"error": "not today"})

    def status(self, token: str) -> tuple[int, dict[str, Any]]:
        whim = self._whim()
        with self._lock:
            whim = self._bounded(token, whim)
            job = self._jobs.get(token)
        if whim not in ("take", "slow"):
            self.unhelpful.setdefault(token, []).append(time.time())
        self._dawdle(whim)
        if whim == "refuse":
            return 500, {"error": "not today"}
        if job is None:
            return 404, {"error": "no such run"}
        now = time.time()
        if now < job["ends_at"]:
            return 200, {"status": "running"}
        self.told_done.setdefault(token, []).append(now)
        return 200, {"status": "done"}

    def _bounded(self, token: str, whim: str) -> str:
        """The whim, unless it would spoil one try too many of a start that has not been answered well yet."""
        if whim not in _SPOILING or token in self._started:
            return whim
        spoilt = self._spoilt.get(token, 0)
        self._spoilt[token] = spoilt + 1
        return whim if spoilt < _MOST_SPOILT else "take"

    def _take(self, token: str, run: str) -> None:
        pipeline, _, date, attempt = run.split("/")
        began_at = time.time()
        ends_at = began_at + self._chance.uniform(0.0, 3.0)
        self._jobs.setdefault(token, {"ends_at": ends_at})
        self.launches.append(Launch(token, pipeline, date, int(attempt), began_at, ends_at))

    def _whim(self) -> str:
        if not self.vicious:
            return "take"
        with self._lock:
            return self._chance.choices(
                ("take", "slow", "refuse", "hang before", "hang after"), (10, 4, 2, 1, 1)
            )[0]

    def _dawdle(self, whim: str) -> None:
        if whim.startswith("hang"):
            time.sleep(_HANG)
        elif whim == "slow":
            time.sleep(1.5)


def _handler_of(platform: JobPlatform) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            token = self.headers["Idempotency-Key"]
            self._answer(*platform.launch(token, self.headers["X-Interlock-Run"]))

        def do_GET(self) -> None:
            self._answer(*platform.status(unquote(self.path.rpartition("/")[2])))

        def _answer(self, status: int, document: dict[str, Any]) -> None:
            body = json.dumps(document).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                self.close_connection = True  # the caller has given up

        def log_message(self, *args: Any) -> None:
            """Not on the screen."""

    return Handler
