"""`runs`, `run` and `events`: what happened."""

import re
from itertools import islice

import msgspec
import pytest

from cli.place import Place
from interlock.cli.backend import file_for_reading
from interlock.cli.events import followed
from interlock.cli.paged import first_of
from interlock.cli.shown import now
from interlock.domain.event import Event
from interlock.errors import NotFoundError
from interlock.operations.requests import EventsQuery
from interlock.queries.paging import Page
from interlock.simulation.scenario import JobScript


def test_runs_are_listed_newest_first_and_fit(lived_in: Place) -> None:
    shown = lived_in.shown("runs")
    assert shown.splitlines()[0].split() == [
        "PIPELINE", "DATE", "STATE", "TRY", "OPENED", "UTC", "TOOK", "SLA",
    ]  # fmt: skip
    orders = next(line for line in shown.splitlines() if line.startswith("silver-orders"))
    assert orders.split()[1:4] == [lived_in.today, "done", "0"]
    assert orders.split()[-2:] == ["35m", "met"]


def test_runs_can_be_narrowed(lived_in: Place) -> None:
    (run,) = lived_in.json("runs", "silver-orders")
    assert run["key"]["date"] == lived_in.today and run["status"] == "COMPLETED"
    assert lived_in.json("runs", "--limit", "1", "silver-orders", "--since", "2999-01-01") == []
    assert lived_in.shown("runs", "silver-orders", "--until", "2020-01-01") == "no runs\n"


def test_a_run_is_shown_from_its_first_event_to_its_last(lived_in: Place) -> None:
    shown = lived_in.shown("run", "silver-orders", lived_in.today)
    assert f"silver-orders {lived_in.today} (schedule stream): done, attempt 0" in shown
    assert "command job" in shown and "ran 5m" in shown and "SLA met" in shown
    kinds = [word for word in shown.split() if word.isupper() and "_" in word]
    assert kinds == [
        "TRIGGER_STARTED",
        "VALIDATION_PASSED",
        "JOB_TRIGGERED",
        "JOB_COMPLETED",
        "SLA_MET",
    ]


def test_a_run_as_a_document_has_its_events(lived_in: Place) -> None:
    document = lived_in.json("run", "silver-orders", lived_in.today, "--schedule", "stream")
    assert document["run"]["status"] == "COMPLETED"
    assert document["events"][0]["type"] == "TRIGGER_STARTED"


def test_a_failed_run_says_why(place: Place) -> None:
    place.put(count=940)
    place.wait(hours=1)
    place.happen(lambda home: None)
    place.wait(hours=2, minutes=1)
    shown = place.shown("run", "silver-orders", place.today)
    assert ": failed, attempt 0" in shown
    assert "failed (window): validation window closed" in shown


def test_a_date_without_a_run_is_not_found(lived_in: Place) -> None:
    result = lived_in.run("run", "silver-orders", "2026-01-05")
    assert isinstance(result.exception, NotFoundError)
    assert "silver-orders has no run of 2026-01-05" in str(result.exception)


def test_events_come_in_the_order_in_which_they_happened(lived_in: Place) -> None:
    kinds = [event["type"] for event in lived_in.json("events", "--pipeline", "silver-orders")]
    assert kinds[:2] == ["CONFIG_ADOPTED", "TRIGGER_STARTED"] and kinds[-1] == "SLA_MET"
    shown = lived_in.shown("events")
    assert "JOB_COMPLETED" in shown and f"silver-orders {lived_in.today}: " in shown


def test_events_can_be_narrowed(lived_in: Place) -> None:
    assert [e["type"] for e in lived_in.json("events", "--type", "sla_met")] == ["SLA_MET"]
    assert [e["type"] for e in lived_in.json("events", "--type", "JOB_STARTED")] == [
        "JOB_TRIGGERED"
    ]
    assert lived_in.json("events", "--since", "2999-01-01") == []
    assert len(lived_in.json("events", "--limit", "2")) == 2
    assert lived_in.shown("events", "--since", "2999-01-01") == "no events\n"


