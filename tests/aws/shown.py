"""Shown: the real `interlock serve --backend aws --read-only` as a process of its own."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from aws.gallery import name_installation
from wiring.served import eventually

TOKEN = "token-of-a-viewer"
_ADDRESS = re.compile(r"^Showing t on AWS at (http://\S+)$", re.MULTILINE)


def of_aws(endpoint: str) -> dict[str, str]:
    """An environment in which AWS is at that address, with invalid credentials."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    named = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
    return {**kept, **named, "AWS_ENDPOINT_URL": endpoint, "AWS_CONFIG_FILE": os.devnull}


def command_line(project: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "interlock", "--project", str(project), *arguments]


class Shown:
    """Start it, look at it, stop it."""

    def __init__(self, project: Path, endpoint: str) -> None:
        name_installation(project)
        self._output = project / "output"
        with self._output.open("wb") as output:
            self._process = subprocess.Popen(
                command_line(project, "serve", "--backend", "aws", "--read-only", "--port", "0"),
                stdout=output, stderr=output, stdin=subprocess.DEVNULL,
                env={**of_aws(endpoint), "INTERLOCK_TOKEN": TOKEN},
            )  # fmt: skip
        try:
            eventually(self._has_begun, "shown")
            found = _ADDRESS.search(self.output)
            assert found is not None, self.output
        except BaseException:
            self.close()
            raise
        self.url, self.token = found[1], TOKEN

    @property
    def output(self) -> str:
        return self._output.read_text()

    def _has_begun(self) -> bool:
        return _ADDRESS.search(self.output) is not None or self._process.poll() is not None

    def stop(self) -> int:
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(60)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
