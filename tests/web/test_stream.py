"""The stream of events: who comes back misses none."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest

from web.house import OWNER, House, is_problem

PATH = "/api/v1/events/stream"
T = TypeVar("T")


class Listening:
    """A connection that is read piece by piece, as a browser does."""

    def __init__(self, house: House, query: str = "", last_id: str | None = None) -> None:
        headers = [(b"host", b"127.0.0.1:8787"), (b"authorization", f"Bearer {OWNER}".encode())]
        if last_id is not None:
            headers.append((b"last-event-id", last_id.encode()))
        self._scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
            "scheme": "http", "path": PATH, "raw_path": PATH.encode(), "root_path": "",
            "query_string": query.encode(), "headers": headers, "server": ("127.0.0.1", 8787),
            "client": ("127.0.0.1", 1),
        }  # fmt: skip
        self._app = house.app
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self._gone = asyncio.Event()
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

    async def _receive(self) -> dict[str, Any]:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.body":
            await self._pieces.put(message.get("body", b""))


def _run(follow: Coroutine[Any, Any, T]) -> T:
    """In a thread of its own: that of a test may have a loop already, for a browser."""
    with ThreadPoolExecutor(1) as apart:
        return apart.submit(asyncio.run, follow).result()


def test_events_come_as_they_are_told(house: House) -> None:
    async def follow() -> str:
        async with Listening(house).open() as listening:
            await listening.until("retry:")
            await asyncio.to_thread(_happen, house, "2026-03-03")
            return await listening.until("event: TRIGGER_STARTED")

    text = _run(follow())

    assert "id: " in text and '"date":"2026-03-03"' in text


def test_who_comes_back_gets_what_was_told_meanwhile(house: House) -> None:
    last = house.home.store.events.last()
    _happen(house, "2026-03-03")

    async def follow() -> str:
        async with Listening(house, last_id=str(last)).open() as listening:
            return await listening.until('"date":"2026-03-03"')

    assert f"id: {last + 1}\n" in _run(follow())


def test_a_stream_may_be_of_one_pipeline_or_type(house: House) -> None:
    async def follow() -> str:
        query = "pipeline=gold-orders&type=TRIGGER_STARTED"
        async with Listening(house, query, last_id="0").open() as listening:
            await asyncio.to_thread(_happen, house, "2026-03-03")
            await asyncio.to_thread(_happen, house, "2026-03-04", "gold-orders")
            return await listening.until("gold-orders")

    text = _run(follow())

    assert "silver-orders" not in text
    assert text.count("event: ") == text.count("event: TRIGGER_STARTED") == 1


def test_a_stream_may_be_without_names(house: House) -> None:
    async def follow() -> str:
        async with Listening(house, "named=false", last_id="0").open() as listening:
            await asyncio.to_thread(_happen, house, "2026-03-03")
            return await listening.until('"date":"2026-03-03"')

    text = _run(follow())

    assert "data: " in text and "event: " not in text


def test_who_wants_to_hears_of_every_write(house: House) -> None:
    """A reading that leads to nothing is no event, and yet a page shows it."""

    async def follow() -> str:
        async with Listening(house, "pulse=true").open() as listening:
            await listening.until("retry:")
            await asyncio.to_thread(house.home.operations.put, "silver-orders", "other", {})
            return await listening.until("event: pulse")

    assert _run(follow()).count("event: ") == 1


def test_streams_end_when_the_server_does(house: House) -> None:
    async def follow() -> None:
        listening = Listening(house)
        async with listening.open():
            await listening.until("retry:")
            house.desk.closing = True

    _run(asyncio.wait_for(follow(), 60))


@pytest.mark.parametrize("given", ["x", "-1", "9" * 30])
def test_a_place_that_is_none_is_refused(house: House, given: str) -> None:
    assert is_problem(house.client.get(PATH, headers={"Last-Event-ID": given}), 400)


def _happen(house: House, date: str, pipeline: str = "silver-orders") -> None:
    house.home.operations.put(pipeline, "orders", {"date": date})
    house.runtime.step()
