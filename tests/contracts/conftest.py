"""Every suite here runs over every family."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import TypeVar

import pytest

from contracts.families import FAMILIES, Family
from contracts.home import Home
from contracts.samples import ManualClock

T = TypeVar("T")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture(params=FAMILIES)
def family(request: pytest.FixtureRequest) -> Family:
    chosen: Family = request.param
    return chosen


@pytest.fixture
def home(family: Family, tmp_path: Path, clock: ManualClock) -> Iterator[Home]:
    with family.open(tmp_path, clock) as opened:
        yield opened


@pytest.fixture
def at_once() -> Callable[[Sequence[Callable[[], T]]], list[T]]:
    """Call everything at the same moment, each in a thread of its own."""

    def call(calls: Sequence[Callable[[], T]]) -> list[T]:
        barrier = Barrier(len(calls))

        def wait_and(do: Callable[[], T]) -> T:
            barrier.wait(timeout=30)
            return do()

        with ThreadPoolExecutor(len(calls)) as pool:
            return list(pool.map(wait_and, calls))

    return call
