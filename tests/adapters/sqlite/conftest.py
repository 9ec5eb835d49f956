"""A store in memory, a store in a file, and a clock that stands still."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contracts.samples import ManualClock
from interlock.adapters.sqlite.database import Database
from interlock.adapters.sqlite.store import Store


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def memory() -> Iterator[Database]:
    with Database() as database:
        yield database


@pytest.fixture
def store(memory: Database, clock: ManualClock) -> Store:
    return Store(memory, clock)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "interlock.db"


@pytest.fixture
def file(path: Path) -> Iterator[Database]:
    with Database(path) as database:
        yield database


@pytest.fixture(params=["memory", "file"])
def database(request: pytest.FixtureRequest) -> Database:
    chosen: Database = request.getfixturevalue(request.param)
    return chosen
