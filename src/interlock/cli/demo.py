"""Demo: a controller running in a temporary folder, with simulated sources."""

import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

import click

from interlock.cli.exits import Exit
from interlock.cli.progress import progress
from interlock.cli.shown import SEVERITIES, clock, count, lines, printable, today
from interlock.client import API, Client
from interlock.demo.demo_past import play_past
from interlock.demo.demo_project import write_project
from interlock.demo.demo_sources import failed_day, opening, play, reports
from interlock.demo.leftover_jobs import end_jobs
from interlock.errors import ConfigError, InterlockError
from interlock.runtime.server_address import find_address
from interlock.wiring.settings import Settings, read_settings

_START_SECONDS = 0.1
_LONGEST_WAIT = 5.0
_NEWS = frozenset({"JOB_COMPLETED", "RERUN_ACCEPTED"})


@click.command("demo")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: any free port.")
@click.option(
    "--days",
    type=click.IntRange(1, 14),
    default=2,
    show_default=True,
    help="How many days of history to play before the server starts.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Print every event, including routine ones."
)
@click.option("--stop-after", type=click.FloatRange(1), metavar="SECONDS", help="Stop by itself.")
def command(port: int, days: int, everything: bool, stop_after: float | None) -> None:
    """Watch a controller run ten pipelines, with sources that are sometimes wrong.

    It first plays the last days, at once, and then goes on in real time: two sources report every minute.
    One job hangs, one pipeline is paused, and one failed date waits for your decision. Everything lives in a
    temporary folder, which is removed when you stop the demo with Ctrl-C.
    """
    try:
        from interlock.web.serve import serve
    except ImportError as error:
        raise ConfigError("the demo needs: pip install 'interlock[server]'") from error
    with tempfile.TemporaryDirectory(prefix="interlock-demo-", ignore_cleanup_errors=True) as name:
        folder, now = Path(name), datetime.now(UTC)
        write_project(folder, now.date(), failed_day(now))
        settings = read_settings(folder, _environment(), port=port)
        _catch_up(settings, days, now)
        try:
            with _Stage(settings, now, everything, stop_after):
                interrupted = serve(
                    settings,
                    click.echo,
                    lambda severity, line: None,
                    greet=lambda: _greet(folder, now),
                )
        finally:
            end_jobs(settings.state)
    sys.exit(Exit.INTERRUPTED if interrupted else Exit.FINE)


def _catch_up(settings: Settings, days: int, now: datetime) -> None:
    since = now - timedelta(days=days)
    click.echo(f"Playing the last {count(days, 'day')} ...")
    began = time.monotonic()
    hours = days * 24
    with progress("hours", stride=1) as step:

        def told(at: datetime) -> None:
            if step is not None:
                step((at - since) // timedelta(hours=1), hours)

        play_past(settings, since, now, told)
    click.echo(f"Played in {time.monotonic() - began:.1f} s; from now on, the time is real.")


def _environment() -> dict[str, str]:
    """Our environment without the settings of another installation."""
    return {k: v for k, v in os.environ.items() if not k.startswith("INTERLOCK_")}


def _program() -> str:
    """The program as another terminal can call it: our virtual environment may not be on its PATH."""
    beside = Path(sys.executable).with_name("interlock")
    is_found = shutil.which("interlock") is not None or not beside.exists()
    return "interlock" if is_found else shlex.quote(str(beside))


def _greet(folder: Path, now: datetime) -> None:
    click.echo("Open that URL: the pages update live. There is something to find and to decide.")
    click.echo(f"Or, in another terminal: cd {shlex.quote(str(folder))}")
    failed, program = failed_day(now), _program()
    for what, command in (
        ("why an hour of coins waits, after hours of falling numbers", "why crypto-silver"),
        ("a job to watch, every minute", "logs fraud-scores --follow"),
        ("a job that hangs", f"cancel card-settlement {now.date()} --reason 'it hangs'"),
        ("a pipeline that is paused", "resume customer-export"),
        (
            "a date that failed, with its reruns used up",
            f"rerun invoices-report {failed} --over-budget --reason 'the tax table came'",
        ),
    ):
        click.echo(f"  # {what}\n  {program} {command}")
    click.echo()


class _Stage:
    """The sources and the event printer, running next to the server."""

    def __init__(
        self, settings: Settings, began: datetime, everything: bool, stop_after: float | None
    ) -> None:
        self._settings, self._began = settings, began
        self._everything, self._stop_after = everything, stop_after
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=work, name=f"demo-{name}", daemon=True)
            for name, work in (("sources", self._report), ("teller", self._tell))
        ]

    def __enter__(self) -> None:
        if self._stop_after is not None:
            timer = threading.Timer(self._stop_after, self._stop)
            timer.daemon = True
            timer.start()
        for thread in self._threads:
            thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(2.0)

    def _stop(self) -> None:
        """Stop the demo as Ctrl-C does, but as planned; not before the server listens to signals."""
        if self._client() is not None and not self._over.is_set():
            os.kill(os.getpid(), signal.SIGTERM)

    def _client(self) -> Client | None:
        """The client once the server is up; None if the demo ends before that."""
        while (left := find_address(self._settings.state)) is None:
            if self._over.wait(_START_SECONDS):
                return None
        return Client(left.url, left.token, tries=10)

    def _report(self) -> None:
        client = self._client()
        if client is None or not self._has_begun(client):
            return
        now = datetime.now(UTC)
        live = chain(opening(now), reports(self._began, self._began))
        self._guarded(lambda: play(live, client.put, _say_source, self._wait_until))

    def _wait_until(self, moment: datetime) -> bool:
        """Whether the demo is over by then. The clock may be set meanwhile, so it is looked at often."""
        while (left := (moment - datetime.now(UTC)).total_seconds()) > 0:
            if self._over.wait(min(left, _LONGEST_WAIT)):
                return True
        return self._over.is_set()

    def _has_begun(self, client: Client) -> bool:
        """Whether the server answers."""
        while not self._over.is_set():
            try:
                client.pipelines()
                return True
            except InterlockError:
                pass
            self._over.wait(_START_SECONDS)
        return False

    def _tell(self) -> None:
        client = self._client()
        if client is None:
            return
        place: str | None = None  # from now on
        while not self._over.is_set():
            try:
                for name, text in client.stream(f"{API}/events/stream", place):
                    place = name
                    event = json.loads(text)
                    if self._everything or _is_news(event):
                        _say_event(event)
            except InterlockError:
                self._over.wait(_START_SECONDS)

    def _guarded(self, act: Callable[[], object]) -> None:
        try:
            act()
        except InterlockError as error:
            if not self._over.is_set():
                click.echo(f"the sources stopped: {error}", err=True)


def _is_news(event: dict[str, str]) -> bool:
    """All runs begin alike; only how they end and what goes wrong is worth a line."""
    return event["severity"] != "info" or event["type"] in _NEWS


def _say_source(text: str) -> None:
    lines(f"{clock(datetime.now(UTC), on=today())}  source  ", [text], "blue")
    sys.stdout.flush()


def _say_event(event: dict[str, str]) -> None:
    who = " ".join(event[name] for name in ("pipelineId", "date") if name in event)
    colour = SEVERITIES.get(event["severity"], "").rpartition(" ")[2] or None
    at = clock(datetime.fromisoformat(event["timestamp"]), on=today())
    text = f"{event['type']} {who}: {event['message']}"
    lines(f"{at}  {event['severity']:7} ", [printable(text)], colour)
    sys.stdout.flush()
