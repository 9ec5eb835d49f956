"""AWS clients: one a service and region, made when it is first needed. No other module here knows boto3.

What goes wrong in a call becomes a PlatformError, once and for every service.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import boto3  # type: ignore[import-untyped]
from botocore import xform_name  # type: ignore[import-untyped]
from botocore.config import Config  # type: ignore[import-untyped]
from botocore.exceptions import (  # type: ignore[import-untyped]
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    EndpointConnectionError,
    HTTPClientError,
    ProxyConnectionError,
    SSLError,
)

from interlock import __version__
from interlock.adapters.http.platform_error import PlatformError
from interlock.adapters.jobs.classification import launch_category, maybe_started
from interlock.domain.budgets import Category
from interlock.domain.job_kinds import JOB_KINDS

CONNECT_SECONDS = 5
READ_SECONDS = 30
#: botocore would repeat a start that timed out, by itself.
NEVER_REPEATED = frozenset(name for kind in JOB_KINDS.values() for name in kind.never_repeated)

#: Makes a client of a service in a region, or in the environment's.
MakeClient = Callable[[str, str | None, Config], Any]

_NOTHING_SENT = (EndpointConnectionError, ConnectTimeoutError, ProxyConnectionError)


class AwsClients:
    """Calls operations by the names that AWS gives them."""

    def __init__(self, make: MakeClient | None = None) -> None:
        self._make = make or _session_client()
        self._clients: dict[tuple[str, str | None, int], Any] = {}
        self._making = Lock()

    def call(
        self,
        operation: str,
        region: str | None,
        params: dict[str, Any],
        read_seconds: int = READ_SECONDS,
    ) -> dict[str, Any]:
        """`service:Operation`. Raises PlatformError."""
        service, _, name = operation.partition(":")
        with platform_errors(name):
            client = self._client(service, region, read_seconds)
            answer: dict[str, Any] = getattr(client, xform_name(name))(**params)
            return answer

    def _client(self, service: str, region: str | None, read_seconds: int) -> Any:
        """Sessions are not made for threads, clients are."""
        place = (service, region, read_seconds)
        with self._making:
            if place not in self._clients:
                self._clients[place] = self._make(service, region, _config(service, read_seconds))
            return self._clients[place]


@contextmanager
def platform_errors(name: str) -> Iterator[None]:
    """What the SDK raises, as ours."""
    try:
        yield
    except ClientError as error:
        raise _refused(name, error) from error
    except SSLError as error:
        raise PlatformError(Category.PERMANENT, f"{name}: {error}", code="SSLError") from error
    except _NOTHING_SENT as error:
        raise PlatformError(Category.TRANSIENT, f"{name}: {error}") from error
    except HTTPClientError as error:
        raise PlatformError(Category.TRANSIENT, f"{name}: {error}", maybe_started=True) from error
    except BotoCoreError as error:
        code = type(error).__name__
        raise PlatformError(launch_category(code, None), f"{name}: {error}", code=code) from error


def _refused(name: str, error: ClientError) -> PlatformError:
    said = error.response.get("Error", {})
    code, text = said.get("Code", ""), said.get("Message", "")
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode")
    category = launch_category(code or None, status, text)
    maybe = category is Category.TRANSIENT and maybe_started(status)
    return PlatformError(category, f"{name}: {code}: {text}", maybe_started=maybe, code=code)


def _session_client() -> MakeClient:
    @cache
    def session() -> Any:
        return boto3.session.Session()

    def make(service: str, region: str | None, config: Config) -> Any:
        return session().client(service, region_name=region, config=config)

    return make


def _config(service: str, read_seconds: int) -> Config:
    attempts = 1 if service in NEVER_REPEATED else 3
    return Config(
        connect_timeout=CONNECT_SECONDS,
        read_timeout=read_seconds,
        retries={"mode": "standard", "total_max_attempts": attempts},
        tcp_keepalive=True,
        user_agent_extra=f"interlock/{__version__}",
    )
