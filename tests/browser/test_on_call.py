"""What one does on call: see a failure, follow it, read its output, find who paused what, and search."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.shop import DAY
from browser.window import Window
from wiring.served import eventually

KINDS: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {"colours": "dark"},
    "phone": {"width": 390, "height": 844},
}


@pytest.fixture(params=KINDS)
def any_window(request: pytest.FixtureRequest, windows: Callable[..., Window]) -> Window:
    return windows(**KINDS[request.param])


def break_job(window: Window) -> str:
    """The name of a pipeline whose job has just failed for good."""
    name = window.shop.new_job("echo loading; echo no such table >&2; exit 3")
    window.shop.put(name, 4200)
    over = ("FAILED", "FAILED_FINAL")
    eventually(lambda: window.shop.served.runs().get((name, DAY)) in over, "failed")
    return name


def test_a_failure_is_followed_from_the_overview_to_its_output(any_window: Window) -> None:
    name = break_job(any_window)
    page = any_window.go("/")

    changes = page.locator("#changes tr", has=page.get_by_role("link", name=name, exact=True))
    expect(changes.first).to_contain_text(re.compile("given up.*no such table", re.DOTALL))
    changes.get_by_role("link", name=name, exact=True).first.click()

    expect(page.locator("h1")).to_contain_text(name)
    expect(page.locator("pre.output")).to_contain_text("no such table")
    expect(page.locator("main")).to_contain_text("exit code 3")
    assert any_window.complaints == []


def test_one_finds_who_paused_a_pipeline_and_why(any_window: Window) -> None:
    name = any_window.shop.new_pipeline()
    page = any_window.go(f"/pipelines/{name}")
    page.get_by_text("Pause…").click()
    page.get_by_label("Why").fill("the source moves house")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("The pipeline is paused.")).to_be_visible()

    page.get_by_role("link", name="Audit", exact=True).click()
    page.get_by_label("Pipeline", exact=True).fill(name)
    page.get_by_role("button", name="Show").click()

    entry = page.locator(".audit tbody tr", has_text=name)
    expect(entry).to_contain_text("owner")
    expect(entry).to_contain_text("pause")
    expect(entry).to_contain_text("the source moves house")
    assert any_window.complaints == []


def test_runs_are_filtered_and_the_address_remembers_how(any_window: Window) -> None:
    name = any_window.shop.new_pipeline()
    any_window.shop.finish(name, "2026-03-02")
    any_window.shop.finish(name, "2026-03-03")
    any_window.shop.put(name, 940, "2026-03-04")
    page = any_window.go("/runs")

    page.get_by_label("Pipeline", exact=True).fill(name)
    page.get_by_label("State").select_option(label="done")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("tr.run")).to_have_count(2)
    assert f"pipeline={name}" in page.url and "status=COMPLETED" in page.url
    page.get_by_label("from").fill("2026-03-03")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("tr.run")).to_have_count(1)

    page.go_back()
    expect(page.locator("tr.run")).to_have_count(2)
    page.reload()
    expect(page.locator("tr.run")).to_have_count(2)
    expect(page.get_by_label("State")).to_have_value("COMPLETED")
    page.get_by_role("link", name="clear").click()
    expect(page.get_by_label("State")).to_have_value("")
    assert any_window.complaints == []


def test_the_search_suggests_and_the_keys_choose(any_window: Window) -> None:
    name = any_window.shop.new_pipeline("needle")
    page = any_window.go("/")
    box = page.get_by_role("combobox", name=re.compile("Search"))

    page.keyboard.press("/")
    expect(box).to_be_focused()
    page.keyboard.type(name)
    options = page.get_by_role("option")
    expect(options.first).to_contain_text(name)
    expect(box).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("ArrowDown")
    expect(box).to_have_attribute("aria-activedescendant", "found-0")
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")

    expect(page.locator("h1")).to_have_text(name)
    assert any_window.complaints == []


def test_escape_closes_the_suggestions_and_enter_shows_every_result(window: Window) -> None:
    name = window.shop.new_pipeline("needle")
    page = window.go("/")
    box = page.get_by_role("combobox", name=re.compile("Search"))
    box.fill(name)
    expect(page.get_by_role("option").first).to_be_visible()

    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    expect(box).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Search")).to_be_visible()
    expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()


def test_the_search_works_without_a_script(windows: Callable[..., Window]) -> None:
    window = windows(script=False)
    name = window.shop.new_pipeline("needle")
    page = window.go("/")

    page.get_by_label(re.compile("Search pipelines")).fill(name)
    page.keyboard.press("Enter")

    expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()


def test_the_zone_is_switched_and_kept(any_window: Window) -> None:
    name = any_window.shop.new_pipeline()
    any_window.shop.put(name, 940)
    page = any_window.go(f"/runs/{name}/stream/{DAY}")
    expect(page.locator(".ticks")).to_contain_text("UTC")
    local = page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")

    page.get_by_label("Time zone").select_option("local")
    expect(page.locator("h2 .right").first).to_have_text(local)
    any_window.go("/runs")
    expect(page.get_by_label("Time zone")).to_have_value("local")
    page.get_by_label("Time zone").select_option("UTC")
    expect(page.get_by_label("Time zone")).to_have_value("UTC")
    assert any_window.complaints == []


def test_the_local_zone_is_that_of_the_browser_wherever_it_was_before(window: Window) -> None:
    name = window.shop.new_pipeline()
    window.shop.put(name, 940)
    window.context.add_cookies(
        [{"name": "interlock_zone", "value": "local:Asia/Tokyo", "url": window.shop.url}]
    )
    page = window.go(f"/runs/{name}/stream/{DAY}")
    expect(page.get_by_label("Time zone")).to_have_value("local")

    page.reload()
    local = page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone")
    expect(page.locator("h2 .right").first).to_have_text(local)


def test_what_was_seen_is_marked(window: Window) -> None:
    name = break_job(window)
    page = window.go("/")
    expect(page.locator("#changes")).to_contain_text(name)

    page.get_by_role("button", name="Mark as seen").click()

    expect(page.locator("#changes")).to_contain_text("Since you last looked")
    expect(page.locator("#changes")).not_to_contain_text(name)


def test_one_who_comes_back_sees_what_happened_in_between(window: Window) -> None:
    page = window.go("/")
    page.evaluate("localStorage.setItem('interlock_active', Date.now() - 3 * 3600000)")

    window.go("/events")  # leaving a page would note that one was here
    page.evaluate("localStorage.setItem('interlock_active', Date.now() - 3 * 3600000)")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    window.go("/")

    expect(page.locator("#changes")).to_contain_text("Since you last looked")


def test_keys_lead_through_the_pages(window: Window) -> None:
    window.shop.finish(window.shop.new_pipeline())
    page = window.go("/")

    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_be_visible()
    page.keyboard.press("g")  # a key of the page does nothing behind it
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    for key, title in (("t", "Timeline"), ("p", "Pipelines"), ("e", "Events"), ("r", "Runs")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible()

    page.keyboard.press("j")
    page.keyboard.press("j")
    second = page.locator("tr.run").nth(1).get_by_role("link").first
    expect(second).to_be_focused()
    page.keyboard.press("k")
    expect(page.locator("tr.run").first.get_by_role("link").first).to_be_focused()
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.keyboard.press("l")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


def test_typing_is_not_a_shortcut(window: Window) -> None:
    page = window.go("/runs")
    page.get_by_label("Pipeline", exact=True).fill("")
    page.keyboard.type("go?/jkl")

    expect(page.get_by_label("Pipeline", exact=True)).to_have_value("go?/jkl")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_an_operation_is_tried_from_the_page(any_window: Window) -> None:
    name = any_window.shop.new_pipeline()
    page = any_window.go("/docs#getPipeline")
    form = page.locator("#getPipeline form")

    form.get_by_label("pipeline").fill(name)
    form.get_by_role("button", name="Send GET").click()

    expect(form.locator(".sent")).to_contain_text("200")
    expect(form.locator("pre")).to_contain_text(f'"id": "{name}"')
    expect(form.locator("pre")).to_contain_text(f"/api/v1/pipelines/{name}")
    assert any_window.complaints == []


def test_a_token_is_used_and_never_shown(window: Window) -> None:
    page = window.go("/docs#listPipelines")
    page.get_by_label("Token", exact=True).fill("no-such-token")
    form = page.locator("#listPipelines form")
    form.get_by_role("button", name="Send GET").click()

    expect(form.locator(".sent")).to_contain_text("401")
    expect(form.locator("pre")).to_contain_text("invalid token")
    assert "no-such-token" not in page.locator("main").inner_text()
    page.get_by_label("Token", exact=True).fill(window.shop.token)
    form.get_by_role("button", name="Send GET").click()
    expect(form.locator(".sent")).to_contain_text("200")
    window.complaints.clear()  # a browser complains of what is refused, and rightly


def test_a_command_is_tried_with_its_body(window: Window) -> None:
    name = window.shop.new_pipeline()
    page = window.go("/docs#pause")
    form = page.locator("#pause form")
    form.get_by_label("pipeline").fill(name)
    form.get_by_label("body").fill('{"reason": "tried from the page"}')
    form.get_by_role("button", name="Send POST").click()
    expect(form.locator(".sent")).to_contain_text("200")

    window.go(f"/pipelines/{name}")
    expect(page.locator("main")).to_contain_text("tried from the page")


def test_a_pipeline_shows_its_file_and_its_past(any_window: Window) -> None:
    name = any_window.shop.new_pipeline()
    for day in ("2026-03-01", "2026-03-02", "2026-03-03"):
        any_window.shop.finish(name, day)
    page = any_window.go(f"/pipelines/{name}")

    expect(page.get_by_role("img", name="landed.count")).to_be_visible()
    expect(page.get_by_role("img", name="Job duration")).to_be_visible()
    page.get_by_text("The file in force").click()
    expect(page.get_by_text(f"As written, pipelines/{name}.yaml")).to_be_visible()
    expect(page.locator(".beside pre").first).to_contain_text("maxManualReruns: 3")
    figure = page.get_by_role("figure", name=re.compile("landed.count"))
    figure.get_by_text("as a table").click()
    expect(figure.get_by_role("link", name="2026-03-02")).to_be_visible()
    assert any_window.complaints == []


def test_a_page_prints_without_its_controls(window: Window) -> None:
    name = window.shop.new_pipeline()
    window.shop.finish(name)
    page = window.go(f"/runs/{name}/stream/{DAY}")

    page.emulate_media(media="print")

    for hidden in (".bar", ".foot", ".act"):
        expect(page.locator(hidden).first).to_be_hidden()
    expect(page.get_by_role("heading", name="History")).to_be_visible()


def test_on_a_phone_names_end_where_they_differ_and_the_newest_week_comes_first(
    windows: Callable[..., Window],
) -> None:
    window = windows(width=390, height=844)
    name = window.shop.new_pipeline("a-very-long-name-of-a-pipeline")
    window.shop.finish(name)
    page = window.go(f"/timeline?q={name}")

    tail = page.locator(".mid-tail").first
    expect(tail).to_have_text(name[-8:])
    assert _is_inside(page, ".mid-tail", ".grid .name")
    for link in page.locator(".places a").all():
        box = link.bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390


def _is_inside(page: Page, inner: str, outer: str) -> bool:
    script = """([inner, outer]) => {
      const a = document.querySelector(`tbody ${inner}`).getBoundingClientRect();
      const b = document.querySelector(inner).closest(outer).getBoundingClientRect();
      return a.right <= b.right + 1 && a.left >= b.left - 1;
    }"""
    return bool(page.evaluate(script, [inner, outer]))
