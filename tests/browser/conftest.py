"""One browser and one server for all tests of a process; each test has pipelines and a window of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from browser.chromium import browser, found_chromium
from browser.shop import Shop
from browser.window import PATIENCE_MS, Window


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE_MS)
    with browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    found_chromium()  # no server without a browser to look at it
    opened = Shop(Path(tmp_path_factory.mktemp("shop")))
    yield opened
    opened.close()


@pytest.fixture
def window(chromium: Browser, shop: Shop) -> Iterator[Window]:
    opened = Window(chromium, shop)
    yield opened
    opened.close()


@pytest.fixture
def windows(chromium: Browser, shop: Shop) -> Iterator[Callable[..., Window]]:
    """Windows of other kinds: a phone, a dark room, no script."""
    opened: list[Window] = []

    def make(**kind: Any) -> Window:
        opened.append(Window(chromium, shop, **kind))
        return opened[-1]

    yield make
    for each in opened:
        each.close()
