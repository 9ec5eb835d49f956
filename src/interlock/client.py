"""Client: Interlock's HTTP interface for programs that report readings or make requests.

Uses only the standard library, imported on first use: importing this module costs almost nothing.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from interlock.errors import (
    ConfigError,
    ConflictError,
    InterlockError,
    NotFoundError,
    UnavailableError,
)

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

DEFAULT_URL = "http://127.0.0.1:8787"
API = "/api/v1"

#: Statuses of requests that had no effect and may succeed later.
_AGAIN = frozenset({429, 503})
_LONGEST_PAUSE = 10.0
_FIRST_PAUSE = 0.2
_LONGEST_TEXT = 300


class Accepted(TypedDict, total=False):
    """A stored reading, and what it led to if the caller asked for that."""

    pipelineId: str
    key: str
    receivedAt: str
    version: str
    ledTo: list[str]


class Response(NamedTuple):
    """A server's response."""

    status: int
    body: bytes
    retry_after: float | None = None

    def json(self) -> Any:
        import json

        try:
            return json.loads(self.body) if self.body else None
        except ValueError as error:
            raise UnavailableError(
                "the response is not JSON: is this an Interlock server?"
            ) from error


class Client:
    """One server. Without arguments, the one that INTERLOCK_URL names, with INTERLOCK_TOKEN.

    The client retries when no server answers or the server says that it is busy; it repeats a call that is
    not idempotent only when the first try certainly had no effect. Several threads may share a client.
    """

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        timeout: float = 10.0,
        tries: int = 5,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        from urllib.parse import urlsplit

        self.url = (url or os.environ.get("INTERLOCK_URL") or DEFAULT_URL).rstrip("/")
        self._token = token if token is not None else os.environ.get("INTERLOCK_TOKEN")
        self._timeout, self._tries, self._sleep = timeout, max(1, tries), sleep
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(f"{self.url} is not a URL such as {DEFAULT_URL}")
        self._parts = parts

    @staticmethod
    def aws(
        table: str | None = None,
        *,
        tries: int = 5,
        sleep: Callable[[float], None] = time.sleep,
        client: Any = None,
    ) -> "AwsClient":
        """Report to an installation on AWS: `Client.aws().sensor(...)`. Needs `interlock[aws]`.

        The control table is `table`, or the one that CONTROL_TABLE names; region and credentials are
        the environment's, or those of `client`, a DynamoDB client of boto3.
        """
        return AwsClient(table, tries=tries, sleep=sleep, client=client)

    # --- readings

    def sensor(self, pipeline: str, key: str, /, **fields: Any) -> Accepted:
        """Report a reading: `client.sensor("silver-orders", "orders-landed", count=4200)`.

        It is stored durably when this returns. Repeating a reading has no further effect.
        """
        return self.put(pipeline, key, fields)

    def put(
        self, pipeline: str, key: str, fields: Mapping[str, Any], *, wait: bool = False
    ) -> Accepted:
        """As `sensor`, for fields of any name. `wait`: also learn what the reading led to."""
        path = f"{API}/pipelines/{_segment(pipeline)}/sensors/{_segment(key)}"
        query = {"wait": "decision"} if wait else None
        accepted: Accepted = self.call("PUT", path, query, fields, same_twice=True).json()
        return accepted

    def put_all(self, readings: Iterable[tuple[str, str, Mapping[str, Any]]]) -> list[Any]:
        """Up to 1,000 readings (pipeline, key, fields) in one call; each gets its own result."""
        document = [
            {"pipelineId": pipeline, "key": key, "fields": fields}
            for pipeline, key, fields in readings
        ]
        answer = self.call("POST", f"{API}/sensors", None, document, same_twice=True)
        return _items(answer.json())

    # --- queries

    def pipelines(self) -> list[dict[str, Any]]:
        return list(self.pages(f"{API}/pipelines"))

    def why(self, pipeline: str, date: str | None = None) -> list[dict[str, Any]]:
        """Why a date has or hasn't run, one answer per schedule."""
        path = f"{API}/pipelines/{_segment(pipeline)}/why"
        return _items(self.call("GET", path, {"date": date}).json())

    def runs(self, pipeline: str | None = None, limit: int = 100) -> list[dict[str, Any]]:
        return list(self.pages(f"{API}/runs", {"pipeline": pipeline}, limit))

    def events(
        self,
        pipeline: str | None = None,
        kind: str | None = None,
        since: str | None = None,
        limit: int = 100,
    ) -> list[dict[str, Any]]:
        """Newest first. `since` is an instant such as 2026-03-03T10:00:00Z."""
        query = {"pipeline": pipeline, "type": kind, "since": since}
        return list(self.pages(f"{API}/events", query, limit))

    # --- commands

    def rerun(
        self,
        pipeline: str,
        date: str,
        *,
        schedule: str | None = None,
        reason: str = "manual",
        force: bool = False,
    ) -> dict[str, Any]:
        """Request that a date run again. An event reports whether it is accepted (RERUN_ACCEPTED)."""
        document = {"date": date, "schedule": schedule, "reason": reason, "force": force}
        return self._operate(pipeline, "reruns", document)

    def pause(self, pipeline: str, until: str | None = None, reason: str = "") -> dict[str, Any]:
        return self._operate(pipeline, "pause", {"until": until, "reason": reason})

    def resume(self, pipeline: str, reason: str = "") -> dict[str, Any]:
        return self._operate(pipeline, "resume", {"reason": reason})

    def retire(self, pipeline: str, reason: str = "") -> dict[str, Any]:
        """Retire a pipeline whose file is missing, without waiting for its grace period to end."""
        return self._operate(pipeline, "retire", {"reason": reason})

    # --- the wire

    def pages(
        self, path: str, query: Mapping[str, Any] | None = None, limit: int | None = None
    ) -> Iterator[Any]:
        """The items of a list, page by page, up to a limit."""
        cursor, left = None, limit
        while True:
            size = None if left is None else min(left, 1000)
            page = self.call("GET", path, {**(query or {}), "limit": size, "cursor": cursor}).json()
            items = _items(page)
            yield from items[:left]
            left = None if left is None else left - len(items)
            cursor = page.get("next") if isinstance(page, dict) else None
            if not cursor or not items or (left is not None and left <= 0):
                return

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        document: Any = None,
        *,
        same_twice: bool | None = None,
    ) -> Response:
        """One request, retried where that is safe.

        Raises UnavailableError when no server answers, NotFoundError, and ConfigError for what the server
        refuses, each with the server's own message.
        """
        import json

        again = method == "GET" if same_twice is None else same_twice
        body = None if document is None else json.dumps(document, default=_plain).encode()
        target = self._parts.path + path + _spelt(query)
        for tried in range(1, self._tries + 1):
            last = tried == self._tries
            try:
                answer = self._send(method, target, body)
            except _NotSentError as error:
                if last:
                    raise UnavailableError(self._silence(error)) from error
                self._pause(tried)
                continue
            except OSError as error:
                if last or not again:
                    raise UnavailableError(self._silence(error)) from error
                self._pause(tried)
                continue
            if answer.status in _AGAIN and not last:
                self._pause(tried, answer.retry_after)
                continue
            return _checked(answer, self.url)
        raise AssertionError("the last attempt returns or raises")

    def stream(self, path: str, last_id: str | None = None) -> Iterator[tuple[str, str]]:
        """Server-sent events as (id, data), until the connection ends. Raises UnavailableError."""
        headers = {"Accept": "text/event-stream"}
        if last_id is not None:
            headers["Last-Event-ID"] = last_id
        connection = self._connection(timeout=60.0)
        try:
            connection.request("GET", self._parts.path + path, headers=self._headers() | headers)
            response = connection.getresponse()
            if response.status != 200:
                _checked(_answer(response), self.url)
            yield from _sent(response)
        except _network_errors() as error:
            raise UnavailableError(self._silence(error)) from error
        finally:
            connection.close()

    def _operate(self, pipeline: str, verb: str, document: Mapping[str, Any]) -> dict[str, Any]:
        given = {name: value for name, value in document.items() if value not in (None, "")}
        path = f"{API}/pipelines/{_segment(pipeline)}/{verb}"
        answer: dict[str, Any] = self.call("POST", path, None, given).json()
        return answer

    def _send(self, method: str, target: str, body: bytes | None) -> Response:
        from http.client import HTTPException

        connection = self._connection(self._timeout)
        try:
            try:
                connection.connect()
            except OSError as error:
                raise _NotSentError(str(error)) from error
            headers = self._headers()
            if body is not None:
                headers["Content-Type"] = "application/json"
            connection.request(method, target, body, headers)
            return _answer(connection.getresponse())
        except HTTPException as error:
            raise ConnectionError(f"{type(error).__name__}: {error}") from error
        finally:
            connection.close()

    def _connection(self, timeout: float) -> "HTTPConnection":
        from http.client import HTTPConnection, HTTPSConnection

        kind = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
        assert self._parts.hostname is not None
        return kind(self._parts.hostname, self._parts.port, timeout=timeout)

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "User-Agent": "interlock-client"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        return headers

    def _pause(self, tried: int, wanted: float | None = None) -> None:
        self._sleep(_span(tried, wanted))

    def _silence(self, error: Exception) -> str:
        return f"no server answers at {self.url} ({error}): is `interlock serve` running?"


