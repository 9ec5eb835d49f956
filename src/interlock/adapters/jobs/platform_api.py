"""Platform API: JSON over HTTP below one address, with the headers of a file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from interlock.adapters.http.http_client import HttpResponse, Request
from interlock.adapters.jobs.calls import Calls
from interlock.adapters.secrets.texts import Texts
from interlock.domain import canonical, duration

#: Lists of tasks are long.
LARGEST_ANSWER = 4 * 1024 * 1024
LONGEST_LOOK = 30.0


@dataclass(frozen=True)
class Api:
    """Where a platform is, and how it is talked to. URL and headers are as the file wrote them."""

    calls: Calls
    url: str
    headers: Mapping[str, str] = field(repr=False)
    timeout: str
    texts: Texts = field(repr=False)

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        own: Mapping[str, str] | None = None,
        *,
        holds_secret: bool = False,
    ) -> Request:
        """`own` are headers that hold a secret, such as that of a login."""
        kind = {} if body is None else {"Content-Type": "application/json"}
        return Request(
            url=f"{self.texts.url(self.url).rstrip('/')}{path}",
            method=method,
            own={"Accept": "application/json", **kind, **(own or {})},
            body=None if body is None else canonical.encode(body).encode(),
            timeout=self._seconds(method),
            holds_secret=holds_secret or bool(own),
            limit=LARGEST_ANSWER,
        )

    def send(self, request: Request) -> HttpResponse:
        return self.calls.send(request, self.headers, self.texts)

    def ask(self, method: str, path: str, body: Any = None) -> HttpResponse:
        return self.send(self.request(method, path, body))

    def preview(self, request: Request) -> dict[str, Any]:
        return self.calls.preview(request, self.headers, self.texts)

    def _seconds(self, method: str) -> float:
        """A look is short, however long a start may take."""
        seconds = duration.parse(self.timeout).total_seconds()
        return min(seconds, LONGEST_LOOK) if method == "GET" else seconds
