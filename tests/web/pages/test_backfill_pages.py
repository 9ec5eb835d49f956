"""The pages of backfills: what they show, and what their forms do."""

import pytest

from web.house import House
from web.pages.visitor import Visitor

FREE = (
    "pipeline: {id: free}\n"
    "schedule: {cron: '0 1 * * *'}\n"
    "validation: {rules: [{key: always, check: exists}]}\n"
)
PREVIEW = "/pipelines/free/backfill"
RANGE = {"from": "2026-01-01", "to": "2026-01-05"}


@pytest.fixture
def free(house: House) -> House:
    house.declare(FREE)
    house.runtime.settle()
    return house


def begun(visitor: Visitor) -> str:
    """The address of a backfill that was just started."""
    answer = visitor.send(PREVIEW, reason="new currency", maxConcurrent="2", **RANGE)
    assert answer.status_code == 303, answer.text
    page: str = answer.headers["location"].partition("?")[0]
    return page


def test_a_preview_lists_the_dates_and_starts_nothing(free: House, visitor: Visitor) -> None:
    text = visitor.see(f"{PREVIEW}?from=2026-01-01&to=2026-01-05&maxConcurrent=3").text
    assert "5 dates without a completed run" in text and "2026-01-05" in text
    assert "Start, 3 at once" in text
    assert free.home.store.backfills.newest(1) == []


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("from=2026-01-05&to=2026-01-01", "2026-01-05 is after 2026-01-01"),
        ("from=2026-01-01T05&to=2026-01-02", "the dates of this schedule are days"),
        ("from=soon&to=later", "'soon' is not a date"),
        ("from=2026-01-01&to=2026-01-02&schedule=nope", "Choose one of the schedules"),
        ("from=2026-01-01", "Preview"),
        ("", "Preview"),
    ],
)
def test_a_preview_says_what_is_wrong_with_a_range(
    free: House, visitor: Visitor, query: str, words: str
) -> None:
    assert words in visitor.see(f"{PREVIEW}?{query}").text


def test_a_backfill_is_started_in_the_callers_name_and_its_page_shows_its_dates(
    free: House, visitor: Visitor
) -> None:
    page = begun(visitor)
    (entry,) = free.home.store.audit.newest(1)
    assert (entry.actor, entry.action, entry.reason) == ("owner", "backfill", "new currency")
    text = visitor.see(page).text
    for words in ("0 of 5 dates done", "2 at once", "new currency", "2026-01-05", "waiting"):
        assert words in text
    assert "2026-01-04" not in visitor.see(f"{page}?state=requested").text
    listed = visitor.see("/backfills").text
    assert "0 of 5" in listed and "new currency" in listed
    assert "free has no backfills" not in visitor.see("/backfills?pipeline=free").text
    assert "silver-orders has no backfills" in visitor.see("/backfills?pipeline=silver-orders").text
    assert "nope has no backfills" in visitor.see("/backfills?pipeline=nope").text


def test_a_backfill_is_paused_resumed_and_cancelled_and_then_has_no_forms(
    free: House, visitor: Visitor
) -> None:
    page = begun(visitor)
    for verb, said in (("pause", "paused"), ("resume", "resumed"), ("cancel", "cancelled")):
        answer = visitor.send(f"{page}/{verb}", reason="load")
        assert answer.headers["location"] == f"{page}?done={said}"
        assert f"The backfill is {said}" in visitor.see(answer.headers["location"]).text
    forms = {form.get("action") for form in visitor.see(page).all("form")}
    assert not any(action and action.startswith(page) for action in forms)
    assert visitor.send(f"{page}/resume", reason="x").status_code == 409
    actions = [entry.action for entry in free.home.store.audit.newest(4)]
    assert actions[1:] == ["backfill cancel", "backfill resume", "backfill pause"]


@pytest.mark.parametrize(
    "form",
    [
        {**RANGE, "maxConcurrent": "0"},
        {**RANGE, "maxConcurrent": "many"},
        {**RANGE, "maxConcurrent": "101"},
        {"from": "2026-01-05", "to": "2026-01-01", "maxConcurrent": "2"},
        {"from": "2026-01-01", "maxConcurrent": "2"},
    ],
)
def test_a_form_that_is_not_right_starts_nothing(
    free: House, visitor: Visitor, form: dict[str, str]
) -> None:
    assert visitor.send(PREVIEW, reason="x", **form).status_code == 422
    assert free.home.store.backfills.newest(1) == []


def test_an_unknown_backfill_is_not_found(visitor: Visitor) -> None:
    assert visitor.client.get("/backfills/nope").status_code == 404
    assert visitor.send("/backfills/nope/pause", reason="x").status_code == 404


def test_the_page_of_a_run_leads_to_its_backfill(free: House, visitor: Visitor) -> None:
    page = begun(visitor)
    free.runtime.settle()
    links = [each.get("href") for each in visitor.see("/runs/free/cron/2026-01-01").all("a")]
    assert page in links
