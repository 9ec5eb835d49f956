"""Alert: routes, open alerts and what people do about them; and tests of the delivery."""

import os
import sys
from pathlib import Path

import click

from interlock.adapters.alerts.console import ConsoleAlerts
from interlock.adapters.alerts.sinks import sinks_of, slack_channel
from interlock.cli.backend import ReachedBackend, acting, looking
from interlock.cli.exits import Exit
from interlock.cli.file_problems import in_lines
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.shown import (
    SEVERITIES,
    StyledText,
    brief,
    document,
    printable,
    table,
)
from interlock.cli.typed_values import date_label
from interlock.domain.alerting.alert_rules import Alerts, with_sinks
from interlock.domain.alerting.deliveries import Posted
from interlock.domain.alerting.handling import Handling
from interlock.domain.alerting.threads import SYSTEM
from interlock.domain.alerting.trial import said, trial_note, trial_targets
from interlock.domain.event import Severity
from interlock.errors import ConfigError
from interlock.files import load_project
from interlock.operations.queries import Queries
from interlock.operations.requests import NewAcknowledgement, NewSnooze, NewUnsnooze
from interlock.queries.alert_overview import (
    AlertOverview,
    MuteShown,
    OpenAlert,
    RouteShown,
    SinkShown,
)
from interlock.wiring.local_backend import make_folder, utc_now
from interlock.wiring.open_jobs import open_secrets
from interlock.wiring.settings import read_settings

schedule_option = click.option(
    "--schedule", metavar="ID", help="If the pipeline has several schedules."
)
reason_option = click.option("--reason", required=True, help="Recorded with your name.")


@click.group("alert")
def command() -> None:
    """Show alert routes, acknowledge and snooze alerts, and test their delivery."""


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
    targets = trial_targets(alerts, route)
    make_folder(settings)
    console = ConsoleAlerts(settings.state, _show, settings.public_url)
    secrets = open_secrets(settings)
    sinks = sinks_of(alerts, settings, secrets, console, utc_now)
    note = trial_note(route, utc_now())
    answers = [sinks[each.sink].post(each.channel, note, None) for each in targets]
    for target, answer in zip(targets, answers, strict=True):
        click.echo(f"{target}: {printable(secrets.mask(said(answer) or 'sent'))}")
    good = all(isinstance(answer, Posted) for answer in answers)
    sys.exit(Exit.FINE if good else Exit.FOUND_PROBLEMS)


@command.command()
@json_option(AlertOverview)
@click.pass_obj
def routes(options: Options, as_json: bool) -> None:
    """Show the routes, mutes and sinks in force, and the alerts that are open."""
    with looking(options) as queries:
        overview = queries.alerting()
    if as_json:
        document(overview)
        return
    for part in (_routes, _mutes, _sinks, _open):
        part(overview)


@command.command()
@click.argument("pipeline")
@click.argument("date", type=date_label)
@schedule_option
@reason_option
@json_option(Handling)
@click.pass_obj
def ack(
    options: Options, pipeline: str, date: str, schedule: str | None, reason: str, as_json: bool
) -> None:
    """Acknowledge the alerts of DATE: you look after them, and they no longer escalate.

    A graver event, or a new attempt that fails, ends the acknowledgement and alerts again.
    """
    with acting(options) as backend:
        wanted = NewAcknowledgement(reason=reason)
        place = _place(backend.queries, pipeline, date, schedule)
        done = backend.commands.acknowledge(*place, wanted)
        _tell(backend, done, as_json, f"{pipeline} {date}: acknowledged")


@command.command()
@click.argument("pipeline")
@click.argument("date", type=date_label)
@click.option("--for", "span", required=True, metavar="SPAN", help="How long: 30m, 2h, up to 7d.")
@click.option("--include-critical", is_flag=True, help="Hold critical alerts as well.")
@schedule_option
@reason_option
@json_option(Handling)
@click.pass_obj
def snooze(
    options: Options,
    pipeline: str,
    date: str,
    span: str,
    include_critical: bool,
    schedule: str | None,
    reason: str,
    as_json: bool,
) -> None:
    """Hold further alerts of DATE for a while; then one summary follows, and what is still open.

    Critical alerts still go out, unless --include-critical is given.
    """
    with acting(options) as backend:
        wanted = NewSnooze(reason=reason, span=span, include_critical=include_critical)
        place = _place(backend.queries, pipeline, date, schedule)
        done = backend.commands.snooze(*place, wanted)
        assert done.snoozed is not None
        but = "" if include_critical else "\nCritical alerts still go out."
        until = f"{done.snoozed.until:%Y-%m-%d %H:%M} UTC"
        _tell(backend, done, as_json, f"{pipeline} {date}: snoozed until {until}{but}")


@command.command()
@click.argument("pipeline")
@click.argument("date", type=date_label)
@schedule_option
@reason_option
@json_option(Handling)
@click.pass_obj
def unsnooze(
    options: Options, pipeline: str, date: str, schedule: str | None, reason: str, as_json: bool
) -> None:
    """End the snooze of DATE: what it held is sent."""
    with acting(options) as backend:
        wanted = NewUnsnooze(reason=reason)
        place = _place(backend.queries, pipeline, date, schedule)
        done = backend.commands.unsnooze(*place, wanted)
        _tell(backend, done, as_json, f"{pipeline} {date}: no longer snoozed")


