"""The suites share what stands in this folder; with this file here, pytest finds it."""

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from usecases.home import Home


@pytest.fixture
def home() -> "Home":
    """A controller in memory. Imported late: not every suite needs all of it."""
    from usecases.home import Home

    return Home()
