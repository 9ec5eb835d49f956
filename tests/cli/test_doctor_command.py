"""`doctor`: what is wrong with an installation, and what mends it."""

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from cli.place import Place
from cli.served import served
from interlock.adapters.sqlite.lock import lock_file
from interlock.cli.checkup import Checkup
from interlock.domain.config import Wanted


def findings(place: Place, code: int = 0) -> dict[str, dict[str, Any]]:
    """By check; of several the worst."""
    found = place.json("doctor", code=code)
    rank = {"fine": 0, "note": 1, "wrong": 2}
    return {each["check"]: each for each in sorted(found, key=lambda each: rank[each["level"]])}


def test_a_healthy_installation_has_nothing_wrong(lived_in: Place) -> None:
    found = findings(lived_in)
    assert {name for name, each in found.items() if each["level"] != "fine"} == {"server"}
    shown = lived_in.shown("doctor")
    assert "fine  Python 3." in shown and "last good pass of the watchdog" in shown


def test_an_empty_folder_is_only_told_what_comes_next(tmp_path: Path) -> None:
    found = findings(Place(tmp_path))
    assert found["state file"]["remedy"] == "`interlock serve` creates it"
    assert found["files"]["remedy"] == "interlock init"
    assert not (tmp_path / ".interlock").exists()


def test_a_watchdog_that_sleeps_is_wrong(place: Place) -> None:
    found = findings(place, code=1)
    assert found["watchdog"]["level"] == "wrong"
    assert "interlock serve" in place.shown("doctor", code=1)


def test_files_that_do_not_validate_are_named_with_their_place(lived_in: Place) -> None:
    bad = lived_in.folder / "pipelines/bad.yaml"
    bad.write_text("pipeline: {id: bad}\n")
    try:
        found = findings(lived_in, code=1)["files"]
    finally:
        bad.unlink()
    assert "bad.yaml:1:1" in found["what"] and found["remedy"] == "interlock validate"


def test_every_file_that_is_refused_is_named_however_many_problems_one_has(lived_in: Place) -> None:
    files = [lived_in.folder / f"pipelines/bad-{n}.yaml" for n in range(8)]
    for file in files:
        file.write_text(f"pipeline: {{id: {file.stem}}}\n")
    try:
        found = lived_in.json("doctor", code=1)
    finally:
        for file in files:
            file.unlink()
    wrong = [each["what"] for each in found if each["level"] == "wrong"]
    assert len(wrong) == 8
    for file, what in zip(files, wrong, strict=True):
        assert what.startswith(f"refused: {file}:1:1: ") and what.endswith(" more)")


def test_a_stored_config_that_was_refused_is_reported_with_its_path(place: Place) -> None:
    config = {"pipeline": {"id": "by-hand"}, "job": {"type": "nonsense"}}
    wanted = Wanted("by-hand", config, "bad", place.now)
    place.happen(lambda home: home.store.pipelines.want(wanted))
    place.catch_up()
    found = findings(place, code=1)["configs"]
    assert (
        found["what"].startswith("refused: by-hand: ")
        and "more); the previous config" in found["what"]
    )
    assert "1 file refused, see `interlock validate`" in place.shown("status")


def test_a_sound_file_that_is_not_in_force_is_reported(lived_in: Place) -> None:
    new = lived_in.folder / "pipelines/new.yaml"
    text = (lived_in.folder / "pipelines/silver-orders.yaml").read_text()
    new.write_text(text.replace("id: silver-orders", "id: new-one"))
    try:
        assert findings(lived_in)["files"]["what"] == "new-one is declared but not in force"
    finally:
        new.unlink()


def park(place: Place, times: int = 4) -> None:
    """A change that can't be handled."""

    def act(home: Any) -> None:
        store, now = home.store, home.ports.clock()
        store.database.write(
            lambda connection: connection.execute(
                "INSERT INTO changes (kind, pipeline, key, body, removed, at)"
                " VALUES ('config', 'silver-orders', 'config', NULL, 0, 0)"
            )
        )
        (change,) = store.changes.next("router", 10)
        for _ in range(times):
            store.changes.park("router", change, "it broke", now)

    place.happen(act)


def test_changes_that_could_not_be_handled_are_shown_and_tried_again(place: Place) -> None:
    park(place)
    found = findings(place, code=1)["changes"]
    assert "silver-orders" in found["what"] and "it broke (4 tries)" in found["what"]
    assert found["remedy"] == "interlock doctor --retry"
    result = place.run("doctor", "--retry")
    assert "1 change will be retried" in result.output
    place.catch_up()
    assert findings(place)["changes"]["what"] == "every change was handled"


