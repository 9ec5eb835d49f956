"""Clients: one per service, created at the first call: a function loads only what it needs."""

from collections.abc import Callable
from functools import cache
from typing import Any

import botocore.session  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]
from botocore.exceptions import BotoCoreError  # type: ignore[import-untyped]

from interlock.adapters.aws.failures import meaning
from interlock.errors import UnavailableError

MakeClient = Callable[[str], Any]

#: A function is retried sooner than a patient client would give up.
FOR_FUNCTIONS = Config(
    connect_timeout=3,
    read_timeout=15,
    retries={"mode": "standard", "total_max_attempts": 4},
    user_agent_extra="interlock",
)
#: A person waits for the answer, and can retry.
FOR_PEOPLE = FOR_FUNCTIONS.merge(
    Config(
        read_timeout=8,
        retries={"mode": "standard", "total_max_attempts": 2},
        max_pool_connections=40,
    )
)


def make_client(service: str, region: str | None = None, config: Config = FOR_FUNCTIONS) -> Any:
    """Credentials come from the environment, and so does the region unless one is given.

    Raises UnavailableError when there is no region, or the profile is unknown.
    """
    try:
        return _session().create_client(service, region_name=region, config=config)
    except BotoCoreError as error:
        raise meaning(error) from error


class LazyClient:
    """Stands in for a client until the first call."""

    def __init__(self, service: str, make: MakeClient = make_client) -> None:
        self._service = service
        self._make = make
        self._made: Any = None

    def __getattr__(self, operation: str) -> Any:
        if self._made is None:
            self._made = self._make(self._service)
        return getattr(self._made, operation)


class ReadingClient:
    """A DynamoDB client that can't write, whatever its caller's role allows."""

    _READS = frozenset({"get_item", "batch_get_item", "query"})

    def __init__(self, client: Any) -> None:
        self._client = client

    def __getattr__(self, operation: str) -> Any:
        if operation not in self._READS:
            raise UnavailableError(f"{operation}: this client is read-only")
        return getattr(self._client, operation)


@cache
def _session() -> Any:
    return botocore.session.get_session()
