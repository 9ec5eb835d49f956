"""Remote: a backend that is reached through its server.

Every operation is called as its row of the HTTP interface says, and the answer is the struct that the
server held.
"""

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from typing import Any, cast
from urllib.parse import quote

import msgspec

from interlock.client import Client
from interlock.domain import canonical
from interlock.errors import UnavailableError
from interlock.operations.commands import Commands
from interlock.operations.endpoints import API, ENDPOINTS, Endpoint
from interlock.operations.queries import Queries


def remote_queries(client: Client) -> Queries:
    return cast(Queries, _Remote(client, is_query=True))


def remote_commands(client: Client) -> Commands:
    """The server knows the caller by the token."""
    return cast(Commands, _Remote(client, is_query=False))


class _Remote:
    """Has a method for each row."""

    def __init__(self, client: Client, *, is_query: bool) -> None:
        self._client = client
        self._rows = {row.asks: row for row in ENDPOINTS if row.is_query is is_query}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in self._rows:
            raise AttributeError(name)
        return partial(_call, self._client, self._rows[name])


def _call(client: Client, row: Endpoint, *given: Any, **named: Any) -> Any:
    arguments = row.bound(*given, **named)
    path = row.path.replace(":path", "").format_map(
        {name: quote(arguments[name], safe="") for name in row.path_parts}
    )
    query = canonical.as_json(arguments[row.query_name]) if row.query_name in arguments else {}
    body = canonical.as_json(arguments[row.body_name]) if row.body_name in arguments else None
    again = row.method == "PUT" or None
    answer = client.call(row.method, API + path, query, body, same_twice=again)
    return _decoded(row.answer, answer.body) if answer.body else None


def _decoded(kind: Any, body: bytes) -> Any:
    """Another version may send something else."""
    try:
        return _decoder(kind).decode(body)
    except ValueError as error:
        raise UnavailableError(
            f"the server's answer can't be read ({error}): is it of the same version?"
        ) from error


def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Exact: a number with a point is a Decimal."""
    return msgspec.json.Decoder(kind, float_hook=Decimal)
