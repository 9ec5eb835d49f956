"""What people do with the pages: see what is blocked, go to it, do something about it, and watch."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from browser.shop import DAY
from browser.window import Window

EVERY = ["/", "/timeline?span=24h", "/timeline?span=30d", "/runs", "/pipelines", "/sla",
         "/dependencies", "/events", "/alerts", "/audit", "/search?q=o", "/docs"]  # fmt: skip


def pages_of(name: str) -> list[str]:
    return [
        *EVERY,
        f"/pipelines/{name}",
        f"/runs/{name}/stream/{DAY}",
        f"/runs/{name}/stream/2026-03-04",
        f"/sla?pipeline={name}",
        "/nothing/here",
    ]


def test_the_overview_leads_to_what_is_blocked_and_says_why(window: Window) -> None:
    name = window.shop.new_pipeline()
    window.shop.put(name, 940)
    page = window.go("/")

    waiting = page.locator("section", has_text="Waiting for their rules")
    entry = waiting.locator("li", has=page.get_by_role("link", name=name, exact=True))
    expect(entry).to_contain_text("landed.count is 940, needs >= 1000")
    entry.get_by_role("link", name=name, exact=True).click()

    expect(page.locator("h1")).to_have_text(re.compile(rf"{name}\s+{DAY}"))
    expect(page.locator(".rules")).to_contain_text("fails")
    expect(page.locator(".rules")).to_contain_text("940")


def test_the_output_of_a_running_job_is_followed_without_a_reload(window: Window) -> None:
    """Lines come as they are printed, the newest 20 of them; the end brings the exit code."""
    name = window.shop.new_job(
        "seq 1 30; n=0; while [ ! -e $INTERLOCK_PIPELINE.go ]; do sleep 0.1; done;"
        " echo second; echo broken >&2; while [ ! -e $INTERLOCK_PIPELINE.end ]; do sleep 0.1; done; exit 7"
    )
    window.shop.put(name, 4200)
    page = window.go(f"/runs/{name}/stream/{DAY}")
    output = page.locator("pre.output")
    expect(output).to_contain_text("30")
    page.evaluate("window.stayed = true")

    (window.shop.served.project / f"{name}.go").touch()
    expect(output).to_contain_text("second\nbroken")
    assert len((output.text_content() or "").strip().split("\n")) == 20
    (window.shop.served.project / f"{name}.end").touch()

    expect(page.locator("main")).to_contain_text("exit code 7")
    expect(output).not_to_have_attribute("data-follow", re.compile("."))
    assert page.evaluate("window.stayed")
    page.get_by_role("link", name="stderr", exact=True).click()
    expect(page.locator("pre.output")).to_have_text("broken\n")


def test_a_cell_of_the_timeline_leads_to_its_run(window: Window) -> None:
    name = window.shop.new_pipeline()
    window.shop.finish(name)
    page = window.go(f"/timeline?span=30d&q={name}&to=2026-03-10T00:00:00Z")

    page.locator(f"a.cell[title='{name} {DAY}: done']").click()

    expect(page.locator("h1")).to_contain_text(name)
    expect(page.get_by_role("img", name=re.compile("opened .* finished"))).to_be_visible()
    expect(page.locator("main")).to_contain_text("Job completed")


def test_the_timeline_is_walked_by_keys_alone(window: Window) -> None:
    name = window.shop.new_pipeline()
    for day in ("2026-03-03", "2026-03-05"):
        window.shop.finish(name, day)
    page = window.go(f"/timeline?span=30d&q={name}&to=2026-03-10T00:00:00Z")

    page.locator(f"a.cell[title='{name} 2026-03-03: done']").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("a.cell:focus")).to_have_attribute("title", f"{name} 2026-03-05: done")
    page.keyboard.press("ArrowDown")
    expect(page.locator("a.cell:focus")).to_have_attribute(
        "title", f"{name}-report 2026-03-05: done"
    )
    expect(page.locator(".grid a.cell[tabindex='0']")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_contain_text(f"{name}-report")


def test_keys_find_a_pipeline_and_close_a_form(window: Window) -> None:
    name = window.shop.new_pipeline()
    page = window.go("/")

    page.keyboard.press("/")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.get_by_role("link", name=name, exact=True).click()
    page.get_by_text("Pause…").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#pause").get_by_label("Why")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#pause").get_by_label("Why")).to_be_hidden()


def test_a_rerun_with_a_reason_is_followed_to_its_end(window: Window) -> None:
    name = window.shop.new_pipeline()
    window.shop.finish(name)
    page = window.go(f"/runs/{name}/stream/{DAY}")

    page.get_by_text("Run again…").click()
    page.locator("#again").get_by_label("Why").fill("prices <b>were</b> wrong")
    page.get_by_label("even if no new data").check()
    page.get_by_role("button", name="Request a rerun").click()

    expect(page.get_by_text("Rerun requested")).to_be_visible()
    expect(page.locator("main")).to_contain_text("Rerun accepted")
    expect(page.locator("main")).to_contain_text("attempt 1, schedule")
    expect(page.locator("main")).to_contain_text("prices <b>were</b> wrong")


def test_what_happens_is_seen_without_asking(window: Window) -> None:
    name = window.shop.new_pipeline()
    window.shop.put(name, 940)
    page = window.go(f"/pipelines/{name}")
    expect(page.locator(".link")).to_have_attribute("data-state", "live")
    expect(page.locator("main")).to_contain_text("landed.count is 940")
    page.evaluate("document.body.dataset.same = 'yes'")

    window.shop.put(name, 4200)

    expect(page.locator("main h2 .badge").first).to_have_text("done")
    assert page.evaluate("document.body.dataset.same") == "yes"


def test_what_one_is_typing_outlives_the_news(window: Window) -> None:
    name = window.shop.new_pipeline()
    window.shop.finish(name)
    page = window.go(f"/runs/{name}/stream/{DAY}")
    page.get_by_text("Run again…").click()
    page.locator("#again").get_by_label("Why").fill("half a sent")

    with page.expect_response(lambda answer: answer.request.resource_type == "xhr"):
        window.shop.finish(window.shop.new_pipeline())

    expect(page.locator("#again").get_by_label("Why")).to_have_value("half a sent")
    expect(page.locator("#again").get_by_label("Why")).to_be_focused()


def test_a_browser_that_was_cut_off_says_so_and_misses_nothing(window: Window) -> None:
    name = window.shop.new_pipeline()
    page = window.go(f"/events?pipeline={name}")
    expect(page.locator(".link")).to_have_attribute("data-state", "live")

    window.context.set_offline(True)
    page.evaluate("window.dispatchEvent(new Event('pagehide'))")
    window.shop.finish(name)
    window.context.set_offline(False)
    page.evaluate("window.dispatchEvent(new Event('pageshow'))")

    expect(page.locator("main")).to_contain_text("Job completed")
    window.complaints.clear()  # a browser complains of being cut off, and rightly


def test_whose_session_ended_is_led_to_the_login_and_back(window: Window) -> None:
    page = window.go("/events")
    expect(page.locator(".link")).to_have_attribute("data-state", "live")

    window.context.clear_cookies()
    page.evaluate("window.dispatchEvent(new Event('pagehide'))")
    page.evaluate("window.dispatchEvent(new Event('pageshow'))")

    expect(page.get_by_label("Token")).to_be_focused()
    page.get_by_label("Token").fill(window.shop.token)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Events")).to_be_visible()
    window.complaints.clear()  # a browser complains of what is refused, and rightly


def test_a_pipeline_is_paused_and_resumed_with_reasons(window: Window) -> None:
    name = window.shop.new_pipeline()
    page = window.go(f"/pipelines/{name}")

    page.get_by_text("Pause…").click()
    page.locator("#pause").get_by_label("Why").fill("upstream moves house")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("The pipeline is paused.")).to_be_visible()
    window.shop.put(name, 4200)
    expect(page.locator("main")).to_contain_text(f"{DAY} reading of landed")
    page.locator("#resume").get_by_label("Why").fill("it has moved")
    page.get_by_role("button", name="Resume").click()

    expect(page.get_by_text("The pipeline is resumed.")).to_be_visible()
    expect(page.locator("main h2 .badge").first).to_have_text("done")


def test_everything_can_be_read_and_done_without_a_script(
    windows: Callable[..., Window],
) -> None:
    window = windows(script=False)
    name = window.shop.new_pipeline()
    window.shop.finish(name)
    page = window.go(f"/runs/{name}/stream/{DAY}")

    page.get_by_text("Run again…").click()
    page.locator("#again").get_by_label("Why").fill("no script needed")
    page.get_by_role("button", name="Request a rerun").click()

    expect(page.get_by_text("Rerun requested")).to_be_visible()
    assert not window.complaints


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_no_page_complains_asks_another_host_or_is_hard_to_read(
    windows: Callable[..., Window], colours: str
) -> None:
    window = windows(colours=colours)
    name = window.shop.new_pipeline()
    window.shop.finish(name)
    window.shop.put(name, 940, "2026-03-04")

    for path in pages_of(name):
        page = window.go(path)
        assert page.evaluate(_FAINT) == [], (colours, path)
    window.complaints = [each for each in window.complaints if "404 (Not Found)" not in each]

    assert window.complaints == []
    assert window.hosts == {window.shop.url.removeprefix("http://")}


def test_light_and_dark_are_chosen_and_kept(window: Window) -> None:
    page = window.go("/")
    before = _background(page)

    page.get_by_role("button", name="Switch between light and dark").click()
    chosen = _background(page)
    page.reload()

    assert chosen != before and _background(page) == chosen


def test_every_page_fits_a_phone(windows: Callable[..., Window]) -> None:
    window = windows(width=390, height=800)
    for name in (window.shop.new_pipeline(), window.shop.new_pipeline("o" * 50)):
        window.shop.finish(name)
        for path in pages_of(name):
            page = window.go(path)
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= 390, (path, wide)


def test_what_a_producer_wrote_never_runs(window: Window) -> None:
    name = window.shop.new_pipeline()
    evil = "<img src=x onerror=\"document.body.dataset.evil='1'\"><script>document.title='evil'</script>"
    window.shop.put(name, evil)

    for path in (f"/pipelines/{name}", f"/runs/{name}/stream/{DAY}", "/", "/events"):
        page = window.go(path)
        page.evaluate(_INLINE)
        assert page.evaluate("document.body.dataset.evil") is None
        assert "evil" not in page.title()
    assert any("Content Security Policy" in each for each in window.complaints)


def _background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


#: What a hole in our escaping would let an attacker do; the policy stops it anyway.
_INLINE = """() => {
  const script = document.createElement("script");
  script.textContent = "document.body.dataset.evil = '1'";
  document.body.append(script);
  document.body.insertAdjacentHTML("beforeend", `<p onclick="document.body.dataset.evil='1'">x</p>`);
  document.body.lastElementChild.click();
}"""

#: Every text whose contrast with what lies behind it is below 4.5, or below 3 when it is large.
_FAINT = r"""() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (text) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((n) => top[n] * top[3] + below[n] * (1 - top[3]));
  const light = (colour) => {
    const [r, g, b] = colour.map((c) => {
      const s = c / 255;
      return s <= 0.03928 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    if (!element) return rgba("white");
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : [...over(own, behind(element.parentElement)), 1];
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    const box = element.getBoundingClientRect();
    if (!own || box.width < 2 || box.height < 2 || element.closest(".sr, .skip, svg")) continue;
    const style = getComputedStyle(element);
    const back = behind(element);
    const front = [...over(rgba(style.color), back), 1];
    const [a, b] = [light(front.slice(0, 3)), light(back.slice(0, 3))].sort((x, y) => y - x);
    const large = parseFloat(style.fontSize) >= 24;
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) {
      const text = element.textContent.trim().slice(0, 40);
      faint.push(`${element.localName}.${element.className} ${ratio.toFixed(2)}: ${text}`);
    }
  }
  return faint;
}"""


def failing(window: Window) -> str:
    """The name of a pipeline whose job has failed, with an open alert."""
    name = window.shop.new_job("echo no such table >&2; exit 3")
    window.shop.put(name, 4200)
    page = window.go("/alerts")
    expect(page.locator("main")).to_contain_text(f"{name} {DAY}")
    return name


def test_an_alert_is_snoozed_from_the_run_page(window: Window) -> None:
    name = failing(window)
    page = window.go(f"/runs/{name}/stream/{DAY}")
    page.get_by_text("Snooze…").click()
    page.get_by_label("For").select_option("4h")
    page.locator(f"#snooze-{name}-stream-{DAY}").get_by_label("Why").fill("upstream repairs it")
    page.get_by_role("button", name="Snooze", exact=True).click()

    expect(page.get_by_role("status").filter(has_text="snoozed")).to_be_visible()
    expect(page.locator(".handled")).to_contain_text("upstream repairs it")
    expect(page.get_by_text("End snooze…")).to_be_visible()
    expect(page.locator("main")).to_contain_text("snoozed by owner until")


def test_the_page_of_alerts_shows_routes_and_takes_an_acknowledgement(window: Window) -> None:
    name = failing(window)
    page = window.go("/alerts")
    row = page.locator("tr", has=page.get_by_role("link", name=f"{name} {DAY}"))
    expect(row).to_contain_text("no such table")
    row.get_by_text("In the file…").click()
    expect(row.locator("pre.patch").first).to_contain_text(f'- match: {{ pipeline: "{name}" }}')
    row.get_by_text("In the file…").click()
    row.get_by_text("Acknowledge…").click()
    row.get_by_label("Why").first.fill("I look into it")
    row.get_by_role("button", name="Acknowledge", exact=True).click()

    expect(page.get_by_role("status").filter(has_text="acknowledged")).to_be_visible()
    expect(row).to_contain_text("I look into it")
    expect(row.get_by_text("Acknowledge…")).to_have_count(0)
    assert window.complaints == []


def test_a_sink_is_tested_from_the_page(window: Window) -> None:
    page = window.go("/alerts")
    row = page.locator("tr", has_text="console").filter(has=page.get_by_text("Test…")).first
    row.get_by_text("Test…").click()
    row.get_by_label("Why").fill("does it arrive")
    row.get_by_role("button", name="Send a test message").click()
    expect(page.get_by_role("status").filter(has_text="was delivered")).to_be_visible()
