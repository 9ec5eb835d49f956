"""Attacks: whatever an attacker writes into an id, a reading, a message or an address stays text."""

from typing import Any

import msgspec
import pytest

from interlock.domain.event import EventType, happened, subject
from interlock.domain.run import Failure, Status
from interlock.web.gate import HEADERS
from web.house import House
from web.pages.visitor import HTML, SAME, Visitor, Words

EVIL = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><svg onload=alert(3)>{{7*7}}"
ORDERS = "/runs/silver-orders/stream/2026-03-03"
EVERY = ["/", "/timeline", "/pipelines", "/sla", "/dependencies", "/events", ORDERS,
         "/pipelines/silver-orders", "/backfills",
         "/pipelines/silver-orders/backfill?from=2026-01-01&to=2026-01-02"]  # fmt: skip


def is_harmless(page: Words) -> bool:
    """No element and no attribute that is not ours."""
    handlers = [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    images = page.all("img") + page.all("iframe") + page.all("style")
    scripts = [
        each for each in page.all("script") if not each.get("src", "").startswith("/static/")
    ]
    links = [each["href"] for each in page.all("a") if "href" in each]
    strange = [link for link in links if link and not link.startswith(("/", "#", "http"))]
    styles = [1 for _, attributes in page.tags if "style" in attributes]
    return not (handlers or images or scripts or strange or styles)


def fill_with_evil(house: House) -> None:
    """Everything that others may write, written badly."""
    now = house.home.ports.clock()
    house.declare(
        "pipeline: {id: silver-orders, owner: %s, description: %s, tags: {tier: %s}}"
        % ((msgspec.json.encode(EVIL).decode(),) * 3)
    )
    house.runtime.settle()
    house.put({"date": "2026-03-03", "note": EVIL, EVIL: EVIL})
    house.client.put(
        "/api/v1/pipelines/silver-orders/sensors/" + "%3Cscript%3Ealert(1)%3C%2Fscript%3E", json={}
    )
    house.runtime.step()
    run = house.home.store.runs.active()[0]
    failure = Failure("job", EVIL)
    job: dict[str, Any] = {"url": "javascript:alert(4)"}
    assert house.home.store.runs.save(
        run.to(Status.FAILED_FINAL, now, failure=failure, job=job, run_id=EVIL, launched_at=now)
    )
    about = subject(None, run.key)
    event = happened(
        EventType.JOB_FAILED, about, now, EVIL, parts=(7,), error=EVIL, runId=EVIL, category=EVIL
    )
    house.home.store.events.publish([event])


@pytest.mark.parametrize("path", EVERY)
def test_what_others_wrote_is_shown_as_text(house: House, visitor: Visitor, path: str) -> None:
    fill_with_evil(house)

    assert is_harmless(visitor.see(path))


def test_evil_is_there_to_be_seen(house: House, visitor: Visitor) -> None:
    """Or the test above would show nothing."""
    fill_with_evil(house)

    for path in ("/events", ORDERS, "/pipelines/silver-orders"):
        assert "<script>alert(1)</script>" in visitor.see(path).text
        assert "{{7*7}}" in visitor.see(path).text


@pytest.mark.parametrize(
    "path",
    [
        "/timeline?q=%3Cscript%3Ealert(1)%3C/script%3E",
        "/pipelines?q=%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E",
        "/events?q=%3Csvg%20onload=alert(1)%3E&type=%3Cb%3E&pipeline=%22onmouseover=alert(1)",
        "/sla?q=%27%22%3E%3Cscript%3E",
    ],
)
def test_what_an_address_says_is_shown_as_text(visitor: Visitor, path: str) -> None:
    assert is_harmless(visitor.see(path))


@pytest.mark.parametrize(
    "path",
    [
        "/pipelines/%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        "/runs/%3Cimg%20src=x%20onerror=alert(1)%3E/stream/2026-03-03",
        "/sla?pipeline=%3Cscript%3Ealert(1)%3C/script%3E",
        "/%3Cscript%3Ealert(1)%3C/script%3E",
    ],
)
def test_an_error_page_repeats_nothing_that_acts(visitor: Visitor, path: str) -> None:
    assert is_harmless(visitor.see(path, 404))


@pytest.mark.parametrize("path", [*EVERY, "/login", "/nothing", "/static/pages.css"])
def test_every_answer_carries_the_strict_headers(visitor: Visitor, path: str) -> None:
    answer = visitor.client.get(path)

    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert answer.headers["referrer-policy"] == "same-origin"


def test_pages_are_never_kept_and_their_files_are(visitor: Visitor) -> None:
    page = visitor.client.get("/")
    sheet = next(
        each["href"] for each in Words(page.text).all("link") if "pages.css" in each["href"]
    )

    assert page.headers["cache-control"] == "no-store"
    assert "immutable" in visitor.client.get(sheet).headers["cache-control"]
    assert "immutable" not in visitor.client.get("/static/pages.css").headers["cache-control"]


@pytest.mark.parametrize(
    "name",
    ["../site.py", "..%2fsite.py", "vendor/../../site.py", "%2e%2e/site.py", "/etc/passwd", ""],
)
def test_only_our_own_files_are_served(visitor: Visitor, name: str) -> None:
    assert visitor.client.get(f"/static/{name}").status_code == 404


@pytest.mark.parametrize("path", EVERY)
def test_who_has_no_session_is_led_to_the_login(house: House, path: str) -> None:
    stranger = house.client_of(None, **HTML)

    answer = stranger.get(path)

    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/login?next=%2F")


def test_after_the_login_one_is_where_one_wanted_to_be(house: House) -> None:
    stranger = house.client_of(None, **HTML)
    login = stranger.get(stranger.get("/events?note=1").headers["location"])
    (wanted,) = [each for each in Words(login.text).all("input") if each["name"] == "next"]
    form = {"secret": house.access.new_code(), "next": wanted["value"]}

    answer = stranger.post("/login", data=form, headers=SAME)

    assert answer.headers["location"] == "/events?note=1"


@pytest.mark.parametrize(
    "place",
    [
        "//evil.example",
        "https://evil.example/",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/ok\nSet-Cookie: a=b",
        " //evil.example",
        "",
    ],
)
def test_no_login_leads_to_another_host(house: House, place: str) -> None:
    form = {"secret": house.access.new_code(), "next": place}

    answer = house.client_of(None).post("/login", data=form, headers=SAME)

    assert answer.status_code == 303 and answer.headers["location"] == "/"


def test_a_link_on_another_site_finds_the_session_again(house: House, visitor: Visitor) -> None:
    """The cookie is strict: the first step from another site has none, the second is our own."""
    stranger = house.client_of(None, **HTML)

    first = stranger.get("/events", headers={"Sec-Fetch-Site": "cross-site"})
    second = stranger.get("/events", headers={"Sec-Fetch-Site": "same-origin"})

    assert first.status_code == 200 and 'http-equiv="refresh"' in first.text
    assert second.status_code == 303
    assert visitor.client.get("/events").status_code == 200


def test_no_page_is_shown_to_who_may_only_report(house: House) -> None:
    reporter = Visitor(house, house.token("observe"))

    for path in EVERY:
        reporter.see(path, 403)


@pytest.mark.parametrize("path", EVERY)
def test_looking_changes_nothing(house: House, visitor: Visitor, path: str) -> None:
    visitor.see(path)
    before = house.database.commits

    visitor.see(path)

    assert house.database.commits == before
