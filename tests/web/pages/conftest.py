"""A visitor of the house of each test."""

import pytest

from web.house import House
from web.pages.visitor import Visitor


@pytest.fixture
def visitor(house: House) -> Visitor:
    return Visitor(house)
