"""Served: the real `interlock serve` as a process of its own, on a port that happened to be free."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException, HTTPResponse
from pathlib import Path
from typing import Any

PATIENCE = 60.0

PIPELINE = """
pipeline: {{id: {name}}}
schedule:
  trigger: {{key: landed, check: exists}}
  evaluation: {{window: 1h, interval: 1m}}
validation: {{rules: [{{key: landed, check: gte, field: count, value: 10}}]}}
job:
  type: command
  config:
    command: [/bin/sh, -c, "echo $INTERLOCK_PIPELINE $INTERLOCK_LABEL $INTERLOCK_ATTEMPT >> {log}"]
"""


class Served:
    """Start it, ask it, end it in any way."""

    def __init__(self, project: Path, **environment: str) -> None:
        self.project = project
        self.environment = {**os.environ, **environment}
        self.environment.pop("INTERLOCK_TOKEN", None)
        self.environment.update(environment)
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def output(self) -> str:
        return (self.project / "output").read_text()

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        assert self._process is not None
        return self._process

    def start(self, *arguments: str, ready: bool = True) -> "Served":
        (self.project / ".interlock" / "serve.json").unlink(missing_ok=True)
        with (self.project / "output").open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "interlock", "--project", str(self.project), "serve",
                 "--port", "0", *arguments],
                stdout=output, stderr=output, stdin=subprocess.DEVNULL, env=self.environment,
            )  # fmt: skip
        if ready:
            self.wait_ready()
        return self

    def wait_ready(self) -> None:
        eventually(self._is_ready, "ready")

    def address(self) -> tuple[str, int]:
        """Where it listens."""
        left = json.loads((self.project / ".interlock" / "serve.json").read_text())
        parts = urllib.parse.urlsplit(left["url"])
        assert parts.hostname is not None and parts.port is not None
        return parts.hostname, parts.port

    def open(
        self, method: str, path: str, document: Any = None, *, last_id: str | None = None
    ) -> HTTPResponse:
        """Raises OSError when no server answers, HTTPError for a refusal."""
        address = json.loads((self.project / ".interlock" / "serve.json").read_text())
        body = None if document is None else json.dumps(document).encode()
        headers = self.headers()
        if last_id is not None:
            headers["Last-Event-ID"] = last_id
        request = urllib.request.Request(address["url"] + path, body, headers, method=method)
        try:
            answer: HTTPResponse = urllib.request.urlopen(request, timeout=PATIENCE)
        except urllib.error.HTTPError as refused:
            refused.close()  # it holds the connection
            raise
        return answer

    def headers(self) -> dict[str, str]:
        left = json.loads((self.project / ".interlock" / "serve.json").read_text())
        return {"Authorization": f"Bearer {left['token']}", "Content-Type": "application/json"}

    def text(self, path: str) -> str:
        with self.open("GET", path) as answer:
            return answer.read().decode()

    def ask(self, method: str, path: str, document: Any = None) -> Any:
        with self.open(method, path, document) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def refusal(self, method: str, path: str, document: Any = None) -> str:
        """The text of the problem that it answers with."""
        connection = HTTPConnection(*self.address(), timeout=PATIENCE)
        try:
            body = None if document is None else json.dumps(document)
            connection.request(method, path, body, self.headers())
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        assert answer.status == 503, text
        return text

    def put(self, pipeline: str, key: str, **fields: Any) -> Any:
        path = urllib.parse.quote(key, safe="")
        return self.ask("PUT", f"/api/v1/pipelines/{pipeline}/sensors/{path}", fields)

    def runs(self) -> dict[tuple[str, str], str]:
        """Status by pipeline and date."""
        items = self.ask("GET", "/api/v1/runs?limit=1000")["items"]
        return {(r["key"]["pipelineId"], r["key"]["date"]): r["status"] for r in items}

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(60)

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _is_ready(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"it ended: {self.output}")
        try:
            self.ask("GET", "/readyz")
        except (OSError, HTTPException, ValueError):
            return False
        return True


def eventually(holds: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
    """Wait for a condition, with an end."""
    until = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > until:
            raise AssertionError(f"not {what} within {seconds:.0f} seconds")
        time.sleep(0.02)


def make_project(folder: Path, *names: str) -> Path:
    """Pipelines whose jobs each write a line into `launched`."""
    pipelines = folder / "pipelines"
    pipelines.mkdir(parents=True, exist_ok=True)
    for name in names:
        text = PIPELINE.format(name=name, log=folder / "launched")
        (pipelines / f"{name}.yaml").write_text(text)
    return folder


def launched(project: Path) -> list[str]:
    path = project / "launched"
    return path.read_text().splitlines() if path.exists() else []
