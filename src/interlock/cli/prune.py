"""Prune: remove data that is no longer needed, after showing it."""

import click
import msgspec

from interlock.cli.backend import acting, looking
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.progress import working
from interlock.cli.shown import count, document
from interlock.domain.partition import Label
from interlock.errors import ConfigError
from interlock.operations.requests import NewPrune, PruneQuery


class PruneAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """How many finished runs are old enough, and the rows that went, by table; none in a dry run."""

    runs: int
    removed: dict[str, int] | None


@click.command("prune")
@click.option(
    "--runs-before", metavar="DATE", help="Also remove finished runs of dates before this one."
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@json_option(PruneAnswer)
@click.pass_obj
def command(
    options: Options, runs_before: str | None, yes: bool, dry_run: bool, as_json: bool
) -> None:
    """Remove expired data (a server does that every hour), and old runs on request.

    Keeps unfinished runs, readings, and everything that decisions still need.
    """
    bound = None if runs_before is None else _day(runs_before)
    with working("counting what can go", quiet=as_json):
        runs = 0 if bound is None else _prunable(options, bound)
    if not as_json and bound is not None:
        click.echo(f"{count(runs, 'finished run')} of dates before {bound}")
    if dry_run:
        if as_json:
            document(PruneAnswer(runs=runs, removed=None))
        elif bound is None:
            click.echo("only expired data would go; add --runs-before DATE to remove old runs")
        return
    if runs and not yes and as_json:
        raise click.UsageError("--json can't ask for confirmation: add --yes or --dry-run")
    if runs and not yes:
        click.confirm("Remove them? Only a backup can restore them", abort=True)
    with working("removing", quiet=as_json):
        removed = _remove(options, bound if runs else None)
    if as_json:
        document(PruneAnswer(runs=runs, removed=removed))
        return
    gone = ", ".join(f"{number} {table}" for table, number in removed.items() if number)
    click.echo(f"removed: {gone or 'nothing had expired'}")


def _day(text: str) -> str:
    try:
        return Label.parse(text).day.isoformat()
    except ValueError as error:
        raise ConfigError(f"--runs-before: {error}") from error


def _prunable(options: Options, bound: str) -> int:
    with looking(options) as queries:
        return queries.prunable(PruneQuery(before=bound)).runs


def _remove(options: Options, bound: str | None) -> dict[str, int]:
    with acting(options) as backend:
        return backend.commands.prune(NewPrune(before=bound)).removed
