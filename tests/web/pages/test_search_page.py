"""The search page: works without a script, and is what the suggestions are made of."""

import pytest

from web.house import House
from web.pages.visitor import Visitor, Words


def results(page: Words) -> dict[str, str]:
    links = [link for link in page.all("a") if "result" in link.get("class", "")]
    return {link["href"]: link["data-kind"] for link in links}


def test_without_words_the_page_says_what_can_be_found(visitor: Visitor) -> None:
    text = visitor.see("/search").text
    assert "What are you looking for?" in text and "orders 2026-03-03" in text


def test_each_kind_leads_to_its_page(house: House, visitor: Visitor) -> None:
    house.put({"date": "2026-03-03"})
    house.runtime.step()

    assert results(visitor.see("/search?q=silver")) == {"/pipelines/silver-orders": "pipeline"}
    assert results(visitor.see("/search?q=silver+2026-03-03")) == {
        "/runs/silver-orders/stream/2026-03-03": "run"
    }
    assert results(visitor.see("/search?q=2026-03-03")) == {
        "/runs?from=2026-03-03&to=2026-03-03": "date"
    }
    assert results(visitor.see("/search?q=sla+met")) == {"/events?type=SLA_MET": "event type"}
    assert "reading" in results(visitor.see("/search?q=orders")).values()


def test_nothing_found_offers_the_texts_of_events(visitor: Visitor) -> None:
    page = visitor.see("/search?q=no-such-thing")
    assert "Nothing matches “no-such-thing”" in page.text
    assert "/events?q=no-such-thing" in {link.get("href") for link in page.all("a")}


def test_suggestions_are_few(house: House, visitor: Visitor) -> None:
    for number in range(30):
        house.declare(f"pipeline: {{id: many-{number:02}}}")
    house.runtime.settle()

    assert len(results(visitor.see("/search?q=many&few=1"))) == 9
    page = visitor.see("/search?q=many")
    assert len(results(page)) == 30
    assert "add a word" not in page.text


@pytest.mark.parametrize("q", ["%3Cb%3E", "'%22%3E%3Cscript%3E", "%00", "%F0%9F%92%A5" * 20])
def test_hostile_words_are_only_words(visitor: Visitor, q: str) -> None:
    page = visitor.see(f"/search?q={q}")
    assert not page.all("b") and not [tag for tag in page.all("script") if "src" not in tag]


def test_a_reader_of_the_api_gets_the_same(house: House) -> None:
    answer = house.client.get("/api/v1/search?q=silver")
    assert [each["pipelineId"] for each in answer.json()["items"]] == ["silver-orders"]
    assert house.client.get("/api/v1/search").status_code == 422
    assert house.client.get("/api/v1/search?q=x&limit=101").status_code == 422