class AwsClient:
    """Reports readings as rows of the control table; it supports nothing else."""

    def __init__(
        self,
        table: str | None = None,
        *,
        tries: int = 5,
        sleep: Callable[[float], None] = time.sleep,
        client: Any = None,
    ) -> None:
        try:
            from interlock.wiring.producer import Producer
        except ImportError as error:
            raise ConfigError("Client.aws() needs: pip install 'interlock[aws]'") from error
        name = table or os.environ.get("CONTROL_TABLE")
        if not name:
            raise ConfigError("no control table: pass its name, or set CONTROL_TABLE")
        self._producer = Producer(name, client)
        self._tries, self._sleep = max(1, tries), sleep

    def sensor(self, pipeline: str, key: str, /, **fields: Any) -> Accepted:
        """As `Client.sensor`. It can't check whether the pipeline exists."""
        return self.put(pipeline, key, fields)

    def put(self, pipeline: str, key: str, fields: Mapping[str, Any]) -> Accepted:
        """As `sensor`, for fields of any name. Raises ConfigError, or TransientError once its retries are
        exhausted.
        """
        reading = self._producer.put(pipeline, key, fields, self._tries, self._pause)
        return Accepted(
            pipelineId=reading.pipeline_id,
            key=reading.key,
            receivedAt=reading.received_at.isoformat(),
            version=reading.version,
        )

    def put_all(self, readings: Iterable[tuple[str, str, Mapping[str, Any]]]) -> list[Accepted]:
        """Puts them one after another and stops at the first failure; all of them may be put again."""
        return [self.put(*reading) for reading in readings]

    def _pause(self, tried: int) -> None:
        self._sleep(_span(tried))