def test_a_server_that_answers_is_named(place: Place) -> None:
    with served(place) as server:
        found = {each.check: each for each in Checkup(place.settings).findings()}
    assert found["server"].what == f"{server.url} responds"


def test_an_event_ahead_of_the_clock_is_a_wrong_clock(lived_in: Place, tmp_path: Path) -> None:
    early = datetime.now(UTC) - timedelta(days=1)
    found = {e.check: e for e in Checkup(lived_in.settings, lambda: early).findings()}
    assert found["clock"].level == "wrong" and "ahead of the clock" in found["clock"].what
    past = datetime(1999, 1, 1, tzinfo=UTC)
    found = {e.check: e for e in Checkup(Place(tmp_path).settings, lambda: past).findings()}
    assert "1999-01-01" in found["clock"].what


def test_little_disk_is_reported_before_it_is_too_late(
    lived_in: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 60 * 2**20

    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage)
    assert findings(lived_in)["disk"]["level"] == "note"
    Usage.free = 2**20
    assert findings(lived_in, code=1)["disk"]["level"] == "wrong"


def test_holidays_that_run_out_are_reported(place: Place) -> None:
    place.declare("pipeline: {id: far}\nschedule: {cron: '0 6 * * *', exclude: {holidays: DE}}")
    late = datetime(2036, 8, 1, tzinfo=UTC)
    found = [e for e in Checkup(place.settings, lambda: late).findings() if e.check == "holidays"]
    assert [each.level for each in found] == ["wrong"]
    assert "far: its holidays are known only until 2036-12-31" in found[0].what


def test_a_file_that_is_no_state_file_is_wrong_and_the_rest_is_still_checked(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path)
    place.settings.state.mkdir()
    place.state.write_text("this is no database, whatever it is called. " * 100)
    found = findings(place, code=1)
    assert found["state file"]["level"] == "wrong"
    assert found["disk"]["level"] == "fine"


def test_the_note_about_sqlite_names_the_version(lived_in: Place) -> None:
    assert sqlite3.sqlite_version in findings(lived_in)["sqlite"]["what"]


def test_a_check_that_breaks_is_itself_a_finding(
    lived_in: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(path: object) -> None:
        raise RuntimeError("no such thing")

    monkeypatch.setattr("shutil.disk_usage", broken)
    found = findings(lived_in, code=1)
    assert "the check itself failed: RuntimeError" in found["disk"]["what"]


def test_failing_checks_of_the_watchdog_are_named(place: Place) -> None:
    def act(home: Any) -> None:
        state = home.store.watch.load()
        home.store.watch.save(
            msgspec.structs.replace(
                state, version=state.version + 1, failures=("stale-triggers (x)",)
            )
        )

    place.catch_up()
    place.happen(act)
    found = findings(place, code=1)["watchdog"]
    assert "stale-triggers (x)" in found["what"]


def test_a_folder_that_is_not_there_is_all_there_is_to_say(tmp_path: Path) -> None:
    result = Place(tmp_path / "nowhere").run("doctor")
    assert "there is no folder" in str(result.exception)
    assert "interlock init" in str(result.exception)


def test_a_damaged_state_file_is_wrong_whatever_still_works(place: Place) -> None:
    for number in range(20):
        place.put(key=f"other-{number}", note="x" * 3000)
    with place.state.open("r+b") as file:
        file.seek(place.state.stat().st_size - 3 * 4096)
        file.write(b"\xa5" * 2 * 4096)
    found = findings(place, code=1)["state file"]
    assert found["level"] == "wrong" and "is damaged" in found["what"]
    assert "replace it with the last backup" in found["remedy"]
    failed = place.run("backup", str(place.folder / "copy.db"))
    assert "replace it with the last backup" in str(failed.exception)
    assert "\n" not in str(failed.exception)
    assert not (place.folder / "copy.db").exists()


def test_a_state_file_that_is_gone_is_not_called_new(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.state.parent.mkdir()
    lock_file(place.state).touch()
    found = findings(place, code=1)["state file"]
    assert found["what"] == f"the state file {place.state} is gone"
    assert "put it back as it was, or the last backup" in found["remedy"]
    refused = place.run("status").exception
    assert "is gone: put it back" in str(refused)
