"""Operations: what a person asks of the local home is answered by the AWS home, by key and by index."""

from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from aws.functions import function_home
from aws.homes import Services
from contracts.samples import ManualClock, wanted
from declared import declared
from interlock.domain.run import Status
from interlock.domain.timestamp import spell
from interlock.errors import ConfigError, NotFoundError
from interlock.lambdas import stream_router
from interlock.operations.requests import (
    NewCancellation,
    NewDates,
    NewMark,
    NewPause,
    NewResume,
    NewSkip,
    NewUnskip,
    Paging,
    RunsQuery,
    Waiting,
)
from interlock.operations.store_commands import StoreCommands
from interlock.operations.store_queries import StoreQueries
from interlock.wiring.aws_backend import alert_access, aws_queries
from interlock.wiring.aws_ports import AwsBackend
from interlock.wiring.aws_settings import Function

DAY = "2026-03-03"
WAITING = Waiting(wait="decision")


class Asked(NamedTuple):
    """A user of the command line."""

    queries: StoreQueries
    commands: StoreCommands


@pytest.fixture
def asked(services: Services, clock: ManualClock, router: AwsBackend) -> Asked:
    """A pipeline with a run that waits for its rules."""
    pipeline = declared("validation: {rules: [{key: orders, check: gte, field: count, value: 10}]}")
    router.store.pipelines.want(wanted(pipeline))
    every = timedelta(minutes=5)
    commands = StoreCommands("ada", router.ports, alert_access(router), every)
    route(services, router)
    commands.put(pipeline.id, "orders", {"count": 1, "date": DAY})
    route(services, router)
    return Asked(aws_queries(router, every), commands)


def route(services: Services, home: AwsBackend) -> None:
    for name in (home.settings.control_table, home.settings.joblog_table):
        answer = stream_router.handle({"Records": services.records(name)}, None, home)
        assert answer == {"batchItemFailures": []}


def test_a_pipeline_is_told_at_a_glance(asked: Asked) -> None:
    (state,) = asked.queries.pipelines().items
    assert (state.id, state.status, state.date) == ("silver-orders", Status.PENDING, DAY)
    assert state.today == {"PENDING": 1}


def test_why_a_date_waits_is_told(asked: Asked) -> None:
    (why,) = asked.queries.why("silver-orders").items
    assert why.date == DAY and why.rules[0].kind is not None


def test_runs_readings_and_events_are_listed(
    asked: Asked, services: Services, clock: ManualClock
) -> None:
    queries = asked.queries
    listed = queries.runs(RunsQuery(pipeline="silver-orders")).items
    assert [run.key.date for run in listed] == [DAY]
    with pytest.raises(ConfigError, match="name it"):
        queries.runs()
    assert [reading.key for reading in queries.readings("silver-orders").items] == ["orders"]
    kinds = {"CONFIG_ADOPTED", "TRIGGER_STARTED"}
    assert {event.type for event in _events(services, clock).newest()} == kinds


def test_pages_are_turned(asked: Asked) -> None:
    page = asked.queries.pipelines(Paging(limit=5))
    assert [state.id for state in page.items] == ["silver-orders"] and page.next is None


def test_a_caller_sees_its_own_pause_at_once(asked: Asked) -> None:
    asked.commands.pause("silver-orders")
    assert asked.queries.pipeline("silver-orders").paused
    asked.commands.resume("silver-orders")
    assert not asked.queries.pipeline("silver-orders").paused


def test_a_waiting_run_is_cancelled_once_and_says_who_and_why(asked: Asked) -> None:
    wanted = NewCancellation(reason="wrong upstream")
    for _ in range(2):
        done = asked.commands.cancel("silver-orders", "stream", DAY, wanted)
        assert (done.run.status, done.job_asked) == (Status.FAILED_FINAL, None)
    history = asked.queries.run("silver-orders", "stream", DAY)
    assert history.run.failure is not None
    assert history.run.failure.message == "cancelled by ada: wrong upstream"
    (why,) = asked.queries.why("silver-orders").items
    assert why.headline.startswith("cancelled ")


