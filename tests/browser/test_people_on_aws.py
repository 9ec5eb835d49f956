"""What people see of an installation on AWS: the real server, over what the functions wrote."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from aws.gallery import Gallery
from aws.shown import Shown
from aws.table_server import served_tables
from browser.chromium import found_chromium
from browser.window import Look
from contracts.samples import a_key, an_event
from interlock.domain.event import envelope

#: What buttons say that change nothing but what this browser shows.
HARMLESS = {
    "Log out",
    "Show",
    "Search",
    "Mark as seen",
    "Keyboard shortcuts",
    "Switch between light and dark",
}


@pytest.fixture(scope="module")
def gallery() -> Gallery:
    return Gallery(datetime.now(UTC))


@pytest.fixture(scope="module")
def shown(gallery: Gallery, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    found_chromium()  # no server without a browser to look at it
    with served_tables(gallery.services.tables) as endpoint:
        opened = Shown(Path(tmp_path_factory.mktemp("shown")), endpoint)
        yield opened
        opened.close()


@pytest.fixture
def look(chromium: Browser, shown: Shown) -> Iterator[Look]:
    opened = Look(chromium, shown)
    yield opened
    opened.close()


def test_one_goes_from_the_overview_to_what_waits_and_back_to_the_timeline(
    look: Look, gallery: Gallery
) -> None:
    page = look.go("/")
    expect(page.locator("header")).to_contain_text("t on AWS, read only")
    waiting = page.locator("section", has_text="Waiting for their rules")
    expect(waiting).to_contain_text("landed.count is 940, needs >= 1000")
    expect(page.locator(".concerns")).to_contain_text("broken")

    waiting.get_by_role("link", name="bronze", exact=True).click()
    expect(page.locator("h1")).to_have_text(re.compile(rf"bronze\s+{gallery.day}"))
    expect(page.locator(".rules")).to_contain_text("940")

    page.get_by_role("link", name="Timeline", exact=True).click()
    page.locator(f"a.cell[title='orders {gallery.day}: done']").click()
    expect(page.locator("main")).to_contain_text("Job completed")
    page.locator("h1").get_by_role("link", name="orders").click()
    expect(page.locator("main")).to_contain_text("Job duration")


def test_no_page_has_a_button_that_does_anything_or_complains(look: Look, gallery: Gallery) -> None:
    day = gallery.day
    for path in (
        "/", "/timeline?span=48h", "/timeline?span=30d", "/pipelines", "/pipelines/bronze",
        f"/runs/orders/stream/{day}", f"/runs/broken/stream/{day}", "/sla", "/sla?pipeline=orders",
        "/dependencies", "/events", "/events?note=1", "/events?q=nothing-is-like-this",
        "/runs", "/runs?pipeline=orders", "/runs?pipeline=broken&status=FAILED_FINAL",
        "/search?q=orders", f"/search?q=orders+{day}",
    ):  # fmt: skip
        page = look.go(path)
        expect(page.locator("h1")).to_be_visible()
        names = page.get_by_role("button").all_inner_texts()
        assert set(names) <= HARMLESS, (path, names)
        assert page.locator("details.act").count() == 0
    assert look.complaints == []


def test_what_the_functions_tell_is_seen_without_asking(look: Look, gallery: Gallery) -> None:
    page = look.go("/events?pipeline=orders")
    expect(page.locator(".link")).to_have_attribute("data-state", "live")
    expect(page.locator(".link")).to_have_attribute("title", re.compile("looked at every 5s"))
    key = a_key(pipeline_id="orders", date=gallery.day)
    news = an_event("news", key=key, at=datetime.now(UTC))

    assert gallery.store.event_log.put(envelope(news)) is not None

    expect(page.locator("main")).to_contain_text(news.message)
