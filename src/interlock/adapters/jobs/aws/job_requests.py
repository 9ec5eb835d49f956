"""AWS requests: a job's config with its texts replaced, and the call that it becomes."""

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec

from interlock.adapters.jobs.aws.job_clients import READ_SECONDS, AwsClients
from interlock.adapters.jobs.job_config import config_of
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.secrets.texts import Texts, run_values
from interlock.domain.job import JobContext
from interlock.domain.job_configs import AwsConfig
from interlock.domain.pipeline import Pipeline

LONGEST_NAME = 256

Kind = TypeVar("Kind", bound=AwsConfig)


class AwsRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """An operation, as `service:Operation`, and what it is given."""

    operation: str
    params: dict[str, Any]
    region: str | None = None

    def shown(self) -> dict[str, Any]:
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain


class Aws:
    """The clients, for those who have a config as it was written."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._environment = surroundings.environment
        self._clients = AwsClients(surroundings.aws_client)

    def config(self, pipeline: Pipeline, context: JobContext, kind: type[Kind]) -> Kind:
        """With every text replaced. Raises ConfigError."""
        return config_of(pipeline, kind, Texts(self._environment, run_values(context)))

    def send(self, request: AwsRequest, seconds: int = READ_SECONDS) -> dict[str, Any]:
        """`seconds` is how long the answer may take."""
        return self._clients.call(request.operation, request.region, request.params, seconds)

    def call(self, operation: str, region: str | None, **params: Any) -> dict[str, Any]:
        return self._clients.call(operation, region, params)

    def pages(
        self, operation: str, region: str | None, token: str, **params: Any
    ) -> Iterator[dict[str, Any]]:
        """Every page of a list; `token` is the member that leads from one to the next."""
        following = None
        while True:
            page = self.call(operation, region, **given(**{**params, token: following}))
            yield page
            following = page.get(token)
            if not following:
                return


def given(**params: Any) -> dict[str, Any]:
    """Without what the file left out."""
    return {name: value for name, value in params.items() if value is not None}


def marked(name: str, token: str) -> str:
    """A name by which the job can be found again."""
    mark = f" [{token}]"
    return f"{name[: LONGEST_NAME - len(mark)]}{mark}"


def is_marked(name: str | None, token: str) -> bool:
    return name is not None and name.endswith(f"[{token}]")


def region_of(arn: str, written: str | None) -> str | None:
    """The file's word, else the ARN's own; None leaves it to the environment."""
    parts = arn.split(":")
    return written or (parts[3] if len(parts) > 3 and parts[0] == "arn" else None) or None
