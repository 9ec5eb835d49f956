"""The runs page: empty, filtered, a page at a time, and where a backend can't list them all."""

from datetime import timedelta

import pytest

from interlock.domain.run import Failure, RunKey, Status
from web.house import House
from web.pages.visitor import Visitor, Words


def dates(page: Words) -> list[str]:
    return [link["href"] for link in page.all("a") if link.get("class") == "date"]


def open_dates(house: House, *days: str, pipeline: str = "silver-orders") -> None:
    for day in days:
        house.put({"date": day}, pipeline)
    house.runtime.step()


def fail(house: House, day: str, status: Status = Status.FAILED_FINAL, **changes: object) -> None:
    run = house.home.store.runs.get(RunKey("silver-orders", "stream", day))
    failure = Failure("job", f"column missing on {day}")
    assert house.home.store.runs.save(run.to(status, run.changed_at, failure=failure, **changes))


def test_without_runs_the_page_says_what_opens_one(visitor: Visitor) -> None:
    assert "No run yet" in visitor.see("/runs").text


def test_runs_of_all_pipelines_are_listed_newest_first(house: House, visitor: Visitor) -> None:
    open_dates(house, "2026-03-02", "2026-03-03")
    open_dates(house, "2026-03-03", pipeline="gold-orders")

    assert dates(visitor.see("/runs")) == [
        "/runs/gold-orders/stream/2026-03-03",
        "/runs/silver-orders/stream/2026-03-03",
        "/runs/silver-orders/stream/2026-03-02",
    ]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("status=FAILED_FINAL", ["2026-03-02"]),
        ("status=RETRYING", ["2026-03-03"]),
        ("status=FAILED", []),  # the one that failed is due again
        ("status=PENDING", ["2026-03-05", "2026-03-04"]),
        ("status=RUNNING", []),
        ("status=COMPLETED", []),
        ("status=UNREADABLE", []),
        ("from=2026-03-04", ["2026-03-05", "2026-03-04"]),
        ("to=2026-03-02", ["2026-03-02"]),
        ("from=2026-03-03&to=2026-03-04&status=PENDING", ["2026-03-04"]),
        ("pipeline=silver-orders&status=FAILED_FINAL", ["2026-03-02"]),
        ("pipeline=gold-orders", []),
    ],
)
def test_filters_are_in_the_address(
    house: House, visitor: Visitor, query: str, found: list[str]
) -> None:
    open_dates(house, "2026-03-02", "2026-03-03", "2026-03-04", "2026-03-05")
    fail(house, "2026-03-02")
    later = house.home.ports.clock() + timedelta(hours=1)
    fail(house, "2026-03-03", Status.FAILED, retry_at=later)

    page = visitor.see(f"/runs?{query}")

    assert [link.rpartition("/")[2] for link in dates(page)] == found
    assert found or "No matching runs" in page.text


def test_a_failed_run_says_of_what(house: House, visitor: Visitor) -> None:
    open_dates(house, "2026-03-02")
    fail(house, "2026-03-02")

    text = visitor.see("/runs").text
    assert "given up" in text and "column missing on 2026-03-02" in text


def test_older_runs_are_a_page_away_and_keep_the_filter(house: House, visitor: Visitor) -> None:
    days = [f"2026-{month:02}-{day:02}" for month in (1, 2) for day in range(1, 29)]
    open_dates(house, *days)

    first = visitor.see("/runs?status=PENDING")
    (older,) = [link["href"] for link in first.all("a") if link.get("rel") == "next"]
    second = visitor.see(older)

    assert "There are more." in first.text and "There are more." not in second.text
    assert "status=PENDING" in older
    shown = [link.rpartition("/")[2] for page in (first, second) for link in dates(page)]
    assert shown == sorted(days, reverse=True)


def test_a_misspelled_pipeline_is_answered_with_those_meant(visitor: Visitor) -> None:
    page = visitor.see("/runs?pipeline=silver")
    assert "There is no pipeline silver" in page.text
    assert "/runs?pipeline=silver-orders" in {link.get("href") for link in page.all("a")}


def test_a_backend_that_lists_one_pipeline_asks_for_it(house: House, visitor: Visitor) -> None:
    open_dates(house, "2026-03-02")

    house.desk.__class__ = type("OnlyReads", (house.desk.__class__,), {"only_reads": True})

    assert "Enter a pipeline" in visitor.see("/runs").text
    assert dates(visitor.see("/runs?pipeline=silver-orders")) != []


@pytest.mark.parametrize("query", ["status=LOST", "from=yesterday", "cursor=x", "to=2026-03-03%0A"])
def test_a_filter_that_can_not_be_read_is_reported(visitor: Visitor, query: str) -> None:
    visitor.see(f"/runs?{query}", 422)


def test_what_was_entered_is_text_and_nothing_else(visitor: Visitor) -> None:
    page = visitor.see("/runs?pipeline=%3Cscript%3Ealert(1)%3C/script%3E")
    assert not [tag for tag in page.all("script") if "src" not in tag]
