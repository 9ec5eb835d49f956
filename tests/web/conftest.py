"""Every test of the web has a house of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from web.house import House, opened


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with opened(tmp_path) as house:
        yield house
