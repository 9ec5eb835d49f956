"""Served: a server that holds a place's state file, over HTTP, with the controller behind it.

It answers the rows of the interface, from the same operations that a real one has.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote

import msgspec

from cli.place import Place
from interlock.adapters.sqlite.lock import serving
from interlock.domain import canonical
from interlock.errors import ConfigError, ConflictError, NotFoundError
from interlock.operations.endpoints import API, ENDPOINTS
from interlock.runtime.server_address import NAME as ADDRESS_FILE
from interlock.runtime.server_address import Address
from interlock.wiring.local_backend import LocalBackend
from tiny_server import Asked, Said, Tiny, tiny_server

STATUS = {NotFoundError: 404, ConfigError: 422, ConflictError: 409}
CALLER = "ada"


@contextmanager
def served(
    place: Place, *, leaves_address: bool = True, minutes_a_request: int = 0
) -> Iterator[Tiny]:
    """A running server, as far as commands can tell; time may fly after each request."""
    place.catch_up()

    def answer(asked: Asked) -> Said:
        said: list[Said] = []
        place.catch_up()
        place.happen(lambda home: said.append(_answer(asked, home)))
        place.wait(minutes=minutes_a_request)
        return said[0]

    with serving(place.state), tiny_server(answer) as server:
        if leaves_address:
            left = canonical.encode(Address(server.url, "left-for-commands", 1))
            (place.settings.state / ADDRESS_FILE).write_text(left)
        yield server


def _answer(asked: Asked, home: LocalBackend) -> Said:
    try:
        return Said(_found(asked, home))
    except (NotFoundError, ConfigError) as error:
        return Said({"detail": str(error)}, STATUS[type(error)])


def _found(asked: Asked, home: LocalBackend) -> Any:
    if asked.path == "/healthz":
        return {"status": "ok"}
    for row in ENDPOINTS:
        pattern = re.sub(r"{([a-z]+)(:path)?}", r"(?P<\1>[^/]+)", API + row.path)
        found = re.fullmatch(pattern, asked.path)
        if found is None or row.method != asked.method:
            continue
        path = {name: unquote(part) for name, part in found.groupdict().items()}
        query = msgspec.convert(asked.query, row.query, strict=False)
        body = None if asked.body is None else msgspec.convert(asked.body, row.body)
        backend = home.queries if row.is_query else home.commands(CALLER)
        return getattr(backend, row.asks)(**row.arguments(path, query, body))
    raise NotFoundError(asked.path)
