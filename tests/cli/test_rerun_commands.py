"""`rerun` and `backfill`: asking for dates, and hearing what became of it."""

import time

import pytest

from cli.place import Place
from cli.served import served
from interlock.cli import backfill_follower
from interlock.cli.exits import Interrupted
from interlock.errors import ConfigError, NotFoundError
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


FREE = (
    "pipeline: {id: free}\n"
    "schedule: {cron: '0 1 1-9 1 *', exclude: {dates: [2026-01-02]}}\n"
    "job: {type: command, config: {command: [x]}, maxRetries: 0, maxCodeRetries: 0}\n"
    "validation: {rules: [{key: always, check: exists}]}"
)
WHY = ("--reason", "new currency")


@pytest.fixture
def free(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A pipeline whose rules always hold."""
    monkeypatch.setattr(backfill_follower, "_PAUSE", 0.0)
    place.declare(FREE)
    place.put("always", "free", date=None)
    return place


def test_a_backfill_tells_how_each_date_ended(free: Place) -> None:
    range_of = ("free", "2026-01-01", "2026-01-04")
    with served(free, minutes_a_request=2) as server:
        one = ("--max-active", "1")
        shown = free.shown("backfill", *range_of, *WHY, *one, INTERLOCK_URL=server.url).splitlines()
        ends = [line for line in shown if "requested" not in line and "running" not in line]
        assert ends == [
            "2026-01-01: completed",
            "2026-01-03: completed",
            "2026-01-04: completed",
            "free: 3 completed",
        ]
        again = free.json("backfill", *range_of, *WHY)
        assert again == {"backfill": None, "dates": []}
        said = free.shown("backfill", *range_of, *WHY)
        assert said == "free: nothing to run, every date of the range has completed\n"


def test_a_backfill_ends_with_a_problem_when_a_date_does(free: Place) -> None:
    free.scripts["free"] = (JobScript(), JobScript(result=JobResult.FAIL, error="no space"))
    range_of = ("free", "2026-01-03", "2026-01-04")
    with served(free, minutes_a_request=2) as server:
        one = ("--max-concurrent", "1")
        given = ("backfill", *range_of, *WHY, *one)
        document = free.json(*given, code=1, INTERLOCK_URL=server.url)
    first, second = document["dates"]
    assert first == {"date": "2026-01-03", "state": "completed", "why": ""}
    assert second == {"date": "2026-01-04", "state": "failed", "why": "no space"}
    assert document["backfill"]["state"] == "DONE" and document["backfill"]["failed"] == 1


def test_a_backfill_can_be_looked_at_first(place: Place) -> None:
    arguments = ("backfill", "silver-orders", "2026-01-01", "2026-01-03", "--dry-run")
    assert place.shown(*arguments).splitlines() == [
        "silver-orders: 3 dates without a completed run",
        "  2026-01-01",
        "  2026-01-02",
        "  2026-01-03",
    ]
    assert place.json(*arguments)["dates"] == ["2026-01-01", "2026-01-02", "2026-01-03"]


def test_a_backfill_without_a_server_is_stored_and_says_that_nothing_acts_on_it(
    free: Place,
) -> None:
    result = free.run("backfill", "free", "2026-01-01", "2026-01-03", *WHY)
    assert result.exit_code == 0
    assert "of 2 dates started" in result.output
    assert "nothing acts on it until `interlock serve` runs" in result.output
    (stored,) = free.json("backfills")
    assert (stored["state"], stored["active"]) == ("RUNNING", ["2026-01-01", "2026-01-03"])


def test_a_backfill_needs_a_reason(free: Place) -> None:
    for more in ((), ("--reason", " ")):
        result = free.run("backfill", "free", "2026-01-01", "2026-01-03", *more)
        assert result.exit_code == 2 and "say why with --reason" in result.output


def test_a_detached_backfill_can_be_listed_shown_paused_resumed_and_cancelled(free: Place) -> None:
    with served(free):
        begun = free.json("backfill", "free", "2026-01-01", "2026-01-09", *WHY, "--detach")
        name = begun["id"]
        paused = free.shown("backfills", "pause", name, "--reason", "load")
        assert paused.startswith(f"{name}: paused, 6 dates waiting; 2 dates that began will run on")
        listed = free.shown("backfills").splitlines()
        assert listed[1].startswith(name) and "paused" in listed[1] and "0 of 8" in listed[1]
        facts = free.shown("backfills", "show", name)
        assert "new currency" in facts and "(load)" in facts and "2026-01-09" in facts
        resumed = free.shown("backfills", "resume", name, "--reason", "night")
        assert resumed.startswith(f"{name}: resumed")
        over = free.json("backfills", "cancel", name, "--reason", "not needed")
        assert (over["state"], over["changedFor"]) == ("CANCELLED", "not needed")
        refused = free.run("backfills", "resume", name, "--reason", "x")
        assert isinstance(refused.exception, ConfigError)
        unknown = free.run("backfills", "show", "nope")
        assert isinstance(unknown.exception, NotFoundError)
        actions = [entry["action"] for entry in free.json("audit")]
    assert actions[:5] == [
        "backfill resume", "backfill cancel", "backfill resume", "backfill pause", "backfill",
    ]  # fmt: skip


def test_without_backfills_the_list_says_so(place: Place) -> None:
    assert place.shown("backfills") == "no backfills\n"
    assert place.json("backfills") == []


def test_an_invalid_range_is_refused(place: Place) -> None:
    result = place.run("backfill", "silver-orders", "2026-01-03", "2026-01-01", *WHY)
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


def test_interrupting_a_backfill_pauses_it_and_says_how_to_resume(
    free: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(time, "sleep", interrupted)
    with served(free):
        result = free.run("backfill", "free", "2026-01-01", "2026-01-09", *WHY)
        (stored,) = free.json("backfills")
    assert isinstance(result.exception, Interrupted)
    assert (stored["state"], stored["changedFor"]) == ("PAUSED", "interrupted with Ctrl-C")
    assert f"interlock backfills resume {stored['id']} --reason" in str(result.exception)


def test_a_backfill_of_a_paused_pipeline_says_what_it_waits_for(
    free: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def give_up(seconds: float) -> None:
        raise KeyboardInterrupt

    with served(free):
        free.shown("pause", "free", "--reason", "upstream moves")
        monkeypatch.setattr(time, "sleep", give_up)
        result = free.run("backfill", "free", "2026-01-01", "2026-01-09", *WHY)
    assert "waiting: its pipeline is paused" in result.output
    assert "(upstream moves)" in result.output
