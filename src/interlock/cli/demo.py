"""Demo: a controller running in a temporary folder, with simulated sources."""

import json
import os
import shlex
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from interlock.cli.exits import Exit
from interlock.cli.shown import SEVERITIES, lines, printable
from interlock.client import API, Client
from interlock.demo.demo_project import write_project
from interlock.demo.demo_sources import play, regions
from interlock.errors import ConfigError, InterlockError
from interlock.runtime.server_address import find_address
from interlock.wiring.settings import Settings, read_settings

_START_SECONDS = 0.1
_NEWS = frozenset({"JOB_COMPLETED", "RERUN_ACCEPTED"})


@click.command("demo")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: any free port.")
@click.option(
    "--hour-seconds",
    type=click.FloatRange(1, 3600),
    default=6.0,
    show_default=True,
    help="How long an hour of data lasts.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Print every event, including routine ones."
)
@click.option("--stop-after", type=click.FloatRange(1), metavar="SECONDS", help="Stop by itself.")
def command(port: int, hour_seconds: float, everything: bool, stop_after: float | None) -> None:
    """Watch a controller run four pipelines, with two sources that are sometimes wrong.

    Everything lives in a temporary folder, which is removed when you stop the demo with Ctrl-C.
    """
    try:
        from interlock.web.serve import serve
    except ImportError as error:
        raise ConfigError("the demo needs: pip install 'interlock[server]'") from error
    with tempfile.TemporaryDirectory(prefix="interlock-demo-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        write_project(folder, hour_seconds)
        settings = read_settings(folder, _environment(), port=port)
        with _Stage(settings, hour_seconds, everything, stop_after):
            interrupted = serve(
                settings,
                click.echo,
                lambda severity, line: None,
                greet=lambda: _greet(folder, hour_seconds),
            )
    sys.exit(Exit.INTERRUPTED if interrupted else Exit.FINE)


def _environment() -> dict[str, str]:
    """Our environment without the settings of another installation."""
    return {k: v for k, v in os.environ.items() if not k.startswith("INTERLOCK_")}


def _program() -> str:
    """The program as another terminal can call it: our virtual environment may not be on its PATH."""
    beside = Path(sys.executable).with_name("interlock")
    is_found = shutil.which("interlock") is not None or not beside.exists()
    return "interlock" if is_found else shlex.quote(str(beside))


def _greet(folder: Path, hour_seconds: float) -> None:
    click.echo("Open that URL: the pages update live.")
    look = f"{_program()} --project {shlex.quote(str(folder))}"
    click.echo("Two sources load bronze; silver and gold follow when their rules hold.")
    click.echo(f"An hour of data lasts {hour_seconds:g} s, a day {hour_seconds * 24 / 60:.1f} min.")
    click.echo("Or inspect it from another terminal:")
    for verb in ("status", "why crypto-silver", "why earthquake-silver", "runs", "doctor"):
        click.echo(f"  {look} {verb}")
    click.echo()


class _Stage:
    """The sources and the event printer, running next to the server."""

    def __init__(
        self, settings: Settings, hour_seconds: float, everything: bool, stop_after: float | None
    ) -> None:
        self._settings, self._hour_seconds = settings, hour_seconds
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
        """Stop the demo as Ctrl-C does, but as planned."""
        if not self._over.is_set():
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
        table = regions(datetime.now(UTC))
        yesterday = (datetime.now(UTC) - timedelta(days=1)).date()
        self._guarded(lambda: client.put(table.pipeline, table.key, table.fields))
        self._guarded(
            lambda: play(yesterday, self._hour_seconds, client.put, _say_source, self._over.wait)
        )

    def _has_begun(self, client: Client) -> bool:
        """Whether all four pipelines are in force."""
        while not self._over.is_set():
            try:
                if len(client.pipelines()) == 4:
                    return True
            except InterlockError:
                pass
            self._over.wait(_START_SECONDS)
        return False

    def _tell(self) -> None:
        client = self._client()
        if client is None:
            return
        place = "0"  # from the first event of the log
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
    stamp = datetime.now(UTC)
    lines(f"{stamp:%H:%M:%S}  source  ", [text], "blue")
    sys.stdout.flush()


def _say_event(event: dict[str, str]) -> None:
    who = " ".join(event[name] for name in ("pipelineId", "date") if name in event)
    colour = SEVERITIES.get(event["severity"], "").rpartition(" ")[2] or None
    at = event["timestamp"][11:19]
    text = f"{event['type']} {who}: {event['message']}"
    lines(f"{at}  {event['severity']:7} ", [printable(text)], colour)
    sys.stdout.flush()
