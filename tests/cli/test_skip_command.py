"""`skip`, `unskip` and `mark`: what an operator says about the runs of dates."""

from typing import Any

import pytest

from cli.place import Place
from cli.served import served
from interlock.errors import ConfigError, ConflictError, NotFoundError

NAME = "silver-orders"


def dates(answers: list[Any]) -> list[tuple[str, bool]]:
    return [(each["date"], each["accepted"]) for each in answers]


def test_a_date_is_skipped_with_a_reason_and_expected_again(place: Place) -> None:
    shown = place.shown("skip", NAME, place.today, "--reason", "a holiday")
    assert shown == f"{NAME} {place.today}: skipped\n"
    why = " ".join(place.shown("why", NAME).split())
    assert "a holiday" in why and "nothing opens it until that is undone" in why
    assert f"interlock unskip {NAME} {place.today}" in why
    assert "skipped" in place.shown("runs", NAME)
    assert "a holiday" in " ".join(place.shown("run", NAME, place.today).split())
    assert place.json("runs", NAME, "--status", "skipped")[0]["skip"]["reason"] == "a holiday"

    shown = place.shown("unskip", NAME, place.today, "--reason", "it was none")
    assert f"{NAME} {place.today}: no longer skipped; it is expected again\n" in shown
    assert place.json("runs", NAME) == []
    assert [entry["action"] for entry in place.json("audit")] == ["unskip", "skip"]


def test_a_waiting_run_that_was_skipped_has_a_further_attempt(place: Place) -> None:
    place.put(count=940)
    place.shown("skip", NAME, place.today, "--reason", "a holiday")
    shown = place.shown("unskip", NAME, place.today, "--reason", "it was none")
    assert "no longer skipped; attempt 1 is open" in shown


def test_what_is_not_skipped_is_refused(lived_in: Place) -> None:
    result = lived_in.run("unskip", NAME, lived_in.today, "--reason", "why")
    assert isinstance(result.exception, ConflictError) and "it is not skipped" in str(
        result.exception
    )
    result = lived_in.run("unskip", NAME, "2026-01-05", "--reason", "why")
    assert isinstance(result.exception, NotFoundError)


@pytest.mark.parametrize("command", ["skip", "unskip", "mark"])
@pytest.mark.parametrize("reason", ["", "   "])
def test_a_blank_reason_is_none(place: Place, command: str, reason: str) -> None:
    place.put(count=940)
    outcome = ["done"] if command == "mark" else []
    result = place.run(command, NAME, place.today, *outcome, "--reason", reason)
    assert isinstance(result.exception, ConfigError) and "give a reason" in str(result.exception)
    assert place.run(command, NAME, place.today, *outcome).exit_code == 2
    assert place.json("audit") == []


def test_many_dates_are_previewed_and_each_has_its_own_answer(lived_in: Place) -> None:
    given = ("skip", NAME, "2026-01-05", lived_in.today, "--reason", "closed")
    result = lived_in.run(*given, "--dry-run")
    assert result.exit_code == 1
    assert "would be skipped" in result.output and "it is done" in result.output
    assert "1 date accepted, 1 refused" in result.output
    assert lived_in.json("runs", NAME, "--status", "skipped") == []

    result = lived_in.run(*given, "--json")
    assert result.exit_code == 1
    found = lived_in.json("runs", NAME, "--status", "skipped")
    assert [run["key"]["date"] for run in found] == ["2026-01-05"]
    outcomes = {entry["target"][-10:]: entry["outcome"] for entry in lived_in.json("audit")[:2]}
    assert outcomes == {"2026-01-05": "done", lived_in.today: "refused"}


def test_a_range_means_the_expected_dates_in_it(place: Place) -> None:
    found = place.json(
        "skip", NAME, "--from", "2026-01-05", "--to", "2026-01-08", "--reason", "x", "--dry-run"
    )
    assert dates(found) == [(f"2026-01-0{day}", True) for day in (5, 6, 7, 8)]
    result = place.run("skip", NAME, "--from", "2026-01-05", "--reason", "x")
    assert isinstance(result.exception, ConfigError) and "both ends" in str(result.exception)
    result = place.run("skip", NAME, "--reason", "x")
    assert isinstance(result.exception, ConfigError) and "name a date" in str(result.exception)


def test_reruns_of_many_dates_are_foreseen_and_requested(lived_in: Place) -> None:
    given = ("rerun", NAME, lived_in.today, "2026-01-06", "--reason", "late data")
    foreseen = lived_in.run(*given, "--dry-run")
    assert "no reading has changed since the run succeeded" in foreseen.output
    assert "would run again" in foreseen.output
    forced = lived_in.json(*given, "--force", "--dry-run")
    assert [each["accepted"] for each in forced] == [True, True]
    done = lived_in.json(*given)
    assert [each["text"] for each in done] == ["rerun requested"] * 2
    assert [entry["action"] for entry in lived_in.json("audit")[:2]] == ["rerun", "rerun"]


def test_a_run_is_marked_done_and_shown_as_said_by_a_person(place: Place) -> None:
    place.put(count=940)
    shown = place.shown(
        "mark", NAME, place.today, "done", "--reason", "by hand", "--evidence", "rows=4200"
    )
    assert shown == f"{NAME} {place.today}: marked done; pipelines that wait for it go on\n"
    assert "done by hand" in place.shown("runs", NAME)
    text = " ".join(place.shown("run", NAME, place.today).split())
    assert "by hand" in text and "rows=4200" in text
    assert "by hand" in place.shown("why", NAME)
    shown = place.shown("mark", NAME, place.today, "failed", "--reason", "it was not")
    assert "are not undone" in " ".join(shown.split())
    assert [entry["action"] for entry in place.json("audit")] == ["mark failed", "mark done"]


def test_evidence_needs_a_name_and_a_value(place: Place) -> None:
    result = place.run(
        "mark", NAME, place.today, "done", "--reason", "by hand", "--evidence", "rows"
    )
    assert result.exit_code == 2 and "'rows' is not KEY=VALUE" in result.output


def test_a_server_is_asked_when_there_is_one(place: Place) -> None:
    with served(place) as server:
        place.shown("skip", NAME, place.today, "--reason", "a holiday")
        assert server.asked[-1].path.endswith(f"/pipelines/{NAME}/dates")
        place.shown("unskip", NAME, place.today, "--reason", "none")
        assert server.asked[-1].path.endswith(f"/{place.today}/unskip")
        place.shown("mark", NAME, place.today, "done", "--reason", "by hand")
        assert server.asked[-1].path.endswith(f"/{place.today}/mark")
