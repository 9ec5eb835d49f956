"""Chromium: where the machine has it; a machine without it says so, loudly."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome")
MISSING = "there is no chromium: install it with `apt-get install chromium`"


def found_chromium() -> str:
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is not None:
        return path
    if os.environ.get("CI") == "true":
        pytest.fail(MISSING)
    pytest.skip(MISSING)


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # a container's root has no sandbox to put it in; it sees our own pages only
        opened = playwright.chromium.launch(
            executable_path=found_chromium(), args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            yield opened
        finally:
            opened.close()
