"""What the tests of outgoing requests stand on."""

from collections.abc import Iterator

import pytest

from adapters.jobs.stand_in import StandIn, serving


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    with serving() as server:
        yield server
