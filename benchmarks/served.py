"""Served: the real `interlock serve` in its own process, and a client with little overhead."""

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TICKS = os.sysconf("SC_CLK_TCK")
_PATIENCE = 600.0


class Server:
    """A running server, and what the system reports about it."""

    def __init__(self, project: Path, process: "subprocess.Popen[bytes]") -> None:
        self.project, self._process = project, process
        self.seconds_to_ready = self._wait()

    @property
    def pid(self) -> int:
        return self._process.pid

    def client(self) -> "Client":
        return Client(self._address())

    def cpu_seconds(self) -> float:
        words = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / TICKS

    def megabytes(self) -> float:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        raise LookupError("VmRSS")

    def stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(30)

    def _address(self) -> Any:
        return json.loads((self.project / ".interlock" / "serve.json").read_text())

    def _wait(self) -> float:
        began = time.perf_counter()
        while time.perf_counter() - began < _PATIENCE:
            try:
                if self.client().ask("GET", "/readyz")[0] == 200:
                    return time.perf_counter() - began
            except (OSError, ValueError):
                pass
            if self._process.poll() is not None:
                raise RuntimeError((self.project / "output").read_text()[-2000:])
            time.sleep(0.01)
        raise TimeoutError("the server is not ready")


class Client:
    """A connection that stays open."""

    def __init__(self, address: Any) -> None:
        parts = urllib.parse.urlsplit(address["url"])
        assert parts.hostname is not None
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        self._headers = {
            "Authorization": f"Bearer {address['token']}",
            "Content-Type": "application/json",
        }

    def ask(self, method: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        self._connection.request(method, path, body, self._headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def put(self, pipeline: str, key: str, body: bytes) -> None:
        path = f"/api/v1/pipelines/{pipeline}/sensors/{urllib.parse.quote(key, safe='')}"
        status, text = self.ask("PUT", path, body)
        if status != 200:
            raise RuntimeError(f"{status}: {text[:200]!r}")

    def figure(self, name: str) -> float:
        _, text = self.ask("GET", "/metrics")
        for line in text.decode().splitlines():
            if line.startswith(f"{name} "):
                return float(line.split()[1])
        raise LookupError(name)


@contextmanager
def serving(files: dict[str, str]) -> Iterator[Server]:
    """A server over pipelines of these files."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        (project / "pipelines").mkdir()
        for name, text in files.items():
            (project / "pipelines" / f"{name}.yaml").write_text(text.replace("{project}", folder))
        with (project / "output").open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "interlock", "--project", folder, "serve", "--port", "0"],
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
            )
        try:
            server = Server(project, process)
            yield server
            server.stop()
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
