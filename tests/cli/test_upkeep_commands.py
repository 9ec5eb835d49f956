"""`watchdog`, `backup` and `prune`: looking after the installation."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from cli.place import Place
from cli.served import served
from interlock.adapters.sqlite.backup import back_up
from interlock.errors import ConfigError
from interlock.usecases.watchdog_checks import GUARDS
from interlock.wiring.local_backend import open_local_backend


def test_a_pass_says_what_each_check_found(place: Place) -> None:
    shown = place.shown("watchdog")
    assert [line.strip() for line in shown.splitlines()[1:]] == [
        f"{each}: nothing" for each in GUARDS
    ]
    assert place.shown("status").splitlines()[-1].startswith("watchdog: last good pass")


def test_a_pass_finds_what_was_left_undone(place: Place) -> None:
    place.declare(
        "pipeline: {id: often}\nschedule: {cron: '0 * * * *', evaluation: {window: 5m, interval: 1m}}"
    )
    shown = place.shown("watchdog")
    assert "  missed-schedules:\n    often " in shown and ": missed, " in shown
    assert "nothing acts on it" in shown


def test_a_pass_as_a_document(place: Place) -> None:
    place.declare(
        "pipeline: {id: often}\nschedule: {cron: '0 * * * *', evaluation: {window: 5m, interval: 1m}}"
    )
    document = place.json("watchdog", "--since", "3h")
    assert {found["check"] for found in document["found"]} == {"missed-schedules"}
    assert document["failures"] == []


def test_a_server_makes_the_pass_when_there_is_one(place: Place) -> None:
    with served(place) as server:
        assert "0 findings" in place.shown("watchdog", "--since", "2026-03-03")
    assert server.asked[0].query == {"since": "2026-03-03T00:00:00Z"}


def test_a_backup_is_a_whole_state_file(lived_in: Place, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    assert lived_in.run("backup", str(copy)).output.endswith(" MiB, verified\n")
    with closing(sqlite3.connect(copy)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (runs,) = connection.execute("SELECT count(*) FROM runs").fetchone()
    assert runs == len(lived_in.json("runs"))
    again = lived_in.run("backup", str(copy))
    assert isinstance(again.exception, ConfigError) and "add --force" in str(again.exception)
    document = lived_in.json("backup", str(copy), "--force")
    assert document == {"file": str(copy), "bytes": copy.stat().st_size}


def test_a_backup_is_made_while_a_server_runs(place: Place, tmp_path: Path) -> None:
    with served(place):
        assert place.run("backup", str(tmp_path / "copy.db")).exit_code == 0


def test_a_backup_is_never_put_over_the_state_file(place: Place) -> None:
    result = place.run("backup", str(place.state))
    assert isinstance(result.exception, ConfigError) and "itself" in str(result.exception)
    assert place.json("runs") == []


def test_a_backup_into_nowhere_is_refused(place: Place, tmp_path: Path) -> None:
    result = place.run("backup", str(tmp_path / "no/copy.db"))
    assert isinstance(result.exception, ConfigError)


@pytest.fixture
def old_run(place: Place) -> Place:
    place.put(count=4200)
    place.wait(minutes=1)
    assert [run["status"] for run in place.json("runs")] == ["COMPLETED"]
    return place


def test_old_runs_go_after_a_look_and_a_yes(old_run: Place) -> None:
    looked = old_run.shown("prune", "--runs-before", "2999-01-01", "--dry-run")
    assert looked == "1 finished run of dates before 2999-01-01\n"
    assert len(old_run.json("runs")) == 1
    shown = old_run.shown("prune", "--runs-before", "2999-01-01", "--yes")
    assert "removed: 1 runs" in shown
    assert old_run.json("runs") == []


def test_a_pruned_date_stays_over_until_new_data_come_and_then_runs_once(old_run: Place) -> None:
    old_run.shown("prune", "--runs-before", "2999-01-01", "--yes")
    for _ in range(12):
        old_run.wait(minutes=5)
    assert old_run.json("runs") == []  # the reading that is still there was the old run's
    old_run.put(count=4300)
    for _ in range(12):
        old_run.wait(minutes=5)
    (run,) = old_run.json("runs")
    assert (run["status"], run["attempt"], run["openedBy"]) == ("COMPLETED", 1, "sensor")
    assert run["evidence"]["orders"]["fields"]["count"] == 4300
    completed = [event["attempt"] for event in old_run.json("events", "--type", "JOB_COMPLETED")]
    assert sorted(completed) == [0, 1]
    old_run.shown("prune", "--runs-before", "2999-01-01", "--yes")
    old_run.put(count=4400)
    old_run.wait(minutes=1)
    assert [run["attempt"] for run in old_run.json("runs")] == [2]


def test_without_a_yes_nothing_goes(old_run: Place) -> None:
    result = old_run.run("prune", "--runs-before", "2999-01-01")
    assert result.exit_code == 1 and "Remove them?" in result.output
    assert old_run.run("prune", "--runs-before", "2999-01-01", "--json").exit_code == 2
    assert len(old_run.json("runs")) == 1


def test_prune_alone_removes_what_has_expired(old_run: Place) -> None:
    assert "only expired data would go" in old_run.shown("prune", "--dry-run")
    document = old_run.json("prune")
    assert document["runs"] == 0 and document["removed"]["runs"] == 0
    assert len(old_run.json("runs")) == 1


def test_a_bound_that_is_no_date_is_refused(place: Place) -> None:
    assert isinstance(place.run("prune", "--runs-before", "x").exception, ConfigError)


def test_a_backup_can_be_served(lived_in: Place, tmp_path: Path) -> None:
    copy = Place(tmp_path)
    copy.settings.state.mkdir()
    with open_local_backend(lived_in.settings) as home:
        back_up(home.database, copy.state)
    assert copy.json("runs") == lived_in.json("runs")
