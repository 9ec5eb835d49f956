"""Mistakes that people make, and what each command says: the place, and what would be right."""

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from cli.place import ORDERS, Place
from interlock.cli.file_problems import frame
from interlock.files import load_text
from interlock.simulation.scenario import JobScript


def said(place: Place, *arguments: str, **environment: str) -> str:
    """Everything that a command says, on one line."""
    result = place.run(*arguments, **environment)
    error = "" if isinstance(result.exception, SystemExit) else str(result.exception or "")
    return " ".join(f"{result.output} {error}".split())


def refused(place: Place, *arguments: str, **environment: str) -> str:
    assert place.run(*arguments, **environment).exit_code != 0
    return said(place, *arguments, **environment)


def problem(place: Place, before: str, after: str) -> str:
    """What `validate` says about a file with one mistake."""
    assert before in ORDERS
    file = place.folder / "pipelines" / "silver-orders.yaml"
    file.write_text(ORDERS.replace(before, after), encoding="utf-8")
    return refused(place, "validate", str(place.folder))


#: What is typed, and what it says; {today} is the date of the place.
COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "a misspelled command": (("statsu",), "there is no command 'statsu'; did you mean status?"),
    "a misspelled pipeline": (
        ("why", "silver-order"),
        "there is no pipeline silver-order; did you mean silver-orders?",
    ),
    "a misspelled pipeline of a rerun": (
        ("rerun", "silverorders", "2026-03-03", "--reason", "x"),
        "there is no pipeline silverorders; did you mean silver-orders?",
    ),
    "a misspelled pipeline of a reading": (
        ("sensor", "put", "silver-odrers", "orders", "count=1"),
        "there is no pipeline silver-odrers; did you mean silver-orders?",
    ),
    "a pipeline that is nothing like another": (
        ("why", "x"),
        "there is no pipeline x; there are: silver-orders",
    ),
    "a date in another order": (
        ("why", "silver-orders", "03.03.2026"),
        "'03.03.2026' is not a date such as 2026-03-03 or 2026-03-03T10",
    ),
    "a date that does not exist": (("why", "silver-orders", "2026-02-30"), "2026-02-30"),
    "a year that is off": (
        ("sensor", "put", "silver-orders", "orders", "count=1", "--date", "2062-03-03"),
        "date is '2062-03-03', needs",
    ),
    "a field without a value": (
        ("sensor", "put", "silver-orders", "orders", "count"),
        "'count' is not FIELD=VALUE",
    ),
    "fields that are not JSON": (
        ("sensor", "put", "silver-orders", "orders", "--json", "count: 1"),
        "--json is not JSON",
    ),
    "a misspelled event": (("events", "--type", "JOB_FAILD"), "did you mean JOB_FAILED?"),
    "a state that there is not": (("runs", "--status", "stuck"), "is not one of 'waiting'"),
    "an unknown schedule": (("run", "silver-orders", "2026-03-03", "--schedule", "x"), "no run of"),
    "a backup over another": (("backup", "{folder}/interlock.toml"), "already exists"),
}


@pytest.mark.parametrize("mistake", COMMANDS)
def test_a_wrong_command_names_what_would_be_right(place: Place, mistake: str) -> None:
    (place.folder / "interlock.toml").write_text("", encoding="utf-8")
    arguments, expected = COMMANDS[mistake]
    given = [each.format(today=place.today, folder=place.folder) for each in arguments]
    shown = refused(place, *given)
    assert expected in shown, shown
    assert "Traceback" not in shown and "bug in Interlock" not in shown


#: What stands in the file instead, and what `validate` says.
FILES: dict[str, tuple[str, str, str]] = {
    "a misspelled key": ("validation:", "validaton:", "did you mean validation?"),
    "a misspelled check": ("check: gte", "check: get", "did you mean gt"),
    "a text for a duration": ("window: 3h", "window: soon", "silver-orders.yaml:4:"),
    "a cron with four fields": (
        "trigger: {key: orders, check: exists}",
        "cron: '0 8 * *'",
        "a cron has five (minute, hour, day of month, month, weekday)",
    ),
    "a cron beyond its bounds": (
        "trigger: {key: orders, check: exists}",
        "cron: '0 25 * * *'",
        "hour 0-23",
    ),
    "an unknown zone": ("schedule:", "schedule:\n  timezone: Europe/Berln", "Europe/Berlin"),
    "an unknown job type": ("type: command", "type: comand", "did you mean command?"),
    "a command without its list": ('command: ["true"]', "command: 7", "silver-orders.yaml:7:"),
    "a missing job type": ("type: command, ", "", "job.type: is missing"),
}


@pytest.mark.parametrize("mistake", FILES)
def test_a_wrong_file_names_the_line_and_what_would_be_right(place: Place, mistake: str) -> None:
    before, after, expected = FILES[mistake]
    shown = problem(place, before, after)
    assert expected in shown, shown
    assert "silver-orders.yaml:" in shown


def test_a_misspelled_setting_is_found_by_validate_with_its_line(place: Place) -> None:
    toml = place.folder / "interlock.toml"
    toml.write_text('# mine\nprot = 80\nport = "x"\n', encoding="utf-8")
    shown = refused(place, "validate", str(place.folder))
    assert f"{toml}:2:1: prot: is not a setting; did you mean port?" in shown
    assert f"{toml}:3:1: port: needs a port from 0 to 65535" in shown
    assert "1 file: 2 errors, 0 warnings" in shown
    toml.write_text("port 80\n", encoding="utf-8")
    assert f"{toml}:1:1: " in refused(place, "validate", str(place.folder))


