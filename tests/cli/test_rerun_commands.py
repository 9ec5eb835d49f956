"""`rerun` and `backfill`: asking for dates, and hearing what became of it."""

import time

import pytest

from cli.place import Place
from cli.served import served
from interlock.cli import backfill as backfill_command
from interlock.cli.exits import Interrupted
from interlock.errors import ConfigError, NotFoundError, UnavailableError
from interlock.simulation.scenario import JobResult, JobScript


def test_without_a_server_the_request_is_stored_and_waits(place: Place) -> None:
    shown = place.shown("rerun", "silver-orders", "2026-03-03")
    assert "silver-orders 2026-03-03: rerun requested" in shown
    assert "nothing acts on it until `interlock serve` runs" in shown
    document = place.json("rerun", "silver-orders", "2026-03-03", "--reason", "fixed", "--force")
    assert document["answer"] is None
    request = document["request"]
    assert (request["reason"], request["force"]) == ("fixed", True)
    assert request["requestedBy"]


def test_a_server_grants_it_and_the_answer_is_printed(place: Place) -> None:
    with served(place):
        shown = place.shown("rerun", "silver-orders", place.today, "--reason", "fixed")
    assert f"silver-orders {place.today}: rerun accepted: fixed" in shown
    assert "nothing acts" not in shown


def test_a_server_refuses_it_and_says_why(place: Place) -> None:
    place.put(count=4200)
    place.wait(minutes=1)
    with served(place, minutes_a_request=1):
        shown = place.shown("rerun", "silver-orders", place.today, code=1)
        assert "rerun refused: no reading has changed since" in shown
        assert "add --force to run it anyway" in shown
        shown = place.shown("rerun", "silver-orders", place.today, "--force")
        assert "rerun accepted: manual" in shown and "manual reruns: 1 of 1" in shown
        shown = place.shown("rerun", "silver-orders", place.today, "--force", code=1)
        assert "manual reruns: 1 of 1; add --over-budget to run it anyway" in shown
        more = ("rerun", "silver-orders", place.today, "--force", "--over-budget")
        shown = place.shown(*more)
        assert "rerun accepted: manual" in shown and "manual reruns: 2 of 1" in shown
        document = place.json("rerun", "silver-orders", place.today, "--force", code=1)
        assert document["answer"]["detail"]["cause"] == "budget"


def test_a_paused_pipeline_gives_no_answer_and_that_is_said(place: Place) -> None:
    place.shown("pause", "silver-orders")
    with served(place):
        shown = place.shown("rerun", "silver-orders", place.today, "--wait", "0.1")
    assert "no answer within 0.1 s" in shown.replace("\n", " ")


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        (("nope", "2026-03-03"), NotFoundError, "there is no pipeline nope"),
        (("silver-orders", "2026-03-03", "--schedule", "x"), ConfigError, "schedules stream"),
    ],
)
@pytest.mark.parametrize("is_served", [False, True])
def test_what_can_not_be_asked_for_is_said(
    place: Place, arguments: tuple[str, ...], kind: type[Exception], words: str, is_served: bool
) -> None:
    if is_served:
        with served(place):
            result = place.run("rerun", *arguments)
    else:
        result = place.run("rerun", *arguments)
    assert isinstance(result.exception, kind) and words in str(result.exception)


def test_a_backfill_tells_how_each_date_ended(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backfill_command, "_PAUSE", 0.0)
    place.declare(
        "pipeline: {id: free}\n"
        "schedule: {cron: '0 1 1-9 1 *', exclude: {dates: [2026-01-02]}}\n"
        "validation: {rules: [{key: always, check: exists}]}"
    )
    place.put("always", "free", date=None)
    with served(place, minutes_a_request=2):
        shown = place.shown("backfill", "free", "2026-01-01", "2026-01-04", "--max-active", "2")
        assert shown.splitlines() == [
            "2026-01-01: accepted",
            "2026-01-03: accepted",
            "2026-01-01: done",
            "2026-01-03: done",
            "2026-01-04: accepted",
            "2026-01-04: done",
            "free: 3 done, 0 not",
        ]
        again = place.json("backfill", "free", "2026-01-01", "2026-01-04")
        assert again == {"pipelineId": "free", "dates": []}


