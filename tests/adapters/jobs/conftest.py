"""What the tests of jobs stand on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.jobs.kinds import KINDS, Kind
from adapters.jobs.worlds import World


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    chosen: Kind = request.param
    return chosen


@pytest.fixture
def world(kind: Kind, tmp_path: Path) -> Iterator[World]:
    with kind.open(tmp_path) as opened:
        yield opened
