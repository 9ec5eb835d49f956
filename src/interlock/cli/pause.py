"""Pause: pause a pipeline."""

from datetime import datetime

import click

from interlock.cli.backend import acting
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.shown import clock, document, now, span, today
from interlock.cli.typed_values import moment_ahead
from interlock.domain.config import Config
from interlock.errors import ConfigError
from interlock.operations.requests import NewPause


@click.command("pause")
@click.argument("pipeline")
@click.option(
    "--until",
    type=moment_ahead,
    metavar="MOMENT",
    help="When the pause ends by itself: 2h or an instant.",
)
@click.option("--reason", default="", help="Recorded with your name, and shown with the pause.")
@json_option(Config)
@click.pass_obj
def command(
    options: Options, pipeline: str, until: datetime | None, reason: str, as_json: bool
) -> None:
    """Pause PIPELINE: no run opens. Readings are kept, and SLA deadlines still apply."""
    if until is not None and until <= now():
        raise ConfigError("--until is in the past; give a future time, such as 2h")
    with acting(options) as backend:
        config = backend.commands.pause(pipeline, NewPause(until=until, reason=reason))
    if as_json:
        document(config)
        return
    click.echo(f"{pipeline}: paused {_end(config, options.command)}")


def _end(config: Config, command: str) -> str:
    until = config.paused_until
    if until is None:
        return f"until `{command} resume {config.pipeline.id}`"
    zone_name = config.pipeline.schedules[0].timezone
    return f"until {clock(until, zone_name, today(zone_name))} ({span(until, now())})"
