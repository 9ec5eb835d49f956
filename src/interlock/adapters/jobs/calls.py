"""Calls: requests with the headers of a file; each request resolves their secrets again."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from interlock.adapters.http.http_client import HttpClient, HttpResponse, Request, sent_headers
from interlock.adapters.jobs.job_environment import Surroundings
from interlock.adapters.secrets.texts import PREFIX, Texts
from interlock.domain import canonical
from interlock.domain.job_forms import names_a_secret, names_in

UNAUTHORIZED = 401


@dataclass(frozen=True)
class Headers:
    """As they are sent; `references` are the secrets they were made with."""

    values: dict[str, str] = field(repr=False)
    references: tuple[str, ...]
    holds_secret: bool


class Calls:
    """The client, for those who have headers as they were written."""

    def __init__(self, surroundings: Surroundings, client: HttpClient | None = None) -> None:
        self._environment = surroundings.environment
        self._secrets = surroundings.secrets
        self._client = client or HttpClient(surroundings.allowed, surroundings.ca_file)

    def texts(self, values: Mapping[str, str]) -> Texts:
        return Texts(self._environment, values, lambda place: self._secrets.get(place).reveal())

    def send(self, request: Request, written: Mapping[str, str], texts: Texts) -> HttpResponse:
        """A refused secret may have been replaced: it is looked up again, and the request repeated once."""
        headers = self.headers(written, texts)
        answer = self._client.send(_with(request, headers))
        if answer.status != UNAUTHORIZED or not headers.references:
            return answer
        self._secrets.drop(headers.references)
        return self._client.send(_with(request, self.headers(written, texts)))

    def preview(self, request: Request, written: Mapping[str, str], texts: Texts) -> dict[str, Any]:
        """What `send` would send. Mask it before it is shown."""
        full = _with(request, self.headers(written, texts))
        shown: dict[str, Any] = {
            "method": full.method,
            "url": full.url,
            "headers": sent_headers(full),
        }
        return shown if full.body is None else {**shown, "body": _read(full.body)}

    def headers(self, written: Mapping[str, str], texts: Texts) -> Headers:
        references = tuple(
            reference for value in written.values() for reference in texts.references(value)
        )
        named = [
            texts.text(f"${{{name}}}")
            for header, value in written.items()
            if names_a_secret(header)
            for name in names_in(value)
            if name.startswith(PREFIX)
        ]
        for value in named:
            self._secrets.learn(value)
        values = {name: texts.secret_text(value) for name, value in written.items()}
        return Headers(values, references, bool(references or named))


def _read(body: bytes) -> Any:
    try:
        return canonical.decode(body)
    except (ValueError, RecursionError):
        return body.decode(errors="replace")


def _with(request: Request, headers: Headers) -> Request:
    secret = request.holds_secret or headers.holds_secret
    return replace(request, given=headers.values, holds_secret=secret)
