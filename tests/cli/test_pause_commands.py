"""`pause` and `resume`: holding back, and going on without losing a date."""

import pytest

from cli.place import Place
from cli.served import served
from interlock.errors import ConfigError, NotFoundError


def test_a_pause_lasts_until_it_is_resumed(place: Place) -> None:
    shown = place.shown("pause", "silver-orders")
    assert shown == "silver-orders: paused until `interlock resume silver-orders`\n"
    assert place.json("pause", "silver-orders")["pausedSince"]


def test_a_pause_may_end_by_itself(place: Place) -> None:
    shown = place.shown("pause", "silver-orders", "--until", "2h")
    assert "UTC (in " in shown
    assert place.json("pause", "silver-orders", "--until", "2999-01-01")["pausedUntil"] == (
        "2999-01-01T00:00:00Z"
    )


def test_a_pause_that_is_over_already_is_refused(place: Place) -> None:
    result = place.run("pause", "silver-orders", "--until", "2020-01-01")
    assert isinstance(result.exception, ConfigError) and "in the past" in str(result.exception)
    assert place.run("pause", "silver-orders", "--until", "later").exit_code == 2


def test_a_pause_says_who_and_why_wherever_it_is_shown(place: Place) -> None:
    place.shown("pause", "silver-orders", "--reason", "upstream moves", "--until", "2h")
    place.shown("pause", "silver-orders", "--reason", "it moves again", "--until", "3h")
    who = place.json("audit")[0]["actor"]
    for command in (("status",), ("why", "silver-orders")):
        result = place.run(*command)
        shown = " ".join(result.output.split())
        assert f"by {who} 0s ago, until" in shown and "(it moves again)" in shown, shown
    (why,) = place.json("why", "silver-orders")
    assert (why["pause"]["by"], why["pause"]["reason"]) == (who, "it moves again")
    assert f"paused by {who} (it moves again)" in why["headline"]
    place.shown("resume", "silver-orders", "--reason", "it has moved")
    assert place.json("why", "silver-orders")[0]["pause"] is None
    assert place.json("audit")[0]["reason"] == "it has moved"


@pytest.mark.parametrize("command", ["pause", "resume"])
def test_an_unknown_pipeline_is_named(place: Place, command: str) -> None:
    result = place.run(command, "nope")
    assert isinstance(result.exception, NotFoundError) and "nope" in str(result.exception)


def test_resume_first_says_what_would_start(place: Place) -> None:
    place.catch_up()
    place.shown("pause", "silver-orders")
    place.shown("sensor", "put", "silver-orders", "orders", "count=4200", "--date", place.today)
    place.shown("rerun", "silver-orders", "2026-03-03", "--reason", "fixed")
    expected = [
        "silver-orders: 2 dates to start",
        "  2026-03-03 (stream): rerun requested: fixed",
        f"  {place.today} (stream): reading of orders",
    ]
    foreseen = place.shown("resume", "silver-orders", "--dry-run")
    assert foreseen.splitlines() == expected
    assert place.json("runs") == []
    shown = place.shown("resume", "silver-orders")
    assert shown.splitlines()[:4] == [*expected, "silver-orders: resumed"]
    dates = [run["key"]["date"] for run in place.json("runs")]
    assert dates == [place.today, "2026-03-03"]


def test_nothing_is_foreseen_of_a_pipeline_that_is_not_paused(place: Place) -> None:
    document = place.json("resume", "silver-orders")
    assert document["wouldStart"] == [] and document["config"]["version"]


def test_a_cron_moment_of_the_pause_is_foreseen(place: Place) -> None:
    place.declare(
        "pipeline: {id: often}\nschedule: {cron: '*/5 * * * *', evaluation: {window: 5m}}"
    )
    place.happen(lambda home: home.commands("ada").pause("often"))
    place.catch_up()
    document = place.json("resume", "often", "--dry-run")
    assert [each["why"] for each in document["wouldStart"]] == ["its cron time fell into the pause"]


def test_a_server_is_asked_when_there_is_one(place: Place) -> None:
    with served(place) as server:
        assert "paused until" in place.shown("pause", "silver-orders", "--until", "2h")
        assert "resumed" in place.shown("resume", "silver-orders")
    assert [asked.path.rpartition("/")[2] for asked in server.asked] == ["pause", "resume"]


def test_resuming_what_was_not_paused_says_so(place: Place) -> None:
    assert "silver-orders: was not paused" in place.shown("resume", "silver-orders")
    place.shown("pause", "silver-orders")
    assert "silver-orders: resumed" in place.shown("resume", "silver-orders")
