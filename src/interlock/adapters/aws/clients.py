"""Clients: one of each service, made when it is first called: a function starts with what it needs."""

from collections.abc import Callable
from functools import cache
from typing import Any

import botocore.session  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]

MakeClient = Callable[[str], Any]

#: A function is called again sooner than a patient client would give up.
_CONFIG = Config(
    connect_timeout=3,
    read_timeout=15,
    retries={"mode": "standard", "total_max_attempts": 4},
    user_agent_extra="interlock",
)


def make_client(service: str, region: str | None = None) -> Any:
    """Credentials are the environment's, and the region too unless one is given."""
    return _session().create_client(service, region_name=region, config=_CONFIG)


class LazyClient:
    """Stands for a client until the first call."""

    def __init__(self, service: str, make: MakeClient = make_client) -> None:
        self._service = service
        self._make = make
        self._made: Any = None

    def __getattr__(self, operation: str) -> Any:
        if self._made is None:
            self._made = self._make(self._service)
        return getattr(self._made, operation)


@cache
def _session() -> Any:
    return botocore.session.get_session()
