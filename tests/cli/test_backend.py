"""Which home a command talks to, and what it says when there is none."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cli.place import Place
from cli.served import served
from interlock.adapters.sqlite.lock import serving
from interlock.cli import backend
from interlock.errors import ConfigError, NotFoundError, UnavailableError
from interlock.runtime.server_address import NAME as ADDRESS_FILE
from interlock.wiring.local_backend import open_local_backend
from tiny_server import Said, tiny_server

LOOKS = [
    ("status",),
    ("why", "silver-orders"),
    ("runs",),
    ("events",),
    ("sensor", "list", "silver-orders"),
]


@pytest.mark.parametrize("arguments", [*LOOKS, ("pause", "silver-orders"), ("backup", "x.db")])
def test_without_a_state_file_the_sentence_says_what_makes_one(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    result = Place(tmp_path).run(*arguments)
    assert isinstance(result.exception, UnavailableError)
    assert "`interlock serve` creates it" in str(result.exception)
    assert not (tmp_path / ".interlock").exists()


def test_the_exit_code_says_that_no_server_was_reached(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "interlock", "--project", str(tmp_path), "status"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("INTERLOCK_")}
    for extra in ({}, {"INTERLOCK_URL": "http://127.0.0.1:9"}):
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env={**environment, **extra}
        )
        assert done.returncode == 3
        assert done.stdout == "" and len(done.stderr.splitlines()) == 1


def test_a_running_server_is_written_through_and_says_what_it_led_to(place: Place) -> None:
    with served(place) as server:
        shown = place.shown("sensor", "put", "silver-orders", "orders", "count=4200")
    assert "  opened\n" in shown and "nothing acts" not in shown
    (asked,) = server.asked
    assert asked.query == {"wait": "decision"}
    assert asked.headers["Authorization"] == "Bearer left-for-commands"


def test_looking_needs_no_server_even_when_there_is_one(place: Place) -> None:
    with served(place) as server:
        for arguments in LOOKS:
            place.shown(*arguments)
    assert server.asked == []


def test_the_named_server_is_asked_for_everything(place: Place, tmp_path: Path) -> None:
    place.put(count=4200)
    elsewhere = Place(tmp_path / "elsewhere")
    with served(place, leaves_address=False) as server:
        for arguments in [*LOOKS, ("run", "silver-orders", place.today)]:
            there = elsewhere.shown(*arguments, INTERLOCK_URL=server.url)
            assert there.splitlines()[0] == place.shown(*arguments).splitlines()[0]
        assert "0 dates" in elsewhere.shown("resume", "silver-orders", INTERLOCK_URL=server.url)
        dates = ("2026-01-01", "2026-01-02", "--dry-run")
        shown = elsewhere.shown("backfill", "silver-orders", *dates, INTERLOCK_URL=server.url)
        assert "2 dates" in shown
        result = elsewhere.run("pause", "nope", INTERLOCK_URL=server.url)
        assert isinstance(result.exception, NotFoundError)


def test_a_named_server_and_the_file_say_the_same(place: Place) -> None:
    place.put(count=4200)
    with served(place, leaves_address=False) as server:
        for arguments in (("runs",), ("events",), ("sensor", "list", "silver-orders")):
            result = place.run(*arguments, "--json", INTERLOCK_URL=server.url)
            assert result.output == place.run(*arguments, "--json").output


def test_a_holder_that_names_no_address_is_waited_for_and_then_said(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "_PATIENCE", 0.1)
    with serving(place.state):
        result = place.run("pause", "silver-orders")
    assert isinstance(result.exception, UnavailableError)
    assert "is held by another process" in str(result.exception)
    assert "INTERLOCK_URL" in str(result.exception)


def test_another_command_at_work_is_waited_for(place: Place) -> None:
    held, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with serving(place.state):
            held.set()
            leave.wait(5)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(5)
    timer = threading.Timer(0.3, leave.set)
    timer.start()
    began = time.monotonic()
    assert "paused" in place.shown("pause", "silver-orders")
    assert time.monotonic() - began > 0.2
    thread.join()


def test_an_address_of_a_server_that_is_gone_is_not_used(place: Place) -> None:
    (place.settings.state / ADDRESS_FILE).write_text(
        '{"url": "http://127.0.0.1:9", "token": "x", "pid": 1}'
    )
    assert "nothing acts on it" in place.shown("sensor", "put", "silver-orders", "orders", "n=1")


def test_a_server_of_another_kind_is_recognised(tmp_path: Path) -> None:
    with tiny_server(lambda asked: Said({"items": [{"hello": 1}]})) as server:
        result = Place(tmp_path).run("runs", INTERLOCK_URL=server.url)
    assert isinstance(result.exception, UnavailableError)
    assert "of the same version" in str(result.exception)


def test_settings_that_are_wrong_are_said_with_their_file(place: Place) -> None:
    (place.folder / "interlock.toml").write_text("port = 'high'")
    result = place.run("status")
    assert isinstance(result.exception, ConfigError)
    assert "interlock.toml" in str(result.exception)


def test_what_is_asked_on_the_file_is_in_the_audit_log(place: Place) -> None:
    place.shown("pause", "silver-orders")
    place.shown("rerun", "silver-orders", "2026-03-03", "--reason", "fixed")
    with open_local_backend(place.settings) as home:
        noted = [(each.action, each.target, each.reason) for each in home.store.audit.newest(5)]
    assert noted == [
        ("rerun", "silver-orders/-/2026-03-03", "fixed"),
        ("pause", "silver-orders", ""),
    ]
