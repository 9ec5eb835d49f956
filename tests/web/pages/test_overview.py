"""The overview: the hours of the day, the chance of the next deadlines, what changed since the last look."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from interlock.domain.event import EventType, happened, subject
from interlock.domain.run import RunKey, Status
from interlock.web.pages.last_look import looked_at
from web.house import House
from web.pages.visitor import Visitor

HOUR = timedelta(hours=1)
KEY = RunKey("silver-orders", "stream", "2026-03-03")

DUE = """
pipeline: {id: due}
schedule: {trigger: {key: orders, check: exists}}
sla: {maxDuration: 1h, expectedDuration: 10m}
validation: {rules: [{key: orders, check: gte, field: count, value: 1000}]}
"""


def publish(house: House, kind: EventType, at: datetime, message: str = "it broke") -> None:
    parts = ("0",) if kind is EventType.JOB_FAILED else ()
    event = happened(kind, subject(None, KEY, 0), at, message, parts=parts)
    house.home.store.events.publish([event])


def panel(text: str, title: str, following: str) -> str:
    return text.partition(title)[2].partition(following)[0]


def test_the_hours_are_counted_beside_those_a_week_before(house: House, visitor: Visitor) -> None:
    now = house.home.ports.clock()
    publish(house, EventType.SLA_BREACH, now)
    publish(house, EventType.JOB_FAILED, now - timedelta(weeks=1, hours=2))

    page = visitor.see("/")

    labels = [svg["aria-label"] for svg in page.all("svg") if svg.get("class") == "by-hour"]
    assert any(label.startswith("missed deadlines, by hour: 1 in the last") for label in labels)
    assert any(
        "failed attempts, by hour: 0" in label and "hours, 1 in" in label for label in labels
    )
    assert len([bar for bar in page.all("rect") if bar.get("class") == "now"]) == 1
    assert len([bar for bar in page.all("rect") if bar.get("class") == "before"]) == 1


def test_a_backend_that_does_not_count_says_so(house: House, visitor: Visitor) -> None:
    class Uncounted:
        """As a backend that would have to read every event."""

        def __getattr__(self, name: str) -> object:
            return (lambda *_: None) if name == "hours" else getattr(house.home.history, name)

    house.desk.history = Uncounted()  # type: ignore[assignment]

    assert "this backend would have to read every event" in visitor.see("/").text


def due(house: House, day: str) -> Any:
    house.put({"date": day, "count": 940}, "due")
    house.runtime.settle()
    return house.home.store.runs.get(RunKey("due", "stream", day))


def test_a_deadline_without_history_says_so(house: House, visitor: Visitor) -> None:
    house.declare(DUE)
    house.runtime.settle()
    due(house, "2026-03-03")

    assert "no history" in panel(visitor.see("/").text, "Next deadlines", "watchdog")


def test_a_deadline_says_how_many_past_runs_would_hold_it(house: House, visitor: Visitor) -> None:
    house.declare(DUE)
    house.runtime.settle()
    now = house.home.ports.clock()
    runs = house.home.store.runs
    for day, took in (("2026-03-01", 20), ("2026-03-02", 90)):
        run = due(house, day)
        for status in (Status.TRIGGERING, Status.RUNNING, Status.COMPLETED):
            began = datetime.fromisoformat(f"{day}T06:00:00Z")
            run = run.to(
                status, now, launched_at=began, completed_at=began + timedelta(minutes=took)
            )
            assert runs.save(run)
    due(house, "2026-03-03")

    text = visitor.see("/").text

    assert "1 of the last 2 runs would hold it" in text
    assert "How this is counted" in text


def test_what_changed_is_listed_once_per_run_with_its_state_now(
    house: House, visitor: Visitor
) -> None:
    now = house.home.ports.clock()
    house.put({"date": "2026-03-03"})
    house.runtime.step()
    for kind, ago in ((EventType.SLA_WARNING, 3), (EventType.SLA_BREACH, 2)):
        publish(house, kind, now - ago * HOUR, f"told {ago}h ago")

    text = panel(visitor.see("/").text, "Since yesterday", "Waiting for")

    assert "told 2h ago and 1 warning before" in text
    assert text.count("silver-orders 2026-03-03") == 1
    assert "waiting" in text


def test_what_was_seen_is_not_shown_again(house: House, visitor: Visitor) -> None:
    now = house.home.ports.clock()
    publish(house, EventType.SLA_BREACH, now - HOUR, "an old story")
    assert "an old story" in visitor.see("/").text

    answer = visitor.send("/looked")
    text = visitor.see("/").text

    assert answer.status_code == 303 and answer.headers["location"] == "/"
    assert "SameSite=strict" in answer.headers["set-cookie"]
    assert "Since you last looked" in text
    assert "an old story" not in panel(text, "Since you last looked", "Waiting for")


def test_a_file_that_came_into_force_is_a_change(house: House, visitor: Visitor) -> None:
    house.declare("pipeline: {id: brand-new}")
    house.runtime.settle()

    assert "brand-new" in panel(visitor.see("/").text, "Since yesterday", "Waiting for")


def test_another_site_can_not_mark_anything_as_seen(visitor: Visitor) -> None:
    answer = visitor.client.post("/looked", headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403


@pytest.mark.parametrize("cookie", [None, "", "yesterday", "2026-03-03", "2999-01-01T00:00:00Z"])
def test_an_unusable_instant_is_no_last_look(cookie: str | None) -> None:
    assert looked_at(cookie, datetime(2026, 3, 3, tzinfo=UTC)) is None


def test_a_look_of_long_ago_counts_for_a_week(house: House, visitor: Visitor) -> None:
    publish(house, EventType.SLA_BREACH, house.home.ports.clock() - timedelta(days=8), "ancient")
    visitor.client.cookies.set("interlock_looked", "2020-01-01T00:00:00Z")

    assert "ancient" not in visitor.see("/").text
