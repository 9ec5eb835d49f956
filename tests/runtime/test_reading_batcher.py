"""Intake: who comes while others are being written goes with the next write, and hears what became of it."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from contracts.samples import NOW
from interlock.domain.sensor import Reading
from interlock.errors import UnavailableError
from interlock.runtime.reading_batcher import ReadingBatcher
from web.listening import run_apart

Settled = Callable[[BaseException | None], None]


class Slow:
    """A store that is done when the test says so."""

    def __init__(self) -> None:
        self.writes: list[tuple[list[str], Settled]] = []

    def __call__(self, readings: Sequence[Reading], settled: Settled) -> None:
        self.writes.append(([reading.key for reading in readings], settled))

    @property
    def keys(self) -> list[list[str]]:
        return [keys for keys, _ in self.writes]


async def _putting(intake: ReadingBatcher, *keys: str) -> list["asyncio.Task[None]"]:
    tasks = [asyncio.create_task(intake.put(Reading("p", key, {}, NOW))) for key in keys]
    for _ in range(3):  # they come, and what came together is written
        await asyncio.sleep(0)
    return tasks


async def _waited(tasks: Sequence["asyncio.Task[None]"]) -> list[Any]:
    return await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60)


def test_those_who_come_meanwhile_are_written_together() -> None:
    async def story() -> None:
        store = Slow()
        intake = ReadingBatcher(store)
        first = await _putting(intake, "a")
        others = await _putting(intake, "b", "c")
        assert store.keys == [["a"]]
        assert not any(task.done() for task in (*first, *others))

        store.writes[0][1](None)
        await _waited(first)
        await asyncio.sleep(0)
        assert store.keys == [["a"], ["b", "c"]]
        assert not any(task.done() for task in others)

        store.writes[1][1](None)
        assert await _waited(others) == [None, None]

    run_apart(story())


def test_those_who_come_together_are_written_together() -> None:
    async def story() -> None:
        store = Slow()
        await _putting(ReadingBatcher(store), "a", "b", "c")
        assert store.keys == [["a", "b", "c"]]

    run_apart(story())


def test_a_failed_write_is_reported_to_its_own_callers_only() -> None:
    async def story() -> None:
        store = Slow()
        intake = ReadingBatcher(store)
        first = await _putting(intake, "a")
        second = await _putting(intake, "b")

        store.writes[0][1](UnavailableError("the disk is full"))
        (error,) = await _waited(first)
        await asyncio.sleep(0)
        store.writes[1][1](None)

        assert isinstance(error, UnavailableError)
        assert await _waited(second) == [None]

    run_apart(story())


def test_a_caller_that_left_delays_no_other() -> None:
    async def story() -> None:
        store = Slow()
        intake = ReadingBatcher(store)
        gone, stays = await _putting(intake, "a", "b")
        gone.cancel()
        await asyncio.sleep(0)

        for _, settled in list(store.writes):
            settled(None)
        await asyncio.sleep(0)
        for _, settled in store.writes[1:]:
            settled(None)

        assert await _waited([stays]) == [None]

    run_apart(story())


def test_a_store_that_takes_nothing_refuses_at_once() -> None:
    def closed(readings: Sequence[Reading], settled: Settled) -> None:
        raise UnavailableError("the store is closed")

    async def story() -> None:
        intake = ReadingBatcher(closed)
        for _ in range(2):
            with pytest.raises(UnavailableError):
                await asyncio.wait_for(intake.put(Reading("p", "a", {}, NOW)), 60)

    run_apart(story())
