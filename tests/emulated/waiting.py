"""Waiting: for a condition, long enough for the slowest machine; a timeout reports what did come."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 600.0
_PAUSE = 0.3


def wait_for(look: Callable[[], T], what: str, tell: Callable[[], str] = str) -> T:
    """What a look finds, as soon as it finds something."""
    until = time.monotonic() + PATIENCE
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > until:
            raise AssertionError(f"not {what} within {PATIENCE:.0f} seconds\n{tell()}")
        time.sleep(_PAUSE)
