"""Retire: confirm that a missing file was removed on purpose."""

import click

from interlock.cli.backend import acting
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.shown import document
from interlock.domain.config import Config
from interlock.errors import ConfigError


@click.command("retire")
@click.argument("pipelines", metavar="[PIPELINE]...", nargs=-1)
@click.option("--all-missing", is_flag=True, help="Every pipeline whose file is missing.")
@json_option(list[Config])
@click.pass_obj
def command(options: Options, pipelines: tuple[str, ...], all_missing: bool, as_json: bool) -> None:
    """Retire each PIPELINE whose file is missing, without waiting for its grace period to end.

    Running jobs continue to their end; due retries are dropped, each with an event.
    """
    if bool(pipelines) == all_missing:
        raise click.UsageError("name at least one pipeline, or use --all-missing")
    with acting(options) as backend:
        names = pipelines or tuple(each.pipeline_id for each in backend.queries.missing().items)
        if not names:
            raise ConfigError("no pipeline file is missing")
        retired = [backend.commands.retire(name) for name in names]
    if as_json:
        document(retired)
        return
    for name in names:
        click.echo(f"{name}: retired")