def test_a_waiting_run_is_skipped_and_gets_a_further_attempt(asked: Asked) -> None:
    place = ("silver-orders", "stream", DAY)
    for _ in range(2):
        run = asked.commands.skip(*place, NewSkip(reason="a holiday"))
        assert run.status is Status.SKIPPED and str(run.skip) == "skipped by ada: a holiday"
    (why,) = asked.queries.why("silver-orders").items
    assert why.headline.startswith("skipped by ada: a holiday")
    told = asked.commands.put("silver-orders", "orders", {"date": DAY, "count": 20}, WAITING)
    assert "the date is skipped by ada" in told.led_to[0]
    again = asked.commands.unskip(*place, NewUnskip(reason="it was none"))
    assert again is not None and (again.status, again.attempt) == (Status.PENDING, 1)


def test_a_date_that_only_the_skip_opened_is_free_again(
    asked: Asked, services: Services, clock: ManualClock
) -> None:
    place = ("silver-orders", "stream", "2026-03-06")
    for reason in ("a holiday", "after all"):
        clock.advance(minutes=1)
        assert asked.commands.skip(*place, NewSkip(reason=reason)).is_placeholder
        assert asked.commands.unskip(*place, NewUnskip(reason="it was none")) is None
        with pytest.raises(NotFoundError, match="has no run"):
            asked.queries.run(*place)
    kinds = [event.type for event in _events(services, clock).newest(limit=100)]
    assert kinds.count("RUN_SKIPPED") == kinds.count("RUN_UNSKIPPED") == 2


def test_a_run_is_marked_done_and_keeps_what_the_person_knows(asked: Asked) -> None:
    wanted = NewMark(outcome="done", reason="by hand", evidence={"rows": "4200"})
    run = asked.commands.mark("silver-orders", "stream", DAY, wanted)
    assert run.status is Status.COMPLETED
    kept = asked.queries.run("silver-orders", "stream", DAY).run.mark
    assert kept is not None and (kept.by, kept.evidence) == ("ada", {"rows": "4200"})


def test_many_dates_are_foreseen_and_each_has_its_own_answer(asked: Asked) -> None:
    wanted = NewDates(action="skip", since=DAY, until="2026-03-05", reason="closed")
    foreseen = asked.queries.foresee_dates("silver-orders", wanted).items
    assert [each.state for each in foreseen] == ["PENDING", "absent", "absent"]
    done = asked.commands.act_on_dates("silver-orders", wanted).items
    assert all(each.accepted for each in done)
    again = NewDates(action="rerun", dates=(DAY,), reason="again")
    (refused,) = asked.queries.foresee_dates("silver-orders", again).items
    assert not refused.accepted and "the date is skipped" in refused.text


def test_a_pause_and_its_end_are_told_once(
    asked: Asked, services: Services, clock: ManualClock
) -> None:
    until = clock.now + timedelta(hours=2)
    for _ in range(2):
        asked.commands.pause("silver-orders", NewPause(reason="it moves", until=until))
    for _ in range(2):
        asked.commands.resume("silver-orders", NewResume(reason="it has moved"))
    told = {event.type: event for event in _events(services, clock).newest(limit=100)}
    kinds = [event.type for event in _events(services, clock).newest(limit=100)]
    assert kinds.count("PIPELINE_PAUSED") == kinds.count("PIPELINE_RESUMED") == 1
    paused, resumed = told["PIPELINE_PAUSED"].detail, told["PIPELINE_RESUMED"].detail
    assert (paused["requestedBy"], paused["reason"]) == ("ada", "it moves")
    assert paused["until"] == spell(until)
    assert (resumed["requestedBy"], resumed["reason"]) == ("ada", "it has moved")


def test_what_a_reading_leads_to_is_foreseen_before_the_router_acts(asked: Asked) -> None:
    told = asked.commands.put("silver-orders", "orders", {"date": "2026-03-04"}, WAITING)
    assert told.led_to == ("opened",)
    again = asked.commands.put("silver-orders", "orders", {"date": DAY}, WAITING)
    assert again.led_to == ("judged by the run that waits for its rules",)


def test_a_home_without_a_state_file_says_so(asked: Asked) -> None:
    with pytest.raises(ConfigError, match="no state file"):
        asked.queries.parked()


def _events(services: Services, clock: ManualClock) -> Any:
    return function_home(Function.EVENT_SINK, services, clock).store.event_log
