"""Emulator: ministack, for this run only: on loopback, over TLS, and with the rights of roles enforced.

INTERLOCK_TEST_EMULATOR names its command. It has an environment of its own, which `make test-aws` builds.
"""

import os
import signal
import socket
import ssl
import subprocess
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import boto3  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]

from aws.homes import ACCOUNT, REGION
from certificates import self_signed
from emulated.waiting import wait_for

COMMAND = os.environ.get("INTERLOCK_TEST_EMULATOR")

#: The key of its root; functions get keys of their roles.
_ROOT = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
_TRIES = 5


@dataclass(frozen=True)
class Emulator:
    """One that is up."""

    url: str
    certificate: Path
    log: Path

    @property
    def environment(self) -> dict[str, str]:
        """For a command that is to find it in the place of AWS."""
        return {
            **_ROOT,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL": self.url,
            "AWS_CA_BUNDLE": str(self.certificate),
        }

    @cache  # noqa: B019 - there is one a run
    def client(self, service: str) -> Any:
        return boto3.client(
            service,
            region_name=REGION,
            endpoint_url=self.url,
            verify=str(self.certificate),
            aws_access_key_id=_ROOT["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=_ROOT["AWS_SECRET_ACCESS_KEY"],
            config=Config(read_timeout=120, retries={"mode": "standard"}),
        )


@contextmanager
def emulator(folder: Path, beside: Mapping[str, str]) -> Iterator[Emulator]:
    """`beside` is set in every function, with its own environment."""
    certificate = self_signed(folder / "emulator.pem", "127.0.0.1", "localhost")
    with (folder / "emulator.log").open("wb") as log:
        process, made = _started(folder, certificate, log, beside)
        try:
            yield made
        finally:
            _end(process)


def _started(
    folder: Path, certificate: Path, log: Any, beside: Mapping[str, str]
) -> tuple[subprocess.Popen[bytes], Emulator]:
    """A port that was free may be taken by now: then another."""
    for _ in range(_TRIES):
        port = _free_port()
        process = _start(folder, certificate, port, log, beside)
        made = Emulator(f"https://127.0.0.1:{port}", certificate, Path(log.name))
        if wait_for(lambda p=process, m=made: _is_up(p, m), "the emulator up") == "up":  # type: ignore[misc]
            return process, made
    raise AssertionError(f"the emulator does not start: {Path(log.name).read_text()[-2000:]}")


def _start(
    folder: Path, certificate: Path, port: int, log: Any, beside: Mapping[str, str]
) -> subprocess.Popen[bytes]:
    assert COMMAND is not None
    environment = {
        **_ROOT,
        **beside,
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "MINISTACK_REGION": REGION,
        "MINISTACK_ACCOUNT_ID": ACCOUNT,
        "AWS_DEFAULT_REGION": REGION,
        "AUTH": "true",
        "USE_SSL": "1",
        "MINISTACK_SSL_CERT": str(certificate),
        "MINISTACK_SSL_KEY": str(certificate),
        "AWS_CA_BUNDLE": str(certificate),
    }
    return subprocess.Popen(
        [COMMAND], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip


def _is_up(process: subprocess.Popen[bytes], made: Emulator) -> str:
    if process.poll() is not None:
        return "ended"
    context = ssl.create_default_context(cafile=str(made.certificate))
    with suppress(OSError):
        urllib.request.urlopen(f"{made.url}/_ministack/health", timeout=10, context=context).close()
        return "up"
    return ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """It, and the functions it has started: they are its group. It has nothing to save."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port