def _place(
    queries: Queries, pipeline: str, date: str, schedule: str | None
) -> tuple[str, str, str]:
    """The alerts that are meant: those of the schedule, of the only one, or of the one with open alerts."""
    if schedule is not None or pipeline == SYSTEM:
        return pipeline, schedule or "-", date
    ids = [each.id for each in queries.config(pipeline).pipeline.schedules]
    if len(ids) > 1:
        found = [
            each.schedule_id
            for each in queries.alerting().open
            if (each.pipeline_id, each.date) == (pipeline, date)
        ]
        if len(found) != 1:
            names = ", ".join(found or ids)
            raise ConfigError(f"{pipeline} {date}: choose one with --schedule: {names}")
        ids = found
    return pipeline, ids[0], date


def _tell(backend: ReachedBackend, done: Handling, as_json: bool, line: str) -> None:
    if as_json:
        document(done)
    else:
        click.echo(line)
    backend.say_if_unserved()


def _routes(overview: AlertOverview) -> None:
    where = overview.file or "the stored configuration"
    click.echo(f"routes, from {where}; what none takes goes to {overview.default}")
    rows = [
        (str(route.number), _line(route.line), route.match, _leads(route))
        for route in overview.routes
    ]
    if rows:
        table(("ROUTE", "LINE", "MATCHES", "LEADS TO"), rows, folds=("MATCHES", "LEADS TO"))


def _leads(route: RouteShown) -> str:
    steps = [f"after {step.after} {', '.join(step.to)}" for step in route.escalate]
    parts = [", ".join(route.to), *steps, "continues" if route.goes_on else ""]
    return "; ".join(part for part in parts if part)


def _mutes(overview: AlertOverview) -> None:
    rows = [
        (
            str(mute.number),
            _line(mute.line),
            mute.match,
            mute.when,
            _state(mute),
            mute.reason or "-",
        )
        for mute in overview.mutes
    ]
    if rows:
        click.echo()
        heads = ("MUTE", "LINE", "MATCHES", "WHEN", "NOW", "WHY")
        table(heads, rows, folds=("MATCHES", "WHEN", "WHY"))


def _state(mute: MuteShown) -> str:
    if mute.active_until is not None:
        return f"active until {brief(mute.active_until)}"
    return "over" if mute.next_at is None else f"next {brief(mute.next_at)}"


def _sinks(overview: AlertOverview) -> None:
    rows = [
        (
            f"{sink.name}{' (default)' if sink.is_default else ''}",
            _line(sink.line),
            sink.type,
            *_figures(sink),
        )
        for sink in overview.sinks
    ]
    if rows:
        click.echo()
        heads = ("SINK", "LINE", "TYPE", "LAST SENT", "LAST ERROR", "NOT SENT YET")
        table(heads, rows, folds=("LAST ERROR", "NOT SENT YET"))


def _figures(sink: SinkShown) -> tuple[str, str | StyledText, str]:
    figures = sink.figures
    if sink.is_disabled:
        return "-", StyledText("disabled until its settings change", "red"), "-"
    if figures is None:
        return "unknown", "unknown", "unknown"
    counts = {name: getattr(figures, name) for name in ("queued", "waiting", "held", "dead")}
    waiting = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    error = "" if figures.failed_at is None else f"{brief(figures.failed_at)} {figures.error}"
    sent = "never" if figures.sent_at is None else brief(figures.sent_at)
    return sent, StyledText(error or "-", "yellow" if error else ""), waiting or "-"


def _open(overview: AlertOverview) -> None:
    click.echo()
    if not overview.open:
        click.echo("no open alerts")
        return
    rows = [
        (
            f"{each.pipeline_id} {each.date}",
            each.schedule_id,
            StyledText(str(each.state), SEVERITIES[each.severity]),
            brief(each.since),
            _handled(each),
            each.message,
        )
        for each in overview.open
    ]
    heads = ("OPEN ALERT", "SCHEDULE", "STATE", "SINCE UTC", "HANDLED", "MESSAGE")
    table(heads, rows, folds=("HANDLED", "MESSAGE"))


def _handled(alert: OpenAlert) -> str:
    parts = []
    if alert.acknowledged is not None:
        parts.append(f"acknowledged by {alert.acknowledged.by}: {alert.acknowledged.reason}")
    if alert.snoozed is not None:
        parts.append(f"snoozed until {brief(alert.snoozed.until)}")
    return "; ".join(parts) or "-"


def _line(line: int | None) -> str:
    return "-" if line is None else str(line)


def _declared(options: Options) -> Alerts:
    project = load_project(options.project)
    wrong = [each for each in project.errors if Path(each.file).name == "alerts.yaml"]
    if wrong:
        in_lines(wrong, 1)
        sys.exit(Exit.FOUND_PROBLEMS)
    return project.alerts or Alerts()


def _show(severity: Severity, line: str) -> None:
    click.secho(line, fg=SEVERITIES[severity].rpartition(" ")[2] or None)
