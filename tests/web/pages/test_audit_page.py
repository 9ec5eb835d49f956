"""The audit page: empty, busy, filtered, and under attack."""

from web.house import House
from web.pages.visitor import Visitor

PIPELINE = "/pipelines/silver-orders"


def test_without_requests_the_page_says_what_will_appear(visitor: Visitor) -> None:
    assert "No requests yet" in visitor.see("/audit").text


def test_a_request_is_shown_with_who_why_and_its_outcome(house: House, visitor: Visitor) -> None:
    visitor.send(f"{PIPELINE}/pause", reason="<b>upstream</b> moves")
    page = visitor.see("/audit")
    assert "owner pause silver-orders" in page.text and "done" in page.text
    assert "<b>upstream</b> moves" in page.text and not page.all("b")
    assert "No matching requests" in visitor.see("/audit?actor=eve").text
    assert "upstream" in visitor.see("/audit?actor=owner&action=pause&since=1h").text
    assert "upstream" in visitor.see("/audit?pipeline=silver-orders").text
    assert "No matching requests" in visitor.see("/audit?pipeline=gold-orders").text


def test_the_navigation_leads_there(visitor: Visitor) -> None:
    assert "/audit" in {link.get("href") for link in visitor.see("/").all("a")}


def test_older_requests_are_a_page_further(house: House, visitor: Visitor) -> None:
    for n in range(120):
        house.home.commands(f"user-{n:03}").pause("silver-orders")
    page = visitor.see("/audit")
    (older,) = [link["href"] for link in page.all("a") if link.get("rel") == "next"]
    assert "user-119" in page.text and "user-019" not in page.text
    assert "user-019" in visitor.see(older).text and "user-020" not in visitor.see(older).text


def test_a_cursor_that_is_not_ours_is_refused(visitor: Visitor) -> None:
    assert "invalid cursor" in visitor.see("/audit?cursor=zzz", 422).text