def test_a_backfill_tells_what_a_date_that_takes_long_is_doing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backfill_command, "_PAUSE", 0.0)
    place.scripts["free"] = (JobScript(after="5m"),)
    place.declare(
        "pipeline: {id: free}\nschedule: {cron: '0 1 1-9 1 *'}\n"
        "job: {type: command, config: {command: [x]}}\n"
        "validation: {rules: [{key: always, check: exists}]}"
    )
    place.put("always", "free", date=None)
    dates = ("2026-01-01", "2026-01-01")
    with served(place, minutes_a_request=2) as server:
        shown = place.shown("backfill", "free", *dates, INTERLOCK_URL=server.url)
    assert shown.splitlines() == [
        "2026-01-01: accepted",
        "2026-01-01: running",
        "2026-01-01: done",
        "free: 1 done, 0 not",
    ]


def test_a_backfill_ends_with_a_problem_when_a_date_does(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backfill_command, "_PAUSE", 0.0)
    place.scripts["free"] = (JobScript(), JobScript(result=JobResult.FAIL, error="no space"))
    place.declare(
        "pipeline: {id: free}\nschedule: {cron: '0 1 1-9 1 *'}\n"
        "job: {type: command, config: {command: [x]}, maxCodeRetries: 0}\n"
        "validation: {rules: [{key: always, check: exists}]}"
    )
    place.put("always", "free", date=None)
    with served(place, minutes_a_request=2):
        arguments = ("backfill", "free", "2026-01-01", "2026-01-02", "--max-active", "1")
        document = place.json(*arguments, code=1)
    first, second = document["dates"]
    assert first == {"date": "2026-01-01", "how": "done", "ok": True}
    assert second["ok"] is False and "no space" in second["how"]


def test_a_backfill_can_be_looked_at_first(place: Place) -> None:
    arguments = ("backfill", "silver-orders", "2026-01-01", "2026-01-03", "--dry-run")
    assert place.shown(*arguments).splitlines() == [
        "silver-orders: 3 dates without a completed run",
        "  2026-01-01",
        "  2026-01-02",
        "  2026-01-03",
    ]
    assert place.json(*arguments)["dates"] == ["2026-01-01", "2026-01-02", "2026-01-03"]


def test_a_backfill_needs_a_running_server(place: Place) -> None:
    result = place.run("backfill", "silver-orders", "2026-01-01", "2026-01-03")
    assert isinstance(result.exception, UnavailableError)
    assert "start `interlock serve` first" in str(result.exception)


def test_an_invalid_range_is_refused(place: Place) -> None:
    result = place.run("backfill", "silver-orders", "2026-01-03", "2026-01-01")
    assert isinstance(result.exception, ConfigError)
    assert place.run("backfill", "silver-orders", "a", "b", "--max-active", "0").exit_code == 2


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("why", "silver-orders", "2026-13-01"), "'2026-13-01' is not in the calendar: month must"),
        (("run", "silver-orders", "tuesday"), "'tuesday' is not a date such as 2026-03-03"),
        (("rerun", "silver-orders", "2026-03-0"), "'2026-03-0' is not a date such as"),
        (("backfill", "silver-orders", "2026-03-01", "2026-02-30"), "'2026-02-30' is not in the"),
    ],
)
def test_an_invalid_date_is_a_usage_error_and_named(
    place: Place, command: tuple[str, ...], words: str
) -> None:
    result = place.run(*command)
    assert result.exit_code == 2
    assert words in result.output


def test_interrupting_a_backfill_says_how_to_continue(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupted)
    with served(place):
        result = place.run("backfill", "silver-orders", "2026-03-02", "2026-03-03")
    assert isinstance(result.exception, Interrupted)
    assert "run the same command again for the rest" in str(result.exception)
