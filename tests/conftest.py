"""The order of the suite: what takes long begins first, and no worker is left alone with it."""

import pytest

#: The longest first: the parts of a test's id by which it is known.
LONG = (
    "attack/test_attack.py::test_every_trouble",
    "crash/test_kills.py::test_kills_under_load",
    "crash/test_power_cuts.py",
    "deploy/",
    "wiring/test_serve_verdicts.py",
    "wiring/test_serve.py",
    "web/test_wire.py",
    "browser/",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=_place)  # and everything else as it was


def _place(item: pytest.Item) -> int:
    return next((n for n, part in enumerate(LONG) if f"/{part}" in item.nodeid), len(LONG))
