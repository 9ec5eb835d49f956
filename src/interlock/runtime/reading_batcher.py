"""Intake: readings on their way to the store. Those that come while others are being written go together."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from interlock.domain.sensor import Reading

#: Stores readings without waiting, and says what became of them, in whichever thread that is.
Store = Callable[[Sequence[Reading], Callable[[BaseException | None], None]], None]
_AFTER_TROUBLE = 0.05
_Waiting = tuple[Reading, "asyncio.Future[None]"]


class ReadingBatcher:
    """Belongs to one event loop. `put` returns when the reading is durable."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: list[_Waiting] = []
        self._writing = False

    async def put(self, reading: Reading) -> None:
        durable = asyncio.get_running_loop().create_future()
        self._waiting.append((reading, durable))
        self._write_soon()
        await durable

    def _write_soon(self) -> None:
        """With whatever else has come by then."""
        if not self._writing:
            self._writing = True
            asyncio.get_running_loop().call_soon(self._write)

    def _write(self) -> None:
        """Everything that waits, as one write."""
        loop = asyncio.get_running_loop()
        group, self._waiting = self._waiting, []

        def settled(error: BaseException | None) -> None:
            with suppress(RuntimeError):  # the loop has ended, and its waiters with it
                _call_soon(loop, lambda: self._settle(group, error))

        try:
            self._store([reading for reading, _ in group], settled)
        except Exception as error:  # noqa: BLE001 - every waiting caller gets it
            self._settle(group, error)

    def _settle(self, group: Sequence[_Waiting], error: BaseException | None) -> None:
        self._writing = False
        for _, durable in group:
            if durable.done():
                continue  # the caller no longer waits
            if error is None:
                durable.set_result(None)
            else:
                durable.set_exception(error)
        if self._waiting:
            self._write_soon()


def _call_soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Until it is done: a group that is not settled keeps all others waiting."""
    while True:
        try:
            loop.call_soon_threadsafe(call)
        except MemoryError:
            time.sleep(_AFTER_TROUBLE)
        else:
            return
