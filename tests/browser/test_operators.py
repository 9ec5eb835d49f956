"""What operators do with the pages, at a desk and on a phone: each action needs a reason."""

import re
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from browser.shop import DAY
from browser.window import Window


@pytest.fixture(params=[1360, 390], ids=["desk", "phone"])
def desk(request: pytest.FixtureRequest, windows: Callable[..., Window]) -> Iterator[Window]:
    """A window that must have nothing to complain of, and show nothing beyond its edge."""
    window = windows(width=request.param, height=860)
    yield window
    assert window.page.evaluate("document.documentElement.scrollWidth") <= request.param
    assert window.complaints == []


def do(page: Page, form: str, button: str, reason: str) -> None:
    """Open a form, give a reason, and send it."""
    page.locator(f"#{form} summary").click()
    page.locator(f"#{form}").get_by_label("Why").fill(reason)
    page.locator(f"#{form}").get_by_role("button", name=button).click()


def test_a_hung_job_is_cancelled(desk: Window) -> None:
    name = desk.shop.new_job("sleep 600")
    desk.shop.put(name, 4200)
    desk.shop.reaches(name, "RUNNING")
    page = desk.go(f"/runs/{name}/stream/{DAY}")

    do(page, "cancel", "Cancel this run", "it hangs")

    expect(page.get_by_text("The run is cancelled.")).to_be_visible()
    expect(page.locator("main")).to_contain_text("it hangs")
    expect(page.locator(".head .badge").first).to_have_text("given up")


def test_a_date_is_skipped_and_that_is_undone(desk: Window) -> None:
    name = desk.shop.new_pipeline()
    page = desk.go(f"/runs/{name}/stream/{DAY}")
    do(page, "skip", "Skip this date", "a holiday <b>there</b>")

    expect(page.locator(".head .badge").first).to_have_text("skipped")
    expect(page.get_by_text("The date is skipped")).to_be_visible()
    expect(page.locator("main")).to_contain_text("a holiday <b>there</b>")
    desk.shop.put(name, 4200)
    page = desk.go(f"/pipelines/{name}")
    expect(page.locator("main")).to_contain_text("nothing opens it until that is undone")

    page = desk.go(f"/runs/{name}/stream/{DAY}")
    do(page, "unskip", "Undo the skip", "it was none")
    expect(page.get_by_text("The skip is undone.")).to_be_visible()
    expect(page.locator(".head .badge").first).to_have_text("done")


def test_a_rerun_exceeds_its_budget_when_told_to(desk: Window) -> None:
    name = desk.shop.new_job("exit 1", reruns=0)
    desk.shop.put(name, 4200)
    desk.shop.reaches(name, "FAILED_FINAL")
    page = desk.go(f"/runs/{name}/stream/{DAY}")

    do(page, "again", "Request a rerun", "once more")
    expect(page.locator("main")).to_contain_text("the budget is spent")
    page.locator("#again summary").click()
    page.locator("#again").get_by_label("Why").fill("all the same")
    page.get_by_label("even if the budget is spent").check()
    page.get_by_role("button", name="Request a rerun").click()
    expect(page.locator("main")).to_contain_text("rerun accepted: all the same")
    expect(page.locator("main")).to_contain_text("attempt 1, schedule")


def test_several_dates_are_skipped_after_a_preview(desk: Window) -> None:
    name = desk.shop.new_pipeline()
    desk.shop.finish(name)
    desk.shop.put(name, 940, "2026-03-04")
    page = desk.go(f"/pipelines/{name}")

    page.get_by_role("checkbox", name=DAY, exact=True).check()
    page.get_by_role("checkbox", name="2026-03-04", exact=True).check()
    page.get_by_text("Skip or run several dates again…").click()
    several = page.locator("#many")
    several.get_by_label("From").fill("2026-03-09")
    several.get_by_label("To", exact=True).fill("2026-03-10")
    several.get_by_label("Why").fill("the source is closed")
    several.get_by_role("button", name="Preview a skip").click()

    expect(page.locator("h1")).to_contain_text("Skip: 3 dates of 4")
    expect(page.locator("main")).to_contain_text("it is done: there is nothing to skip")
    page.get_by_role("button", name="Skip: 3 dates").click()
    expect(page.get_by_text("3 dates skipped, 1 refused.")).to_be_visible()
    expect(page.locator("#dates td .badge", has_text="skipped")).to_have_count(3)


def test_a_ticked_date_stays_ticked_when_another_run_appears(desk: Window) -> None:
    name = desk.shop.new_pipeline()
    desk.shop.put(name, 940)
    page = desk.go(f"/pipelines/{name}")
    page.get_by_role("checkbox", name=DAY, exact=True).check()

    desk.shop.put(name, 940, "2026-03-05")  # its row comes before the other

    expect(page.get_by_role("checkbox", name="2026-03-05", exact=True)).not_to_be_checked()
    box = page.get_by_role("checkbox", name=DAY, exact=True)
    expect(box).to_be_checked()
    expect(box).to_have_value(f"stream {DAY}")


def test_a_reading_is_put_by_hand_after_a_preview(desk: Window) -> None:
    name = desk.shop.new_pipeline()
    page = desk.go(f"/pipelines/{name}")
    page.get_by_text("Put a reading by hand…").click()
    form = page.locator("#by-hand")
    form.get_by_label("Sensor").select_option("landed")
    form.get_by_label("Date").fill(DAY)
    form.get_by_label("Fields").fill("count=4200")
    form.get_by_label("Why").fill("the producer is down")
    form.get_by_role("button", name="Preview").click()

    expect(page.locator("main")).to_contain_text("Nothing has been stored yet")
    expect(page.locator("main li").first).to_have_text("opened")
    page.get_by_role("button", name="Put the reading").click()
    expect(page.get_by_text("The reading is stored in your name.")).to_be_visible()
    desk.shop.reaches(name, "COMPLETED")
    expect(desk.go("/audit").locator("main")).to_contain_text("the producer is down")


def test_a_failed_run_is_marked_done(desk: Window) -> None:
    name = desk.shop.new_job("exit 1")
    desk.shop.put(name, 4200)
    desk.shop.reaches(name, "FAILED_FINAL")
    page = desk.go(f"/runs/{name}/stream/{DAY}")

    page.locator("#mark summary").click()
    form = page.locator("#mark")
    form.get_by_label("done").check()
    form.get_by_label("What you know").fill("rows=4200")
    form.get_by_label("Why").fill("loaded by hand")
    form.get_by_role("button", name="Record the outcome").click()

    expect(page.get_by_text("The outcome is recorded in your name.")).to_be_visible()
    expect(page.locator(".head")).to_contain_text(re.compile("done.*by hand", re.DOTALL))
    expect(page.locator("main")).to_contain_text("loaded by hand")
