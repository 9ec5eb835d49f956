"""Doctor: is the installation well, and what mends it if not."""

import sys

import click

from interlock.cli.backend import acting, settings_of
from interlock.cli.checkup import Checkup, Finding, Level
from interlock.cli.exits import Exit
from interlock.cli.options import Options
from interlock.cli.shown import as_json_option, count, document, lines


@click.command("doctor")
@click.option("--retry", is_flag=True, help="Have changes that could not be handled tried again.")
@as_json_option
@click.pass_obj
def command(options: Options, retry: bool, as_json: bool) -> None:
    """Check the installation: each finding with its remedy. Exits 1 when something is wrong."""
    settings = settings_of(options)
    if retry:
        _retry(options)
    findings = Checkup(settings).findings()
    if as_json:
        document(findings)
    else:
        for finding in findings:
            _show(finding)
    wrong = any(finding.level is Level.WRONG for finding in findings)
    sys.exit(Exit.FOUND_PROBLEMS if wrong else Exit.FINE)


def _retry(options: Options) -> None:
    with acting(options) as home:
        home.note("retry", "parked changes")
        changes = count(home.act.retry_parked(), "change")
        when = "now" if home.served else "when `interlock serve` runs"
    click.echo(f"{changes} will be tried again {when}", err=True)


def _show(finding: Finding) -> None:
    lines(f"{finding.level:5} ", [finding.what], _COLOURS[finding.level])
    if finding.remedy:
        lines("      ", [finding.remedy])


_COLOURS = {Level.FINE: "green", Level.NOTE: "yellow", Level.WRONG: "red"}
