"""What people do with backfills: preview one, start it, pause and resume it, and watch it end."""

import re

from playwright.sync_api import expect

from browser.window import Window


def test_a_backfill_is_previewed_started_paused_resumed_and_followed(window: Window) -> None:
    name = window.shop.new_daily("while [ ! -e $INTERLOCK_PIPELINE.go ]; do sleep 0.1; done")
    page = window.go(f"/pipelines/{name}")

    page.get_by_text("Backfill…").click()
    form = page.locator("details#backfill")
    form.get_by_label("From").fill("2026-01-01")
    form.get_by_label("To").fill("2026-01-05")
    form.get_by_role("button", name="Preview").click()
    expect(page.locator("main h2")).to_contain_text("5 dates without a completed run")
    expect(page.locator("p.planned")).to_contain_text("2026-01-05")

    page.get_by_label("Why").fill("a new currency")
    page.get_by_role("button", name="Start, 2 at once").click()
    page.wait_for_url(re.compile(r"/backfills/"))
    expect(page.locator("#said")).to_have_text(re.compile("The backfill is started"))
    expect(page.locator("tr", has_text="2026-01-01")).to_contain_text("running")
    expect(page.locator("tr", has_text="2026-01-03")).to_contain_text("waiting")

    page.get_by_text("Pause…").click()
    page.locator("details#pause").get_by_label("Why").fill("too much load")
    page.locator("details#pause").get_by_role("button", name="Pause").click()
    expect(page.locator(".head")).to_contain_text("paused")
    (window.shop.served.project / f"{name}.go").touch()
    expect(page.locator("tr", has_text="2026-01-02")).to_contain_text("completed")
    expect(page.locator("tr", has_text="2026-01-03")).to_contain_text("waiting")

    page.get_by_text("Resume…").click()
    page.locator("details#resume").get_by_label("Why").fill("it is night")
    page.locator("details#resume").get_by_role("button", name="Resume").click()
    expect(page.locator(".lead")).to_contain_text("5 of 5 dates done")
    expect(page.locator(".head")).to_contain_text("done")

    page.get_by_role("link", name="2026-01-05").click()
    expect(page.locator("h1")).to_have_text(re.compile(rf"{name}\s+2026-01-05"))
    page.get_by_role("link", name="backfill", exact=True).click()
    page.get_by_role("link", name="Backfills").click()
    row = page.locator("tr", has_text=name)
    expect(row).to_contain_text("5 of 5")
    expect(row.locator("svg.progress")).to_be_visible()
    assert window.complaints == []


def test_a_range_that_is_not_accepted_is_explained_on_the_preview(window: Window) -> None:
    name = window.shop.new_pipeline()
    page = window.go(f"/pipelines/{name}/backfill?from=2026-01-05&to=2026-01-01")
    expect(page.get_by_role("alert")).to_contain_text("2026-01-05 is after 2026-01-01")
    expect(page.get_by_label("From")).to_have_value("2026-01-05")
