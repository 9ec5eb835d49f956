"""`why`: each rule, the trigger, the calendar, budgets, deadlines, and what would unblock it."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cli.place import ORDERS, Place
from interlock.errors import NotFoundError
from interlock.simulation.scenario import JobScript


def test_a_waiting_date_shows_what_is_what_should_be_and_what_would_help(place: Place) -> None:
    place.put(count=940)
    place.wait(minutes=10)
    shown = place.shown("why", "silver-orders")
    assert shown.startswith(f"silver-orders {place.today} (schedule stream)\nwaiting: ")
    rule = next(line for line in shown.splitlines() if line.startswith("orders.count"))
    assert rule.split()[:6] == ["orders.count", ">=", "1000", "940", "fails", "10m"]
    for expected in (
        "trigger    orders exists: holds",
        "calendar   a run day",
        "window     rules may hold until",
        "deadline   breach (from the first reading)",
        "budgets    retries 0 of 0",
        "blocked by orders.count is 940, needs >= 1000",
        "to unblock a reading of orders with count >= 1000",
    ):
        assert expected in shown


def test_a_decided_date_is_explained_from_its_record(lived_in: Place) -> None:
    shown = lived_in.shown("why", "silver-orders", lived_in.today)
    assert "done: completed 1h 2" in shown
    assert "holds" in shown and "as recorded" in shown
    assert "SLA        met" in shown
    assert "evidence   orders version " in shown
    assert "to unblock" not in shown


def test_a_date_without_a_run_is_judged_as_it_stands(lived_in: Place) -> None:
    shown = lived_in.shown("why", "silver-orders", "2026-01-05")
    assert "\nno run: nothing has opened this date yet\n" in shown
    assert "no reading" in shown and "as it stands now" in shown
    assert "to unblock a reading of orders for 2026-01-05" in shown
    assert "to unblock interlock rerun silver-orders 2026-01-05" in shown


def test_each_schedule_has_its_answer(place: Place) -> None:
    place.declare(
        "pipeline: {id: twice}\n"
        "schedules: [{id: a, cron: '0 6 * * *'}, {id: b, cron: '0 7 * * *', exclude: {dates: [2026-01-05]}}]"
    )
    shown = place.shown("why", "twice", "2026-01-05")
    assert "(schedule a)" in shown and "(schedule b)" in shown
    assert "calendar   excluded by dates" in shown
    assert "next       expected " in shown
    assert [answer["scheduleId"] for answer in place.json("why", "twice")] == ["a", "b"]


def test_the_document_has_rules_and_remedies(lived_in: Place) -> None:
    (answer,) = lived_in.json("why", "silver-orders", lived_in.today)
    (rule,) = answer["rules"]
    assert (rule["key"], rule["expected"], rule["actual"], rule["kind"]) == (
        "orders",
        1000,
        1940,
        None,
    )
    assert answer["recorded"] is True and answer["status"] == "COMPLETED"


def test_what_is_unknown_is_said(lived_in: Place) -> None:
    assert isinstance(lived_in.run("why", "nope").exception, NotFoundError)


def test_a_date_that_the_calendar_or_a_pause_holds_back_does_not_blame_a_reading(
    place: Place,
) -> None:
    place.declare(
        ORDERS.replace("  trigger:", f"  exclude: {{dates: [{place.today}]}}\n  trigger:")
    )
    place.put(count=4200)
    (why,) = place.json("why", "silver-orders", place.today)
    assert why["blockedBy"] == ["the calendar excludes this date"]
    place.shown("pause", "silver-orders")
    (why,) = place.json("why", "silver-orders", "2026-03-03")
    assert why["blockedBy"] == [f"the pipeline is paused by {why['pause']['by']}"]


def test_a_date_that_waits_for_a_place_says_behind_whom_and_by_when_its_rules_must_hold(
    place: Place,
) -> None:
    place.scripts["silver-orders"] = (JobScript(hang=True),)
    limited = ORDERS.replace('["true"]}}', '["true"]}, maxConcurrent: 1}')
    place.declare(limited.replace("sla: {", "sla: {evaluationDeadline: '23:59', "))
    first = (place.now - timedelta(days=1)).date().isoformat()
    place.put("orders#" + first, count=4200, date=first)
    place.put(count=4200)
    shown = " ".join(place.shown("why", "silver-orders", place.today).split())
    assert "its rules hold, and it waits for a place (attempt 0)" in shown
    assert f"blocked by waits for a place behind {first}" in shown
    assert f"to unblock the end of {first}" in shown
    assert "deadline rules must hold by" in shown


def test_a_reading_that_came_too_long_ago_shows_how_long_ago_it_may_have_come(place: Place) -> None:
    place.declare(ORDERS.replace("value: 1000}", "value: 1000, maxAge: 1m}"))
    place.put(count=940)
    place.wait(minutes=10)
    shown = place.shown("why", "silver-orders")
    rule = next(line for line in shown.splitlines() if line.startswith("orders.count"))
    assert rule.split()[1:4] == ["received", "within", "1m"]
    assert "to unblock a reading of orders\n" in re.sub(" +", " ", shown)


def test_before_its_cron_moment_a_date_says_when_it_opens_and_asks_for_nothing(
    place: Place,
) -> None:
    place.declare(
        "pipeline: {id: nightly}\nschedule: {cron: '30 4 * * *', timezone: Europe/Berlin}"
    )
    tomorrow = (datetime.now(UTC) + timedelta(days=2)).date().isoformat()
    (why,) = place.json("why", "nightly", tomorrow)
    opens = datetime.fromisoformat(why["opensAt"]).astimezone(ZoneInfo("Europe/Berlin"))
    assert f"{opens:%Y-%m-%d %H:%M}" == f"{tomorrow} 04:30"
    assert why["headline"].startswith(
        f"its schedule opens this date {tomorrow} 04:30 Europe/Berlin"
    )
    assert why["blockedBy"] == ["its time has not come"]
    (remedy,) = why["unblock"]
    assert remedy.startswith("nothing to do: it opens") and "rerun" not in remedy


def test_a_cron_moment_that_has_passed_without_a_run_needs_a_rerun(place: Place) -> None:
    place.declare(
        "pipeline: {id: nightly}\nschedule: {cron: '30 4 * * *', timezone: Europe/Berlin}"
    )
    (why,) = place.json("why", "nightly", "2026-01-05")
    assert why["opensAt"] is None
    assert why["unblock"] == ["interlock rerun nightly 2026-01-05"]