@pytest.mark.parametrize("text", ["yesterday", "2026-13-01", "-2h"])
def test_an_invalid_time_is_a_usage_error(lived_in: Place, text: str) -> None:
    result = lived_in.run("events", f"--since={text}")
    assert result.exit_code == 2 and "is not a time such as" in result.output


class Growing:
    """A log to which each look adds one event."""

    def __init__(self, event: Event) -> None:
        self._event, self._looks = event, 0

    def events(self, *_: object) -> Page[Event]:
        self._looks += 1
        return Page(
            [
                msgspec.structs.replace(self._event, event_id=str(n), timestamp=now())
                for n in range(self._looks, 0, -1)
            ]
        )


def test_following_tells_each_event_once(lived_in: Place) -> None:
    with file_for_reading(lived_in.settings) as home:
        (event,) = home.queries.events(EventsQuery(type="SLA_MET")).items
    log = Growing(event)
    known = log.events().items
    told = list(islice(followed(log, EventsQuery(), known, 0.0), 3))  # type: ignore[arg-type]
    assert [event.event_id for event in told] == ["2", "3", "4"]


@pytest.mark.parametrize("command", [("runs", "nope"), ("events", "--pipeline", "nope")])
def test_an_undeclared_pipeline_has_no_history(lived_in: Place, command: tuple[str, ...]) -> None:
    result = lived_in.run(*command)
    assert isinstance(result.exception, NotFoundError)
    assert str(result.exception).startswith("there is no pipeline nope; there are: ")


def test_a_type_of_event_that_there_is_not_is_wrong_use(lived_in: Place) -> None:
    result = lived_in.run("events", "--type", "SLA_BREACHED")
    assert result.exit_code == 2
    assert "unknown event type SLA_BREACHED; did you mean SLA_BREACH?" in result.output
    assert lived_in.run("events", "--type", "sla_breach").exit_code == 0
    assert lived_in.run("events", "--type", "JOB_STARTED").exit_code == 0


def test_two_things_of_one_minute_can_be_told_apart(place: Place) -> None:
    place.scripts["silver-orders"] = (JobScript(after="20s"),)
    place.put(count=1940)
    place.wait(minutes=2)
    stamp = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    assert re.search(rf"^{stamp}  TRIGGER_STARTED", place.shown("events"), re.MULTILINE)
    assert re.search(rf"{stamp}  20s ", place.shown("runs"))
    assert re.search(
        r"^\d\d:\d\d:\d\d UTC ", place.shown("run", "silver-orders", place.today), re.MULTILINE
    )
    assert re.search(r"breach .*\d\d:\d\d:\d\d UTC \(in", place.shown("why", "silver-orders"))


def test_a_limit_may_be_more_than_one_page_holds() -> None:
    asked: list[int] = []

    def numbers(query: EventsQuery) -> Page[int]:
        start = int(query.cursor or 0)
        asked.append(query.limit)
        items = list(range(start, min(start + query.limit, 2500)))
        return Page(items, None if start + query.limit >= 2500 else str(start + query.limit))

    page = first_of(numbers, EventsQuery(limit=1200))
    assert (len(page.items), page.next, asked) == (1200, "1200", [1000, 200])
    everything = first_of(numbers, EventsQuery(limit=9999))
    assert everything.items == list(range(2500)) and everything.next is None


def test_events_say_that_there_are_more_and_can_be_narrowed_by_time(place: Place) -> None:
    place.put(count=1940)
    place.wait(minutes=10)
    more = "There are more than these 1: raise --limit, or narrow the list with --type, --pipeline"
    assert more in place.run("events", "--limit", "1").stderr
    assert more in place.run("events", "--limit", "1", "--json", "--alerts").stderr
    assert "There are more" not in place.run("events", "--limit", "5000").stderr
    first, *_ = events = place.json("events")
    later = next(e for e in events if e["timestamp"] > first["timestamp"])
    before = place.json("events", "--until", later["timestamp"])
    assert before and all(event["timestamp"] < later["timestamp"] for event in before)
    assert place.run("events", "--until", "1h", "--follow").exit_code == 2
