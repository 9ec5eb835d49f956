"""Watchdog: one pass now, and what each check found."""

import sys
from datetime import datetime

import click

from interlock.cli.backend import acting
from interlock.cli.exits import Exit
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.progress import working
from interlock.cli.shown import clock, count, document, lines, today
from interlock.cli.typed_values import moment_past
from interlock.operations.requests import WatchQuery
from interlock.queries.watchdog_pass import WatchdogPass
from interlock.usecases.watchdog_checks import GUARDS


@click.command("watchdog")
@click.option(
    "--since",
    type=moment_past,
    metavar="MOMENT",
    help="Check from then on: 2026-03-03, 12h or an instant.",
)
@json_option(WatchdogPass)
@click.pass_obj
def command(options: Options, since: datetime | None, as_json: bool) -> None:
    """Run one pass of the watchdog now. Exits 1 when a check itself failed."""
    with acting(options) as backend:
        with working("one pass", quiet=as_json):
            found = backend.commands.watch(WatchQuery(since=since))
        if found is None:
            click.echo("another pass is in progress; try again in a moment", err=True)
            sys.exit(Exit.FOUND_PROBLEMS)
        if as_json:
            document(found)
        else:
            _show(found)
        if found.found:
            backend.say_if_unserved()
    sys.exit(Exit.FOUND_PROBLEMS if found.failures else Exit.FINE)


def _show(found: WatchdogPass) -> None:
    click.echo(f"pass at {clock(found.now, on=today())}: {count(len(found.found), 'finding')}")
    for check in GUARDS:
        here = [each for each in found.found if each.check == check]
        failed = [each for each in found.failures if each.check == check]
        if not here and not failed:
            click.echo(f"  {check}: nothing")
            continue
        click.echo(f"  {check}:")
        lines("    ", [f"{each.pipeline_id} {each.what}" for each in here])
        lines("    ", [f"FAILED for {each.pipeline}: {each.error}" for each in failed])
    others = [each for each in found.failures if each.check not in GUARDS]
    lines("  ", [f"{each.check} FAILED for {each.pipeline}: {each.error}" for each in others])
    if found.suspects:
        lines("  suspected, checked again: ", [", ".join(found.suspects)])
