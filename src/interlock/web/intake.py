"""Intake: readings on their way to the store. Those that come while others are being written go together."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from interlock.domain.sensor import Reading

Store = Callable[[Sequence[Reading]], None]


class Intake:
    """Belongs to one event loop. `put` returns when the reading is durable."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="interlock-intake")
        self._waiting: list[tuple[Reading, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def put(self, reading: Reading) -> None:
        durable = asyncio.get_running_loop().create_future()
        self._waiting.append((reading, durable))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        await durable

    def close(self) -> None:
        self._thread.shutdown(wait=True)

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            group, self._waiting = self._waiting, []
            readings = [reading for reading, _ in group]
            try:
                await loop.run_in_executor(self._thread, self._store, readings)
            except Exception as error:  # noqa: BLE001 - whoever put them gets it
                _answer(group, error)
            else:
                _answer(group, None)
        self._writing = None


def _answer(
    group: Sequence[tuple[Reading, "asyncio.Future[None]"]], error: Exception | None
) -> None:
    for _, durable in group:
        if durable.done():
            continue  # whoever waited has left
        if error is None:
            durable.set_result(None)
        else:
            durable.set_exception(error)