def test_a_field_that_no_rule_reads_is_a_warning_that_stops_nothing(place: Place) -> None:
    shown = said(place, "sensor", "put", "silver-orders", "orders", "cuont=1000")
    assert (
        "warning: rules read orders.count, and the reading has cuont; did you mean count?" in shown
    )
    assert "received at" in shown
    shown = said(place, "sensor", "put", "silver-orders", "order", "count=1000")
    assert "warning: no rule reads order; did you mean orders?" in shown
    shown = said(place, "sensor", "put", "silver-orders", "orders", "count=many")
    assert "warning: orders.count is 'many', and a rule compares it with a number" in shown
    assert "warning" not in said(place, "sensor", "put", "silver-orders", "orders", "count=1000")


def test_warnings_fail_a_strict_check_only(place: Place) -> None:
    file = place.folder / "pipelines" / "silver-orders.yaml"
    file.write_text(ORDERS.replace('["true"]', '[echo, a, "|", tee]'), encoding="utf-8")
    assert place.run("validate", str(place.folder)).exit_code == 0
    result = place.run("validate", "--strict", str(place.folder))
    assert result.exit_code == 1 and "0 errors, 1 warning" in result.output


def test_options_may_stand_after_the_command(lived_in: Place, tmp_path: Path) -> None:
    folder = str(lived_in.folder)
    one, other = (
        subprocess.run(
            [sys.executable, "-m", "interlock", *arguments],
            check=True,
            capture_output=True,
            text=True,
            cwd=tmp_path,
        ).stdout
        for arguments in (
            ("--project", folder, "runs", "--json"),
            ("runs", "--json", "--project", folder),
        )
    )
    assert json.loads(one) == json.loads(other) != []
    listed = ("sensor", "list", "silver-orders", "--project", folder)
    shown = subprocess.run(
        [sys.executable, "-m", "interlock", *listed],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert "count=1940" in shown.stdout


def test_runs_say_that_there_are_more_and_can_be_narrowed_by_state(place: Place) -> None:
    place.scripts["silver-orders"] = (JobScript(),) * 2
    for days in ("2026-03-02", "2026-03-03"):
        place.put(count=1000, date=days)
    place.wait(minutes=10)
    place.put(count=1)
    more = "There are more than these 1: raise --limit, or narrow the list with PIPELINE, --status,"
    assert more in place.run("runs", "--limit", "1").stderr
    as_json = place.run("runs", "--limit", "1", "--json")
    assert len(json.loads(as_json.stdout)) == 1 and more in as_json.stderr
    assert "There are more" not in place.shown("runs")
    (waiting,) = place.json("runs", "--status", "waiting")
    assert waiting["key"]["date"] == place.today
    done = place.json("runs", "--status", "done", "--since", "2026-03-03")
    assert [each["key"]["date"] for each in done] == ["2026-03-03"]


def test_a_taken_port_suggests_one_that_is_free(place: Place) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        shown = refused(place, "serve", "--port", str(port))
    assert f"can't listen on 127.0.0.1:{port}" in shown and "is free: --port " in shown


def test_no_server_says_what_to_start(tmp_path: Path) -> None:
    shown = refused(Place(tmp_path), "status")
    assert "there is no state file" in shown and "`interlock serve` creates it" in shown


def test_a_server_that_does_not_answer_is_named(place: Place) -> None:
    shown = refused(place, "status", INTERLOCK_URL="http://127.0.0.1:9", INTERLOCK_TOKEN="x" * 20)
    assert "127.0.0.1:9" in shown


def test_a_frame_shows_the_line_and_a_caret_below_the_place(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(ORDERS.replace("check: gte", "check: get"), encoding="utf-8")
    wrong = load_text(file.read_bytes(), str(file)).errors[0]
    line, caret = frame(wrong)
    assert line.endswith(ORDERS.splitlines()[4].replace("gte", "get"))
    assert line[caret.index("^") :].startswith("get")


def test_a_new_project_keeps_its_state_out_of_git_and_leaves_a_gitignore_as_it_is(
    tmp_path: Path,
) -> None:
    new, old = tmp_path / "new", tmp_path / "old"
    old.mkdir()
    (old / ".gitignore").write_text("mine\n", encoding="utf-8")
    place = Place(tmp_path)
    assert place.run("init", str(new)).exit_code == 0
    assert ".interlock/" in (new / ".gitignore").read_text(encoding="utf-8")
    shown = place.run("init", str(old)).output
    assert "add .interlock/ to it" in shown
    assert (old / ".gitignore").read_text(encoding="utf-8") == "mine\n"


def test_a_completion_script_is_printed_or_installed(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert "_INTERLOCK_COMPLETE" in place.run("completion", "zsh").output
    assert "wrote" in place.run("completion", "fish", "--install").output
    written = tmp_path / ".config/fish/completions/interlock.fish"
    assert "interlock" in written.read_text(encoding="utf-8")
    assert "name the shell" in refused(place, "completion", SHELL="/bin/sh")
