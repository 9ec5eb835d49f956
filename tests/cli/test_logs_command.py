"""`interlock logs`: what a job printed, from the state file, through a server, and as it comes."""

import json
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from cli.place import ORDERS, Place
from cli.served import served
from interlock.adapters.jobs.command.job_folder import JobFolder
from interlock.domain.config import Config
from interlock.domain.pipeline import Job, Pipeline
from interlock.domain.run import RunKey
from interlock.errors import NotFoundError
from interlock.simulation.scenario import JobResult, JobScript
from interlock.usecases.job_context import job_context
from interlock.wiring.local_backend import LocalBackend, open_local_backend


@pytest.fixture
def running(tmp_path: Path) -> Place:
    """The job of today's date runs; what it prints is up to each test."""
    place = Place(tmp_path)
    place.scripts["silver-orders"] = (JobScript(after="20h"),)
    place.declare()
    place.put(count=1940)
    return place


def command(place: Place, script: str) -> None:
    """A real process, under the token of the run's attempt."""
    with open_local_backend(place.settings) as home:
        run = home.ports.runs.get(RunKey("silver-orders", "stream", place.today))
        config = home.ports.pipelines.find("silver-orders")
        assert isinstance(config, Config)
        job = {"type": "command", "config": {"command": ["/bin/sh", "-c", script]}}
        home.jobs.launch(_with(config, job), job_context(run, home.ports))


def _with(config: Config, job: Mapping[str, object]) -> Pipeline:
    return msgspec.structs.replace(config.pipeline, job=msgspec.convert(job, Job))


def ended(place: Place) -> None:
    folders = list((place.settings.state / "jobs").iterdir())
    until = time.monotonic() + 20
    while not (folders[0] / "exit.json").exists():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_it_prints_what_the_job_printed_and_says_how_it_ended(running: Place) -> None:
    command(running, "echo out; echo err >&2; exit 3")
    ended(running)
    result = running.run("logs", "silver-orders")
    assert sorted(result.stdout.splitlines()) == ["err", "out"]
    assert result.exit_code == 0  # it was only looked at
    assert "attempt 0: failed, exit code 3" in result.stderr
    assert running.run("logs", "silver-orders", running.today, "--stdout").stdout == "out\n"
    assert running.run("logs", "silver-orders", "--stderr", "--tail", "1").stdout == "err\n"


def test_as_json_it_is_one_document(running: Place) -> None:
    command(running, "seq 1 100")
    ended(running)
    found = running.json("logs", "silver-orders", "--tail", "2", "--stdout")
    assert found["text"] == "99\n100\n" and found["stream"] == "stdout"
    assert (found["state"], found["succeeded"], found["exitCode"]) == ("ended", True, 0)
    assert (found["attempt"], found["jobType"]) == (0, "command")


def test_more_than_one_answer_holds_is_printed_whole(running: Place) -> None:
    command(running, "seq 1 150000")
    ended(running)
    shown = running.run("logs", "silver-orders", "--stdout")
    assert shown.stdout == "".join(f"{number}\n" for number in range(1, 150001))


def test_what_is_no_longer_kept_is_said(running: Place) -> None:
    command(running, "head -c 4000000 /dev/zero | tr '\\0' x; echo; echo end")
    ended(running)
    result = running.run("logs", "silver-orders", "--stdout")
    assert result.stdout.endswith("x\nend\n") and len(result.stdout) <= 2 * 1024 * 1024
    assert "bytes are no longer kept]" in result.stderr


@pytest.mark.parametrize(("code", "exits"), [(0, 0), (7, 1)])
def test_following_ends_with_the_job_and_tells_its_outcome(
    running: Place, code: int, exits: int
) -> None:
    command(running, f"echo one; sleep 1.5; echo two; exit {code}")
    result = running.run("logs", "silver-orders", "--follow")
    assert result.stdout == "one\ntwo\n" and result.exit_code == exits


def test_following_as_json_gives_a_document_a_line(running: Place) -> None:
    command(running, "echo one; sleep 1; echo two")
    result = running.run("logs", "silver-orders", "--follow", "--json")
    parts = [json.loads(line) for line in result.stdout.splitlines()]
    assert "".join(part["text"] for part in parts) == "one\ntwo\n"
    assert parts[-1]["state"] == "ended" and result.exit_code == 0


def test_a_server_is_asked_in_the_same_way(place: Place) -> None:
    place.scripts["silver-orders"] = (JobScript(after="20h"),)
    place.catch_up()
    place.put(count=1940)
    command(place, "echo one; sleep 1; echo two; exit 1")
    with served(place) as server:
        result = place.run("logs", "silver-orders", "--follow", INTERLOCK_URL=server.url)
    assert result.stdout == "one\ntwo\n" and result.exit_code == 1


def test_a_date_whose_job_has_not_started_says_so(place: Place) -> None:
    place.put(count=3)
    result = place.run("logs", "silver-orders")
    assert result.exit_code == 0 and "the job has not started" in result.stderr


def test_a_folder_that_was_removed_is_no_error(running: Place) -> None:
    result = running.run("logs", "silver-orders")
    assert "its output is no longer kept" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "there is no pipeline nothing"),
        (["silver-orders", "2020-01-01"], "silver-orders has no run of 2020-01-01"),
        (["silver-orders", "--attempt", "4"], "has no attempt 4: the last is attempt 0"),
        (["silver-orders", "--schedule", "other"], "silver-orders has no run yet"),
    ],
)
def test_what_is_not_there_is_named(running: Place, arguments: list[str], said: str) -> None:
    result = running.run("logs", *arguments)
    assert isinstance(result.exception, NotFoundError) and said in str(result.exception)


def test_an_earlier_attempt_keeps_its_own_output(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.scripts["silver-orders"] = (
        JobScript(after="1m", result=JobResult.FAIL),
        JobScript(after="20h"),
    )
    place.declare(ORDERS.replace('["true"]}}', '["true"]}, maxRetries: 1}'))
    place.put(count=1940)
    command(place, "echo first; exit 1")
    ended(place)
    place.wait(minutes=10)
    command(place, "echo second; sleep 20")
    assert place.run("logs", "silver-orders", "--attempt", "0").stdout == "first\n"
    found = place.json("logs", "silver-orders")
    assert (found["attempt"], found["state"], found["text"]) == (1, "running", "second\n")
    _end(place)


def _end(place: Place) -> None:
    def act(home: LocalBackend) -> None:
        for path in (place.settings.state / "jobs").iterdir():
            JobFolder(place.settings.state, path.name).ask_to_end()

    place.happen(act)


def test_one_document_has_all_that_is_kept_of_a_long_output(running: Place) -> None:
    command(running, "seq 1 100000")
    ended(running)
    found = running.json("logs", "silver-orders", "--stdout")
    assert found["text"].splitlines() == [str(number) for number in range(1, 100_001)]
    assert (found["start"], found["end"]) == (0, found["size"])


def test_fewer_last_lines_than_asked_for_are_no_secret(running: Place) -> None:
    command(running, "for n in 1 2 3 4 5; do head -c 100000 /dev/zero | tr '\\0' x; echo; done")
    ended(running)
    shown = running.run("logs", "silver-orders", "--tail", "5")
    assert "lines fit; without --tail, all are shown]" in shown.stderr
    assert "lines fit" not in running.run("logs", "silver-orders", "--tail", "2").stderr
