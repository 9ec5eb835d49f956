"""The command line on the AWS home: the same commands, over tables that moto keeps."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from aws.gallery import VARIABLES, name_installation
from aws.shown import command_line, of_aws
from cli.aws_place import AwsPlace, installed
from contracts.samples import a_delivery, an_event
from interlock.cli import app, backfill_follower
from interlock.domain.event import EventType, envelope
from interlock.errors import NotFoundError, TransientError, UnavailableError
from interlock.wiring.clock import utc_now

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AwsPlace]:
    with installed(tmp_path, monkeypatch) as place:
        yield place


# --- looking, and asking for things


def test_a_reading_is_written_listed_and_opens_its_run(place: AwsPlace) -> None:
    put = place.shown("sensor", "put", "silver-orders", "orders", "count=4", "--date", place.today)
    assert "opened" in put
    assert place.json("runs") == []  # the function acts on it, not the command
    place.route()
    (reading,) = place.json("sensor", "list", "silver-orders")
    assert reading["key"] == "orders" and reading["fields"]["count"] == 4

    (run,) = place.json("runs")
    assert run["key"]["date"] == place.today
    shown = place.shown("run", "silver-orders", place.today)
    assert "waiting" in shown
    (why,) = place.json("why", "silver-orders", place.today)
    assert (why["rules"][0]["actual"], why["rules"][0]["kind"]) == (4, "not_greater_or_equal")
    assert "NEEDS" in place.shown("why", "silver-orders")
    assert place.today in place.shown("runs")


def test_status_tells_of_every_pipeline_and_of_the_watchdog(place: AwsPlace) -> None:
    before = place.shown("status", code=1)
    assert "silver-orders" in before and "check that its function is running" in before
    assert "pass at" in place.shown("watchdog")
    assert "last good pass" in place.shown("status")


def test_events_are_listed_by_all_that_they_can_be_asked_for(place: AwsPlace) -> None:
    place.shown("sensor", "put", "silver-orders", "orders", "count=4", "--date", place.today)
    told = an_event(1, kind=EventType.JOB_FAILED, at=utc_now())
    place.home.store.event_log.put(envelope(told))
    assert [each["type"] for each in place.json("events", "--type", "job_failed")] == ["JOB_FAILED"]
    assert told.message in place.shown("events", "--pipeline", "silver-orders", "--since", "1h")
    assert isinstance(place.run("events", "--pipeline", "nobody").exception, NotFoundError)


def test_events_are_shown_with_where_they_went_as_alerts(place: AwsPlace) -> None:
    told = an_event(1, kind=EventType.JOB_FAILED, at=utc_now())
    quiet = an_event(2, at=utc_now())
    for event in (told, quiet):
        place.home.store.event_log.put(envelope(event))
    sent = a_delivery(told)
    assert place.home.store.deliveries.save(sent)

    found = {each["event"]["eventId"]: each["alerts"] for each in place.json("events", "--alerts")}

    assert [each["sink"] for each in found[told.event_id]] == [sent.target.sink]
    assert found[quiet.event_id] == []
    assert f"{sent.target}: queued" in place.shown("events", "--alerts", "--type", "JOB_FAILED")


def test_a_rerun_is_granted_and_the_answer_told(place: AwsPlace) -> None:
    with place.functions_at_work():
        answer = place.json(
            "rerun", "silver-orders", "2026-03-02", "--reason", "late", "--wait", "60"
        )
    assert answer["answer"]["type"] == "RERUN_ACCEPTED"
    assert answer["request"]["reason"] == "late"


def test_a_rerun_without_an_answer_says_how_to_look_for_it(place: AwsPlace) -> None:
    shown = place.shown("rerun", "silver-orders", "2026-03-02", "--wait", "0")
    assert "interlock --backend aws events --pipeline silver-orders" in shown


def test_a_range_of_dates_is_run_until_each_is_done(
    place: AwsPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    dates = place.json("backfill", "silver-orders", "2026-03-02", "2026-03-04", "--dry-run")[
        "dates"
    ]
    assert dates == ["2026-03-02", "2026-03-03", "2026-03-04"]
    monkeypatch.setattr(backfill_follower, "_PAUSE_AWS", 0.05)
    with place.functions_at_work():
        why = ("--reason", "new currency")
        shown = place.shown("backfill", "silver-orders", "2026-03-02", "2026-03-04", *why)
    assert "silver-orders: 3 completed" in shown
    (stored,) = place.json("backfills")
    assert (stored["state"], stored["completed"]) == ("DONE", 3)
    assert (
        place.json("backfill", "silver-orders", "2026-03-02", "2026-03-04", "--dry-run")["dates"]
        == []
    )


# --- pausing


def test_a_pause_says_how_it_ends(place: AwsPlace) -> None:
    shown = place.shown("pause", "silver-orders")
    assert shown == "silver-orders: paused until `interlock --backend aws resume silver-orders`\n"
    assert "interlock --backend aws resume" in place.shown("status", code=1)
    assert place.json("pause", "silver-orders", "--until", "2h")["pausedUntil"]


def test_resume_first_says_what_would_start_and_then_every_date_is_handled(place: AwsPlace) -> None:
    place.shown("pause", "silver-orders")
    place.shown("sensor", "put", "silver-orders", "orders", "count=4", "--date", place.today)
    place.shown("rerun", "silver-orders", "2026-03-03", "--reason", "fixed", "--wait", "0")
    assert place.json("runs") == []
    expected = [
        "silver-orders: 2 dates to start",
        "  2026-03-03 (stream): rerun requested: fixed",
        f"  {place.today} (stream): reading of orders",
    ]

    assert place.shown("resume", "silver-orders", "--dry-run").splitlines() == expected
    assert place.json("runs") == []
    shown = place.shown("resume", "silver-orders").splitlines()

    assert shown[:4] == [*expected, "silver-orders: resumed"]
    assert [run["key"]["date"] for run in place.json("runs")] == [place.today, "2026-03-03"]


def test_resuming_twice_starts_nothing_twice(place: AwsPlace) -> None:
    place.shown("pause", "silver-orders")
    place.shown("sensor", "put", "silver-orders", "orders", "count=4", "--date", place.today)
    place.shown("resume", "silver-orders")
    again = place.json("resume", "silver-orders")
    assert again["wouldStart"] == []
    (run,) = place.json("runs")
    assert run["attempt"] == 0


def test_a_cron_moment_of_the_pause_is_foreseen_and_fired(place: AwsPlace) -> None:
    place.declare("pipeline: {id: often}\nschedule: {cron: '* * * * *', evaluation: {window: 5m}}")
    place.shown("pause", "often")
    place.be_in_force_since("often", minutes=5)

    foreseen = place.json("resume", "often", "--dry-run")["wouldStart"]
    assert foreseen and {each["why"] for each in foreseen} == {"its cron time fell into the pause"}
    place.shown("resume", "often")

    dates = {run["key"]["date"] for run in place.json("runs", "often")}
    assert dates & {each["date"] for each in foreseen}


def test_an_unknown_pipeline_is_named(place: AwsPlace) -> None:
    for command in ("pause", "resume", "why"):
        assert "nope" in str(place.run(command, "nope").exception)


# --- what can't be done there


def test_a_pipeline_is_taken_away_by_an_apply_and_not_by_a_command(place: AwsPlace) -> None:
    refused = place.run("retire", "silver-orders").exception
    assert "apply without the pipeline's file" in str(refused)
    assert "no pipeline file is missing" in str(place.run("retire", "--all-missing").exception)


def test_what_is_missing_is_said_all_at_once_with_its_remedy(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["--project", str(tmp_path), "--backend", "aws", "status"])
    assert done.exit_code != 0
    said = str(done.exception)
    assert all(name in said for name in VARIABLES)
    assert "terraform output -raw interlock_toml" in said


def test_a_name_that_means_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "interlock.toml").write_text('[aws]\ncontrol_tabel = "x"\n')
    done = CliRunner().invoke(app, ["--project", str(tmp_path), "--backend", "aws", "status"])
    assert "control_tabel" in str(done.exception)


def test_what_is_only_local_says_so(place: AwsPlace) -> None:
    assert "local home" in str(place.run("backup", "copy.db").exception)


@pytest.mark.parametrize(
    "command",
    [
        "sensor put p orders count=1", "sensor list p", "status", "why p", "runs", "run p 2026-03-03",
        "events", "rerun p 2026-03-03", "backfill p 2026-03-03 2026-03-04 --reason x",
        "backfills", "backfills show x", "pause p", "resume p", "watchdog", "doctor",
    ],
)  # fmt: skip
def test_when_aws_can_not_be_reached_two_lines_say_so(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_installation(tmp_path)
    for name, value in of_aws(NOWHERE).items():
        if name.startswith("AWS_"):
            monkeypatch.setenv(name, value)
    given = ["--project", str(tmp_path), "--backend", "aws", *command.split()]
    done = CliRunner().invoke(app, given)
    said = str(done.exception).splitlines()
    assert isinstance(done.exception, UnavailableError | TransientError), done.output
    assert len(said) == 2 and "can't reach AWS" in said[0] and "network" in said[1]


def test_the_exit_code_says_that_nothing_was_reached(tmp_path: Path) -> None:
    name_installation(tmp_path)
    done = subprocess.run(
        command_line(tmp_path, "--backend", "aws", "status"),
        env=of_aws(NOWHERE), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 2


def test_without_a_region_or_credentials_it_says_what_to_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name_installation(tmp_path)
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    done = subprocess.run(
        command_line(tmp_path, "--backend", "aws", "status"),
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 3 and "AWS_PROFILE" in done.stderr
