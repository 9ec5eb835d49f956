"""History: what people look at is what was stored, newest first, a page at a time."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from aws.homes import quick_history
from contracts.samples import KEY, NOW, ManualClock, a_key, a_run, an_event, reopened
from interlock.adapters.sqlite.database import MEMORY, Database
from interlock.adapters.sqlite.store import Store
from interlock.domain.deadline import SlaVerdict
from interlock.domain.event import EventType, RowOverride, Severity, happened, subject
from interlock.domain.history import EventFilter
from interlock.domain.run import RETRYING, Run, RunKey, Status
from interlock.ports.reads import History
from interlock.ports.stores import Events, Runs

HOUR = timedelta(hours=1)
DYNAMODB = "dynamodb"


class Home(NamedTuple):
    """A home whose past can be looked at."""

    runs: Runs
    events: Events
    history: History


@pytest.fixture(
    params=[MEMORY, "interlock.db", DYNAMODB], ids=["sqlite-memory", "sqlite-file", "dynamodb"]
)
def home(request: pytest.FixtureRequest, tmp_path: Path, clock: ManualClock) -> Iterator[Home]:
    if request.param == DYNAMODB:
        yield Home(*quick_history(clock))
        return
    name = request.param if request.param == MEMORY else tmp_path / request.param
    with Database(name) as database:
        store = Store(database, clock)
        yield Home(store.runs, store.events, store.history)


def stored(home: Home, key: RunKey, status: Status = Status.PENDING, **changes: Any) -> Run:
    run = a_run(key, **changes)
    assert home.runs.open(run)
    for step in _WAYS[status]:
        run = run.to(step, NOW, **changes)
        assert home.runs.save(run)
    return run


_WAYS: dict[Status, tuple[Status, ...]] = {
    Status.PENDING: (),
    Status.FAILED: (Status.FAILED,),
    Status.FAILED_FINAL: (Status.FAILED_FINAL,),
    Status.COMPLETED: (Status.TRIGGERING, Status.RUNNING, Status.COMPLETED),
}


def test_a_glance_tells_verdict_and_slack(home: Home) -> None:
    late = {"breach_at": NOW, "completed_at": NOW + HOUR, "sla_verdict": SlaVerdict.BREACHED}
    early = {"relative_breach_at": NOW, "completed_at": NOW - HOUR, "sla_verdict": SlaVerdict.MET}
    stored(home, a_key(date="2026-03-03"), Status.COMPLETED, **late)
    stored(home, a_key(date="2026-03-04"), Status.COMPLETED, **early, breach_at=NOW + HOUR)
    stored(home, a_key(date="2026-03-05"))

    found = home.history.glances([KEY.pipeline_id], "2026-03-01", "2026-03-31")

    told = [(each.key.date, each.status, each.sla_verdict, each.slack) for each in found]
    assert told == [
        ("2026-03-05", Status.PENDING, None, None),
        ("2026-03-04", Status.COMPLETED, SlaVerdict.MET, 3600),  # of two deadlines the earlier
        ("2026-03-03", Status.COMPLETED, SlaVerdict.BREACHED, -3600),
    ]


def test_a_slack_of_milliseconds_is_zero(home: Home) -> None:
    """Deadlines are whole seconds, completions are not."""
    done = {"breach_at": NOW.replace(microsecond=0), "completed_at": NOW}
    stored(home, KEY, Status.COMPLETED, **done)

    (found,) = home.history.glances([KEY.pipeline_id], KEY.date, KEY.date)

    assert found.slack == 0


def test_a_range_holds_the_hours_of_its_last_day(home: Home) -> None:
    for date in ("2026-03-02", "2026-03-03", "2026-03-03T23", "2026-03-04"):
        stored(home, a_key(date=date))

    found = home.history.glances([KEY.pipeline_id], "2026-03-03", "2026-03-03")

    assert [each.key.date for each in found] == ["2026-03-03T23", "2026-03-03"]


def test_the_hours_of_a_day_are_counted_together(home: Home) -> None:
    for hour in range(3):
        done = {"breach_at": NOW, "completed_at": NOW - (hour + 1) * HOUR}
        stored(home, a_key(date=f"2026-03-03T{hour:02}"), Status.COMPLETED, **done)
    stored(home, a_key(date="2026-03-03T03"))
    stored(home, a_key(date="2026-03-04T00"))

    found = home.history.tallies([KEY.pipeline_id], "2026-03-03", "2026-03-04")

    told = {(each.day, each.status): (each.count, each.newest.date, each.slack) for each in found}
    assert told == {
        ("2026-03-03", Status.COMPLETED): (3, "2026-03-03T02", 6 * 3600),
        ("2026-03-03", Status.PENDING): (1, "2026-03-03T03", None),
        ("2026-03-04", Status.PENDING): (1, "2026-03-04T00", None),
    }


def test_only_the_requested_pipelines_are_returned(home: Home) -> None:
    for name in ("a", "b", "c"):
        stored(home, a_key(pipeline_id=name, date="2026-03-03"))
        stored(home, a_key(pipeline_id=name, date="2026-03-04"))

    newest = home.history.newest(dict.fromkeys(("a", "c", "nobody"), "2026-03-04"))

    assert {name: each.key.date for name, each in newest.items()} == {
        "a": "2026-03-04",
        "c": "2026-03-04",
    }
    assert {g.key.pipeline_id for g in home.history.glances(["b"], "2026", "2027")} == {"b"}
    assert {t.newest.pipeline_id for t in home.history.tallies(["b"], "2026", "2027")} == {"b"}
    assert home.history.glances([], "2026", "2027") == []


def test_a_date_to_come_is_not_the_newest_unless_there_is_no_other(home: Home) -> None:
    for name, date in (("a", "2026-03-03T09"), ("a", "2026-03-03T11"), ("b", "2026-03-05")):
        stored(home, a_key(pipeline_id=name, date=date))
    stored(home, a_key(pipeline_id="b", date="2026-03-06"))

    newest = home.history.newest({"a": "2026-03-03T10:15", "b": "2026-03-03T10:15"})

    assert {name: each.key.date for name, each in newest.items()} == {
        "a": "2026-03-03T09",
        "b": "2026-03-05",
    }


def test_a_failed_run_whose_retry_is_due_is_told_from_one_that_stays_failed(home: Home) -> None:
    stored(home, a_key(date="2026-03-03T09"), Status.FAILED, retry_at=NOW)
    stored(home, a_key(date="2026-03-03T10"), Status.FAILED)
    dates = "2026-03-03", "2026-03-03"

    glances = home.history.glances([KEY.pipeline_id], *dates)
    assert [(each.key.date[-2:], each.retrying) for each in glances] == [
        ("10", False),
        ("09", True),
    ]
    tallies = home.history.tallies([KEY.pipeline_id], *dates)
    assert {(each.newest.date[-2:], each.retrying, each.count) for each in tallies} == {
        ("10", False, 1),
        ("09", True, 1),
    }
    assert home.history.counts(*dates) in (None, {RETRYING: 1, Status.FAILED: 1})


def test_runs_are_counted_by_state(home: Home) -> None:
    stored(home, a_key(date="2026-03-03"), Status.COMPLETED)
    stored(home, a_key(date="2026-03-03T10"), Status.COMPLETED)
    stored(home, a_key(date="2026-03-04"))
    stored(home, a_key(date="2026-03-05"))
    stored(home, a_key(date="2026-03-06"), Status.COMPLETED)

    counts = home.history.counts("2026-03-03", "2026-03-04")

    # open runs of every date, the others of these dates
    assert counts in (None, {Status.COMPLETED: 2, Status.PENDING: 2})


def test_the_longest_wait_comes_first(home: Home) -> None:
    stored(home, a_key(date="2026-03-03"), opened_at=NOW)
    stored(home, a_key(date="2026-03-04"), opened_at=NOW - HOUR)
    stored(home, a_key(date="2026-03-05"), Status.COMPLETED)

    assert [run.key.date for run in home.history.waiting(9)] == ["2026-03-04", "2026-03-03"]
    assert len(home.history.waiting(1)) == 1


def test_what_is_due_is_found_by_its_first_warning(home: Home) -> None:
    stored(home, a_key(date="2026-03-03"), warning_at=NOW)
    stored(home, a_key(date="2026-03-04"), warning_at=NOW, relative_warning_at=NOW - HOUR)
    stored(home, a_key(date="2026-03-05"), Status.COMPLETED, warning_at=NOW)
    stored(home, a_key(date="2026-03-06"), relative_warning_at=NOW + 2 * HOUR)
    stored(home, a_key(date="2026-03-07"))

    past = home.history.due(None, NOW + HOUR, 9)
    ahead = home.history.due(NOW + HOUR, NOW + 3 * HOUR, 9)

    assert [run.key.date for run in past] == ["2026-03-04", "2026-03-03"]
    assert [run.key.date for run in ahead] == ["2026-03-06"]


def test_a_run_that_was_opened_again_has_not_failed(home: Home) -> None:
    stored(home, a_key(date="2026-03-02"), Status.FAILED_FINAL)
    stored(home, a_key(date="2026-03-03"), Status.FAILED_FINAL)
    reopened_later = stored(home, a_key(date="2026-03-04"), Status.FAILED)
    dates = ("2026-03-02", "2026-03-03", "2026-03-04")
    home.events.publish(
        [an_event(0, key=a_key(date=date), kind=EventType.JOB_FAILED) for date in dates]
    )
    assert home.runs.save(reopened(reopened_later))

    assert [run.key.date for run in home.history.failed("2026-03-03", 9)] == ["2026-03-03"]


def test_an_expired_run_is_no_history(home: Home, clock: ManualClock) -> None:
    stored(home, a_key(dry=True), Status.FAILED)
    clock.advance(days=400)

    assert home.history.glances([KEY.pipeline_id], "2026", "2027") == []
    assert home.history.newest({KEY.pipeline_id: "9999"}) == {}
    assert home.history.waiting(9) == []


def test_pages_of_runs_hold_each_once(home: Home) -> None:
    for day in range(1, 8):
        stored(home, a_key(date=f"2026-03-{day:02}"))

    found: list[str] = []
    after = None
    while page := home.history.runs(KEY.pipeline_id, "2026", "2027", after, 3):
        found += [run.key.date for run in page]
        after = page[-1].key

    assert found == [f"2026-03-{day:02}" for day in range(7, 0, -1)]


def test_no_run_in_a_state_is_left_out_of_its_list(home: Home) -> None:
    """A backend may return others too; the one who asks compares."""
    for day, status in enumerate(_WAYS, 1):
        stored(home, a_key(date=f"2026-03-{day:02}"), status)
    stored(home, a_key(date="2026-03-09"), Status.FAILED, retry_at=NOW)

    def of(state: str) -> set[str]:
        found = home.history.runs(KEY.pipeline_id, "2026", "2027", None, 99, state) or []
        return {run.key.date for run in found if run.state == state}

    assert [of(status) for status in _WAYS] == [{f"2026-03-{n:02}"} for n in range(1, 5)]
    assert of(RETRYING) == {"2026-03-09"}
    assert of(Status.UNREADABLE) == of(Status.RUNNING) == set()


def test_events_are_found_by_their_filter(home: Home) -> None:
    other = a_key(pipeline_id="other")
    home.events.publish(
        [
            an_event(1),
            an_event(2, at=NOW + HOUR),
            an_event(3, key=other, at=NOW + 2 * HOUR),
            an_event("x", kind=EventType.VALIDATION_EXHAUSTED, at=NOW + 3 * HOUR),
        ]
    )

    def parts(**wanted: Any) -> list[str]:
        found = home.history.events(EventFilter(**wanted), None, 9)
        return [t.event.event_id.rpartition("/")[2] for t in found]

    assert parts(pipeline_id=KEY.pipeline_id) == ["x", "2", "1"]
    assert parts(kind="TRIGGER_STARTED", since=NOW + HOUR) == ["3", "2"]
    assert parts(pipeline_id=KEY.pipeline_id, of_note=True) == ["x"]
    assert parts(pipeline_id=KEY.pipeline_id, text="TOLD of 2") == ["2"]
    assert parts(pipeline_id=KEY.pipeline_id, kind="TRIGGER_STARTED") == ["2", "1"]
    assert parts() == ["x", "3", "2", "1"]
    assert parts(until=NOW + 2 * HOUR) == ["2", "1"]
    assert parts(pipeline_id=KEY.pipeline_id, since=NOW + HOUR, until=NOW + 3 * HOUR) == ["2"]


def test_pages_of_events_hold_each_once_even_of_one_instant(home: Home) -> None:
    home.events.publish([an_event(n) for n in range(7)])

    found, before = [], None
    wanted = EventFilter(pipeline_id=KEY.pipeline_id)
    while page := home.history.events(wanted, before, 3):
        found += [told.event.event_id for told in page]
        before = page[-1].event.timestamp, page[-1].seq

    assert len(found) == len(set(found)) == 7


@pytest.mark.parametrize("kind", [EventType.SLA_BREACH, EventType.RELATIVE_SLA_BREACH])
def test_breaches_are_listed_with_or_without_a_run(home: Home, kind: EventType) -> None:
    inside = happened(kind, subject(None, KEY), NOW, "late", override=RowOverride(Severity.ERROR))
    outside = happened(kind, subject(None, a_key(date="2026-03-09")), NOW + 9 * HOUR, "late")
    home.events.publish([inside, outside, an_event(1)])

    assert home.history.breaches(NOW, NOW + HOUR) == [(KEY.pipeline_id, KEY.date)]


def test_events_are_counted_by_the_hour_or_not_at_all(home: Home) -> None:
    at = NOW.replace(minute=59, second=59, microsecond=0)
    home.events.publish(
        [
            an_event(1, at=at),
            an_event(2, at=at + timedelta(seconds=1)),
            an_event(3, at=at + timedelta(minutes=30)),
            an_event("x", kind=EventType.VALIDATION_EXHAUSTED, at=at),
            an_event("y", kind=EventType.JOB_FAILED, at=at),
        ]
    )
    kind = an_event(1).type
    hour = at.replace(minute=0, second=0)

    found = home.history.hours([kind, EventType.VALIDATION_EXHAUSTED], hour, at + HOUR)
    until = home.history.hours([kind], hour, at)

    assert found in (
        None,
        {(kind, hour): 1, (kind, hour + HOUR): 2, (EventType.VALIDATION_EXHAUSTED, hour): 1},
    )
    assert until in (None, {})
    assert (found is None) == (until is None)
