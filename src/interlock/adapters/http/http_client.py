"""HTTP client: one request to one checked address. Nothing is kept from one request to the next.

No proxies, no cookies, no password files; TLS is always verified; responses are cut at a size limit, and one
deadline covers everything from the lookup to the last byte.
"""

import http.client
import re
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import msgspec
import urllib3.exceptions

from interlock import __version__
from interlock.adapters.http.addresses import Address, AllowedHosts, checked
from interlock.adapters.http.lookups import Resolve, resolve, within
from interlock.adapters.http.pinned import (
    Connect,
    ExchangeDeadline,
    Pin,
    PinnedHttp,
    PinnedHttps,
    connect,
    tls_context,
)
from interlock.adapters.http.platform_error import PlatformError
from interlock.adapters.http.targets import RequestTarget, redirected, target_of
from interlock.domain import canonical
from interlock.domain.budgets import Category

Given = ParamSpec("Given")
Found = TypeVar("Found")

LARGEST_ANSWER = 64 * 1024
MOST_HOPS = 3
REDIRECTS = frozenset({307, 308})
#: They say where the request goes and how long it is; a file must not set them.
OUR_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "expect", "te"}
)

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BROKEN = (OSError, http.client.HTTPException, urllib3.exceptions.HTTPError)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What to send. `given` are the headers from a file; they are not sent to another origin."""

    url: str = field(repr=False)
    method: str = "GET"
    own: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = field(default=None, repr=False)
    timeout: float = 30.0
    holds_secret: bool = False
    follow_redirects: bool = False
    limit: int = LARGEST_ANSWER


class HttpResponse(msgspec.Struct, frozen=True):
    """The response; `cut` means that it was longer than what was read."""

    status: int
    headers: dict[str, str]
    body: bytes
    cut: bool = False

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        """With exact numbers. Raises ValueError for a response that is not JSON, or was cut."""
        if self.cut:
            raise ValueError("the response is too long")
        try:
            return canonical.decode(self.body)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise ValueError(f"the response is not JSON ({error})") from None


class HttpClient:
    """Sends requests to the hosts that the operator allows."""

    def __init__(
        self,
        allowed: AllowedHosts,
        ca_file: Path | None = None,
        resolve: Resolve = resolve,
        connect: Connect = connect,
    ) -> None:
        self._allowed = allowed
        self._ca_file = ca_file
        self._resolve = resolve
        self._connect = connect

    def send(self, request: Request) -> HttpResponse:
        """Raises PlatformError. A response of any status is returned."""
        deadline = ExchangeDeadline(request.timeout)
        target = first = _or_refuse(target_of, request.url)
        for _ in range(MOST_HOPS + 1):
            answer = self._exchange(request, target, target.origin == first.origin, deadline)
            location = answer.headers.get("location")
            if not request.follow_redirects or answer.status not in REDIRECTS or not location:
                return answer
            target = _or_refuse(redirected, target, location)
        raise _refusal("more than three redirects")

    def _exchange(
        self, request: Request, target: RequestTarget, same_origin: bool, until: ExchangeDeadline
    ) -> HttpResponse:
        headers = sent_headers(request, same_origin)
        addresses = self._addresses(target, until)
        if same_origin and request.holds_secret and not target.is_encrypted:
            self._expect_listed(target, addresses)
        connection = self._connection(target, Pin(addresses, target.port, until, self._connect))
        try:
            _open(connection)
            return _ask(connection, request, target.path, headers)
        finally:
            connection.close()

    def _addresses(self, target: RequestTarget, until: ExchangeDeadline) -> tuple[Address, ...]:
        try:
            found = within(until.left(), self._resolve, target.host, target.port)
        except OSError as error:
            raise _unreachable(f"can't resolve {target.host}: {_reason(error)}") from error
        return _or_refuse(checked, target.host, target.port, found, self._allowed)

    def _expect_listed(self, target: RequestTarget, addresses: tuple[Address, ...]) -> None:
        for address in addresses:
            if not self._allowed.admits(target.host, target.port, address):
                raise _refusal(f"a secret is not sent to {target.host} over plain http")

    def _connection(self, target: RequestTarget, pin: Pin) -> PinnedHttp | PinnedHttps:
        connection: PinnedHttp | PinnedHttps
        if target.is_encrypted:
            connection = PinnedHttps(target.host, target.port, ssl_context=self._tls)
        else:
            connection = PinnedHttp(target.host, target.port)
        connection.pin = pin
        return connection

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        try:
            return tls_context(None if self._ca_file is None else str(self._ca_file))
        except (OSError, ssl.SSLError) as error:
            raise _refusal(f"can't read INTERLOCK_CA_FILE: {_reason(error)}") from error


def check_headers(headers: Mapping[str, str]) -> None:
    """Raises PlatformError for an invalid header, without repeating its value."""
    seen: set[str] = set()
    for name, value in headers.items():
        if _TOKEN.fullmatch(name) is None:
            raise _refusal("a header has an invalid name")
        if name.lower() in seen:
            raise _refusal(f"the header {name} is set twice")
        if name.lower() in OUR_HEADERS:
            raise _refusal(f"the header {name} can't be set in a file")
        if any(character in value for character in "\r\n\0"):
            raise _refusal(f"the header {name} has more than one line")
        seen.add(name.lower())


def sent_headers(request: Request, same_origin: bool = True) -> dict[str, str]:
    """Our headers, overridden by those of the file where they may be sent. Raises PlatformError."""
    given = request.given if same_origin else {}
    check_headers(given)
    taken = {name.lower() for name in given}
    own = {"User-Agent": f"interlock/{__version__}", "Accept": "*/*", **request.own}
    kept = {name: value for name, value in own.items() if name.lower() not in taken}
    return {**kept, **given, "Accept-Encoding": "identity", "Connection": "close"}


def _open(connection: PinnedHttp | PinnedHttps) -> None:
    """No part of the request is sent yet."""
    try:
        connection.connect()
    except ssl.SSLCertVerificationError as error:
        raise _refusal(f"the certificate is not trusted: {error.verify_message}") from error
    except _BROKEN as error:
        raise _unreachable(f"no connection to {connection.host}: {_reason(error)}") from error


def _ask(
    connection: PinnedHttp | PinnedHttps, request: Request, path: str, headers: Mapping[str, str]
) -> HttpResponse:
    """From here on, only a response shows what the server has done."""
    try:
        _send(connection, request, path, headers)
        response = connection.getresponse()
        try:
            body = response.read(request.limit + 1)
        finally:
            response.close()
    except UnicodeError as error:
        raise _refusal("a header contains invalid characters") from error
    except _BROKEN as error:
        message = f"{connection.host} did not finish its response: {_reason(error)}"
        raise PlatformError(Category.TRANSIENT, message, maybe_started=True) from error
    named = {name.lower(): value for name, value in response.headers.items()}
    return HttpResponse(response.status, named, body[: request.limit], len(body) > request.limit)


def _send(
    connection: PinnedHttp | PinnedHttps, request: Request, path: str, headers: Mapping[str, str]
) -> None:
    with suppress(BrokenPipeError):  # the server may have responded before it closed
        connection.request(
            request.method,
            path,
            body=request.body,
            headers=headers,
            preload_content=False,
            decode_content=False,
        )


def _or_refuse(check: Callable[Given, Found], *args: Given.args, **named: Given.kwargs) -> Found:
    try:
        return check(*args, **named)
    except ValueError as error:
        raise _refusal(str(error)) from error


def _refusal(message: str) -> PlatformError:
    return PlatformError(Category.PERMANENT, message)


def _unreachable(message: str) -> PlatformError:
    return PlatformError(Category.TRANSIENT, message)


def _reason(error: Exception) -> str:
    """The system's message, without the object addresses that urllib3 adds."""
    if isinstance(error, TimeoutError | urllib3.exceptions.TimeoutError):
        return "timed out"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__ if isinstance(error, urllib3.exceptions.HTTPError) else str(error)
