"""Surroundings: what the flows meet outside: a service with jobs, Slack, a user's function, a secret."""

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from deploy.packaging import PYTHON
from emulated.emulator import Emulator
from emulated.installation import function_arn
from slack_stand_in import TOKEN
from tiny_server import Asked, Said, Tiny, tiny_server

FUNCTION = "load-orders"
_CODE = Path(__file__).with_name("load_orders.py")


@dataclass
class Etl:
    """A service that starts a run for each request it has not seen, and needs two looks to finish it."""

    url: str = ""
    started: dict[str, Any] = field(default_factory=dict)
    _looks: dict[str, int] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def answer(self, asked: Asked) -> Said:
        with self._lock:
            if asked.method == "POST":
                return self._start(asked)
            name = asked.path.rsplit("/", 1)[1]
            self._looks[name] = self._looks.get(name, 0) + 1
            return Said({"state": "succeeded" if self._looks[name] > 1 else "running"})

    def _start(self, asked: Asked) -> Said:
        name = asked.headers["Idempotency-Key"]
        self.started.setdefault(name, asked.body)
        return Said({"id": name}, status=202)


@contextmanager
def etl_service() -> Iterator[Etl]:
    etl = Etl()
    server: Tiny
    with tiny_server(etl.answer) as server:
        etl.url = server.url
        yield etl


def make_function(emulator: Emulator) -> str:
    """The ARN of a function that jobs call."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(_CODE, _CODE.name)
    emulator.client("lambda").create_function(
        FunctionName=FUNCTION,
        Role=make_role(emulator, FUNCTION),
        Runtime=f"python{PYTHON}",
        Handler=f"{_CODE.stem}.handler",
        Code={"ZipFile": packed.getvalue()},
        Timeout=60,
    )
    return function_arn(FUNCTION)


def make_role(emulator: Emulator, name: str, *actions: str) -> str:
    """The ARN of a role that may do these, to everything."""
    services = [f"{service}.amazonaws.com" for service in ("lambda", "scheduler", "states")]
    trusting = {"Effect": "Allow", "Principal": {"Service": services}, "Action": "sts:AssumeRole"}
    roles = emulator.client("iam")
    made = roles.create_role(RoleName=name, AssumeRolePolicyDocument=policy(trusting))
    if actions:
        granting = {"Effect": "Allow", "Action": actions, "Resource": "*"}
        roles.put_role_policy(RoleName=name, PolicyName="granted", PolicyDocument=policy(granting))
    arn: str = made["Role"]["Arn"]
    return arn


def policy(statement: dict[str, Any]) -> str:
    """A document of one statement."""
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def make_secret(emulator: Emulator) -> str:
    """The ARN of the secret that holds Slack's token."""
    made = emulator.client("secretsmanager").create_secret(
        Name="slack", SecretString=json.dumps({"token": TOKEN})
    )
    arn: str = made["ARN"]
    return arn
