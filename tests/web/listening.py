"""Listening: a stream of events, read piece by piece."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from starlette.types import ASGIApp

from web.house import OWNER

PATH = "/api/v1/events/stream"
T = TypeVar("T")


class Listening:
    """A connection that is read piece by piece, as a browser does."""

    def __init__(
        self, app: ASGIApp, query: str = "", last_id: str | None = None, path: str = PATH
    ) -> None:
        headers = [(b"host", b"127.0.0.1:8787"), (b"authorization", f"Bearer {OWNER}".encode())]
        if last_id is not None:
            headers.append((b"last-event-id", last_id.encode()))
        self._scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
            "scheme": "http", "path": path, "raw_path": path.encode(), "root_path": "",
            "query_string": query.encode(), "headers": headers, "server": ("127.0.0.1", 8787),
            "client": ("127.0.0.1", 1),
        }  # fmt: skip
        self._app = app
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self._gone = asyncio.Event()
        self._over = asyncio.Event()
        self._text = ""

    @asynccontextmanager
    async def open(self) -> AsyncIterator["Listening"]:
        task = asyncio.ensure_future(self._app(self._scope, self._receive, self._send))
        try:
            yield self
        finally:
            self._gone.set()
            await asyncio.wait_for(task, 60)

    async def until(self, text: str) -> str:
        async with asyncio.timeout(60):
            while text not in self._text:
                self._text += (await self._pieces.get()).decode()
        return self._text

    async def ended(self) -> None:
        """Wait until the server has nothing more to say."""
        async with asyncio.timeout(60):
            await self._over.wait()

    async def _receive(self) -> dict[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.body":
            await self._pieces.put(message.get("body", b""))
            if not message.get("more_body", False):
                self._over.set()


def run_apart(follow: Coroutine[Any, Any, T]) -> T:
    """In a thread of its own: that of a test may have a loop already, for a browser."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, follow).result()