def _span(tried: int, wanted: float | None = None) -> float:
    """Exponential backoff with jitter."""
    import random  # imported here because only some calls need it

    span: float = _FIRST_PAUSE * 2 ** (tried - 1) * random.uniform(0.5, 1.0)  # noqa: S311
    return min(_LONGEST_PAUSE, span if wanted is None else max(span, wanted))


class _NotSentError(OSError):
    """No connection: the request certainly had no effect."""


def _network_errors() -> tuple[type[Exception], ...]:
    from http.client import HTTPException

    return (OSError, HTTPException)


def _answer(response: "HTTPResponse") -> Response:
    wanted = response.getheader("Retry-After") or ""
    return Response(response.status, response.read(), float(wanted) if wanted.isdigit() else None)


def _checked(answer: Response, url: str) -> Response:
    if answer.status < 400:
        return answer
    said = _said(answer)
    if answer.status in (401, 403):
        raise ConfigError(
            f"{url} refused the request: {said}; set INTERLOCK_TOKEN to a token with that scope"
        )
    if answer.status in _REFUSALS:
        raise _REFUSALS[answer.status](said)
    if answer.status < 500 and answer.status not in _AGAIN:
        raise InterlockError(f"{url} returned {answer.status}: {said}")
    raise UnavailableError(f"{url} returned {answer.status}: {said}")


#: The exception that each refusal raises.
_REFUSALS: dict[int, type[InterlockError]] = {
    400: ConfigError,
    404: NotFoundError,
    409: ConflictError,
    413: ConfigError,
    422: ConfigError,
}


def _said(answer: Response) -> str:
    """The detail of a problem document (RFC 9457), or the beginning of any other body."""
    import json

    try:
        problem = json.loads(answer.body)
        return str(problem.get("detail") or problem.get("title") or answer.status)
    except (ValueError, AttributeError):
        text = answer.body[:_LONGEST_TEXT].decode(errors="replace")
        return " ".join(text.split()) or "empty response"


def _sent(response: "HTTPResponse") -> Iterator[tuple[str, str]]:
    name, data = "", list[str]()
    for raw in response:
        line = raw.decode(errors="replace").rstrip("\r\n")
        if not line:
            if data:
                yield name, "\n".join(data)
            data = []
            continue
        field, _, value = line.partition(":")
        if field == "id":
            name = value.removeprefix(" ")
        elif field == "data":
            data.append(value.removeprefix(" "))


def _segment(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


def _spelt(query: Mapping[str, Any] | None) -> str:
    from urllib.parse import urlencode

    given = {name: value for name, value in (query or {}).items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def _items(page: Any) -> list[Any]:
    """A list is a list, or a page of one."""
    items = page.get("items", []) if isinstance(page, dict) else page
    return items if isinstance(items, list) else []


def _plain(value: Any) -> Any:
    """Instants as RFC 3339, exact numbers as text: rules read both."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if type(value).__name__ == "Decimal":
        return str(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
