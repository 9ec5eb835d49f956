"""The zone in which instants are shown: each pipeline's own, UTC, or that of the browser."""

import pytest

from interlock.web.pages.zone_choice import ZoneChoice, zone_choice
from web.house import House
from web.pages.visitor import Visitor

BERLIN = """
pipeline: {id: berlin}
schedule: {trigger: {key: orders, check: exists}, timezone: Europe/Berlin}
validation: {rules: [{key: orders, check: gte, field: count, value: 1000}]}
"""


@pytest.mark.parametrize(
    ("cookie", "choice"),
    [
        (None, ZoneChoice()),
        ("", ZoneChoice()),
        ("UTC", ZoneChoice("UTC", "UTC")),
        ("local:Asia/Kolkata", ZoneChoice("local", "Asia/Kolkata")),
        ("local:Mars/Olympus", ZoneChoice()),
        ("local:../../etc/passwd", ZoneChoice()),
        ("Asia/Kolkata", ZoneChoice()),
    ],
)
def test_only_known_zones_are_chosen(cookie: str | None, choice: ZoneChoice) -> None:
    assert zone_choice(cookie) == choice


@pytest.mark.parametrize(
    ("cookie", "shown"),
    [
        (None, ("CET", "CEST")),
        ("UTC", ("UTC",)),
        ("local:Asia/Kolkata", ("IST",)),
        ("local:nowhere", ("CET", "CEST")),
    ],
)
def test_a_run_is_shown_in_the_chosen_zone(
    house: House, visitor: Visitor, cookie: str | None, shown: tuple[str, ...]
) -> None:
    house.declare(BERLIN)
    house.runtime.settle()
    house.put({"date": "2026-03-03", "count": 1}, "berlin")
    house.runtime.settle()
    if cookie is not None:
        visitor.client.cookies.set("interlock_zone", cookie)

    page = visitor.see("/runs/berlin/stream/2026-03-03")
    opened = page.text.partition(" opened ")[2][:40]
    assert any(f" {zone} " in opened for zone in shown), opened


@pytest.mark.parametrize("path", ["/", "/timeline", "/timeline?span=24h", "/events", "/sla"])
def test_every_page_stands_in_a_zone_half_an_hour_off(visitor: Visitor, path: str) -> None:
    visitor.client.cookies.set("interlock_zone", "local:Asia/Kolkata")
    assert visitor.see(path).all("h1")


def test_the_hours_of_the_timeline_are_those_of_the_zone(visitor: Visitor) -> None:
    visitor.client.cookies.set("interlock_zone", "local:Asia/Kolkata")
    assert "Asia/Kolkata" in visitor.see("/timeline?span=24h").text
