"""The commands against a real server: `serve` and `demo` as processes of their own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from cli.place import Place
from interlock.cli import app
from interlock.domain.check import Check
from interlock.runtime.server_address import Address, find_address
from interlock.wiring.local_backend import LocalBackend

pytest.importorskip("uvicorn")

ORDERS = """\
pipeline: {id: silver-orders}
schedule: {trigger: {key: orders, check: exists}, evaluation: {window: 1h, interval: 1s}}
validation: {rules: [{key: orders, check: gte, field: count, value: 1000}]}
job: {type: command, config: {command: [echo, done]}, maxManualReruns: 5}
"""
PATIENCE = 60.0


def environment(**more: str) -> dict[str, str]:
    own = {k: v for k, v in os.environ.items() if not k.startswith("INTERLOCK_")}
    return {**own, "COLUMNS": "80", "NO_COLOR": "1", **more}


class Served:
    """A project that a process serves."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def address(self) -> Address:
        until = time.monotonic() + PATIENCE
        while (found := find_address(self.folder / ".interlock")) is None:
            assert time.monotonic() < until, "the server does not start"
            time.sleep(0.05)
        return found

    def run(self, *arguments: str, code: int = 0, more: dict[str, str] | None = None) -> str:
        terminal = {"COLUMNS": "80", "NO_COLOR": "1", **(more or {})}
        done = CliRunner(env=terminal).invoke(app, ["--project", str(self.folder), *arguments])
        assert done.exit_code == code, (done.output, done.exception)
        assert "--json" in arguments or all(len(line) <= 80 for line in done.stdout.splitlines())
        return done.output

    def until(self, *arguments: str, shows: str) -> str:
        until = time.monotonic() + PATIENCE
        while shows not in (shown := self.run(*arguments)):
            assert time.monotonic() < until, shown
            time.sleep(0.1)
        return shown


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    (folder / "pipelines").mkdir()
    (folder / "pipelines/orders.yaml").write_text(ORDERS)
    process = subprocess.Popen(
        [sys.executable, "-m", "interlock", "--project", str(folder), "serve", "--port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
    try:
        served = Served(folder)
        assert served.address.url
        served.until("events", shows="CONFIG_ADOPTED")
        yield served
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


def test_a_reading_runs_its_date_and_every_command_sees_it(server: Served) -> None:
    shown = server.run(
        "sensor", "put", "silver-orders", "orders", "count=940", "--date", "2026-03-02"
    )
    assert "  opened\n" in shown
    server.until("why", "silver-orders", "2026-03-02", shows="orders.count is 940, needs >= 1000")
    server.run("sensor", "put", "silver-orders", "orders", "count=4200", "--date", "2026-03-02")
    server.until("run", "silver-orders", "2026-03-02", shows="JOB_COMPLETED")
    assert "silver-orders" in server.until("status", shows="done")
    assert "responds" in server.run("doctor")


def test_the_server_answers_reruns_backfills_and_pauses(server: Served) -> None:
    server.run("sensor", "put", "silver-orders", "orders", "count=4200")
    assert "rerun accepted: fixed" in server.run(
        "rerun", "silver-orders", "2026-03-05", "--reason", "fixed"
    )
    server.run("pause", "silver-orders", "--until", "1h")
    assert " paused " in server.run("status")
    assert "resumed" in server.run("resume", "silver-orders")
    assert "stale-triggers: nothing" in server.run("watchdog")
    dry = server.run("backfill", "silver-orders", "2026-03-05", "2026-03-06", "--dry-run")
    assert "2026-03-06" in dry


def test_the_server_keeps_house_when_asked_to(server: Served) -> None:
    server.run("sensor", "put", "silver-orders", "orders", "count=4200", "--date", "2026-01-05")
    server.until("run", "silver-orders", "2026-01-05", shows="JOB_COMPLETED")
    old = ("prune", "--runs-before", "2026-02-01")
    assert "1 finished run" in server.run(*old, "--dry-run")
    assert "removed: 1 runs" in server.run(*old, "--yes")
    assert "0 finished runs" in server.run(*old, "--dry-run")
    assert "0 changes will be retried now" in server.run("doctor", "--retry")
    server.run("prune", "--runs-before", "soon", code=1)


def test_the_server_is_reached_from_elsewhere_by_its_address(
    server: Served, tmp_path: Path
) -> None:
    named = {"INTERLOCK_URL": server.address.url, "INTERLOCK_TOKEN": server.address.token}
    elsewhere = Served(tmp_path)
    for arguments in (
        ("status",),
        ("why", "silver-orders"),
        ("events", "--limit", "500"),
        ("sensor", "list", "silver-orders"),
        ("resume", "silver-orders", "--dry-run"),
        ("backfill", "silver-orders", "2026-01-01", "2026-01-02", "--dry-run"),
        ("watchdog",),
    ):
        assert json.loads(elsewhere.run(*arguments, "--json", more=named)) is not None
    refused = {**named, "INTERLOCK_TOKEN": "another-token-than-theirs"}
    elsewhere.run("runs", code=1, more=refused)


def test_a_version_in_force_stays_when_an_upgrade_refuses_its_file(tmp_path: Path) -> None:
    """An older program adopted rules that contradict each other; this one refuses the file."""
    place = Place(tmp_path)
    place.declare(ORDERS)
    file = tmp_path / "pipelines/silver-orders.yaml"
    rule = "{key: orders, check: gte, field: count, value: 1000}"
    wrong = rule.replace("gte", "lt").replace("1000", "5")
    file.write_text(file.read_text().replace(rule, f"{rule}, {wrong}"))

    def adopt_as_before(home: LocalBackend) -> None:
        config = home.store.pipelines.find("silver-orders")
        assert config is not None
        (good,) = config.pipeline.validation.rules
        other = msgspec.structs.replace(good, check=Check.LT, value=5)
        rules = msgspec.structs.replace(config.pipeline.validation, rules=(good, other))
        pipeline = msgspec.structs.replace(config.pipeline, validation=rules)
        stored = msgspec.structs.replace(config, pipeline=pipeline, version=config.version + 1)
        assert home.store.pipelines.save(stored, [])

    place.happen(adopt_as_before)
    place.catch_up()
    process = subprocess.Popen(
        [sys.executable, "-m", "interlock", "--project", str(tmp_path), "serve", "--port", "0"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment(),
    )
    try:
        served = Served(tmp_path)
        assert served.address.url
        shown = served.until("status", shows="1 file refused")
        assert "contradicts rule [0] in line" in " ".join(shown.split())
        assert "  opened\n" in served.run("sensor", "put", "silver-orders", "orders", "count=4200")
        served.until("why", "silver-orders", shows="count is 4200, needs < 5")
        served.until("events", shows="CONFIG_REJECTED")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)


def test_the_demo_shows_what_happens_and_leaves_nothing(tmp_path: Path) -> None:
    shown = tmp_path / "shown"
    folder = tmp_path / "temporary"
    folder.mkdir()
    with shown.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "interlock", "demo", "--days", "1"],
            stdout=output,
            stderr=output,
            env=environment(TMPDIR=str(folder)),
        )
    wanted = (
        "Playing the last 1 day ...",
        "from now on, the time is real",
        f"in another terminal: cd {folder}",
        "rerun invoices-report",
        "source  Cards: the settlement file of today",
    )
    try:
        until = time.monotonic() + PATIENCE
        while not all(each in shown.read_text() for each in wanted):
            assert process.poll() is None and time.monotonic() < until, shown.read_text()
            time.sleep(0.1)
        hung = _pid_of_the_hung_job(folder)
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE) == 130, shown.read_text()
    finally:
        process.kill()
        process.wait()
    assert list(folder.glob("interlock-demo-*")) == []
    with pytest.raises(ProcessLookupError):
        os.kill(hung, 0)


def _pid_of_the_hung_job(folder: Path) -> int:
    """Its script waits for a lock that is never released."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        for output in folder.glob("interlock-demo-*/.interlock/jobs/*/stdout"):
            if "waiting for the lock" in output.read_text():
                return int((output.parent / "pid").read_text().split()[0])
        time.sleep(0.1)
    raise AssertionError("no job hangs")
