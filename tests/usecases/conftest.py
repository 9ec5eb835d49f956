"""Every use case has a home to work in."""

import pytest

from usecases.home import Home


@pytest.fixture
def home() -> Home:
    return Home()
