"""Doctor: check the installation, and say how to fix it."""

import sys
from pathlib import Path

import click

from interlock.cli.backend import AWS, acting, check_folder, looking_at_aws, settings_of
from interlock.cli.checkup import Checkup, Finding, Level
from interlock.cli.exits import Exit
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.progress import working
from interlock.cli.shown import count, document, lines


@click.command("doctor")
@click.option("--retry", is_flag=True, help="Retry changes that could not be handled.")
@json_option(list[Finding])
@click.pass_obj
def command(options: Options, retry: bool, as_json: bool) -> None:
    """Check the installation: each finding with its remedy. Exits 1 when something is wrong."""
    with working("checking", quiet=as_json):
        findings = _on_aws(options, retry) if options.backend == AWS else _here(options, retry)
    if as_json:
        document(findings)
    else:
        for finding in findings:
            _show(finding)
    wrong = any(finding.level is Level.WRONG for finding in findings)
    sys.exit(Exit.FOUND_PROBLEMS if wrong else Exit.FINE)


def _here(options: Options, retry: bool) -> list[Finding]:
    settings = settings_of(options)
    check_folder(settings.project)
    if retry:
        _retry(options)
    return Checkup(settings).findings()


def _on_aws(options: Options, retry: bool) -> list[Finding]:
    with looking_at_aws(options) as (backend, queries):
        from interlock.cli.aws_checkup import AwsCheckup  # botocore is an extra

        findings = AwsCheckup(backend, queries, Path(options.project)).findings()
    if retry:
        click.echo(_NOTHING_PARKED, err=True)
    return findings


#: What AWS retries, and which part does it.
_NOTHING_PARKED = (
    "Nothing is parked on AWS, and nothing was retried: the watchdog makes up for a failed change from the"
    " tables (`interlock --backend aws watchdog` does it now). The dead-letter queues are listed here, each"
    " with its remedy."
)


def _retry(options: Options) -> None:
    with acting(options) as backend:
        changes = count(backend.commands.retry_parked().changes, "change")
        when = "now" if backend.served else "when `interlock serve` starts"
    click.echo(f"{changes} will be retried {when}", err=True)


def _show(finding: Finding) -> None:
    lines(f"{finding.level:5} ", [finding.what], _COLOURS[finding.level])
    if finding.remedy:
        lines("      ", [finding.remedy])


_COLOURS = {Level.FINE: "green", Level.NOTE: "yellow", Level.WRONG: "red"}
