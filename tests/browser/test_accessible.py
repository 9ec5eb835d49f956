"""Every page can be used by all: axe finds nothing serious in light, in dark, and on a phone."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

from browser.shop import DAY
from browser.window import Window

KINDS: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"colours": "dark"},
    "phone": {"width": 390, "height": 844},
}
GRAVE = ("serious", "critical")


def pages_of(name: str) -> list[str]:
    return [
        "/",
        "/timeline?span=24h",
        "/timeline?span=14d",
        "/runs",
        "/runs?pipeline=nothing-like-it",
        f"/runs/{name}/stream/{DAY}",
        f"/runs/{name}/stream/2026-03-04",
        "/pipelines",
        f"/pipelines/{name}",
        "/sla",
        f"/sla?pipeline={name}",
        "/dependencies",
        "/events",
        "/audit",
        "/search",
        f"/search?q={name}",
        "/docs#listRuns",
        "/nothing/here",
        "/login",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_no_page_has_a_serious_flaw(windows: Callable[..., Window], kind: str) -> None:
    window = windows(**KINDS[kind])
    name = window.shop.new_pipeline()
    window.shop.finish(name)
    window.shop.put(name, 940, "2026-03-04")
    axe = Axe()

    grave = []
    for path in pages_of(name):
        page = window.go(path)
        page.evaluate(
            "document.querySelectorAll('main details').forEach((each) => (each.open = true))"
        )
        page.wait_for_load_state()
        found = axe.run(page).response["violations"]
        grave += [
            (path, each["id"], node["html"][:160], node["failureSummary"][:200])
            for each in found
            if each["impact"] in GRAVE
            for node in each["nodes"][:3]
        ]
    assert grave == []


def test_the_list_of_keys_has_no_serious_flaw(window: Window) -> None:
    page = window.go("/")
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keyboard shortcuts").wait_for()

    found = Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in GRAVE] == []
