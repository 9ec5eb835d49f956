"""Alert: test the delivery of alerts."""

import os
import sys
from pathlib import Path

import click

from interlock.adapters.alerts.console import ConsoleAlerts
from interlock.adapters.alerts.sinks import sinks_of, slack_channel
from interlock.cli.exits import Exit
from interlock.cli.file_problems import in_lines
from interlock.cli.options import Options
from interlock.cli.shown import SEVERITIES, printable
from interlock.domain.alerting.alert_rules import Alerts, with_sinks
from interlock.domain.alerting.deliveries import Answer, Posted, Target
from interlock.domain.alerting.note import TrialNote
from interlock.domain.event import Severity
from interlock.errors import ConfigError
from interlock.files import load_project
from interlock.wiring.local_backend import make_folder, utc_now
from interlock.wiring.open_jobs import open_secrets
from interlock.wiring.settings import read_settings


@click.group("alert")
def command() -> None:
    """Test the delivery of alerts."""


@command.command()
@click.argument("route")
@click.pass_obj
def test(options: Options, route: str) -> None:
    """Send one test message through ROUTE and report the result.

    ROUTE is the number of a route in alerts.yaml (1 is the first), the name of a sink, SINK:CHANNEL,
    or `default`. Publishes no event. Exits 1 unless every message was delivered.
    """
    settings = read_settings(Path(options.project), os.environ)
    alerts = with_sinks(_declared(options), slack_channel(settings))
    targets = _targets(alerts, route)
    make_folder(settings)
    console = ConsoleAlerts(settings.state, _show, settings.public_url)
    secrets = open_secrets(settings)
    sinks = sinks_of(alerts, settings, secrets, console, utc_now)
    note = TrialNote(f"test alert through {route}: nothing is wrong", utc_now())
    answers = [sinks[each.sink].post(each.channel, note, None) for each in targets]
    for target, answer in zip(targets, answers, strict=True):
        click.echo(f"{target}: {printable(secrets.mask(_said(answer)))}")
    good = all(isinstance(answer, Posted) for answer in answers)
    sys.exit(Exit.FINE if good else Exit.FOUND_PROBLEMS)


def _declared(options: Options) -> Alerts:
    project = load_project(options.project)
    wrong = [each for each in project.errors if Path(each.file).name == "alerts.yaml"]
    if wrong:
        in_lines(wrong, 1)
        sys.exit(Exit.FOUND_PROBLEMS)
    return project.alerts or Alerts()


def _targets(alerts: Alerts, route: str) -> list[Target]:
    """Raises ConfigError that lists the available routes."""
    if route == "default":
        return [alerts.default_target]
    if route.isascii() and route.isdigit() and 1 <= int(route) <= len(alerts.routes):
        return [alerts.target(to.sink, to.channel) for to in alerts.routes[int(route) - 1].to]
    sink, _, channel = route.partition(":")
    if sink not in alerts.sinks or (not channel and sink not in alerts.usable):
        ways = [*map(str, range(1, len(alerts.routes) + 1)), *alerts.usable, "default"]
        raise ConfigError(f"unknown route {route}; available: {', '.join(ways)}")
    return [alerts.target(sink, channel or None)]


def _said(answer: Answer) -> str:
    if isinstance(answer, Posted):
        return "sent"
    return str(
        getattr(answer, "error", "the channel accepts no messages at the moment; try again later")
    )


def _show(severity: Severity, line: str) -> None:
    click.secho(line, fg=SEVERITIES[severity].rpartition(" ")[2] or None)
