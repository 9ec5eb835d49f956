"""Serve: the whole controller in one process, until somebody stops it."""

import os
from pathlib import Path

import click

from interlock.cli.options import Options
from interlock.errors import ConfigError
from interlock.wiring.settings import read_settings


@click.command("serve")
@click.option("--host", metavar="ADDRESS", help="Where to listen; default: 127.0.0.1.")
@click.option(
    "--port", type=click.IntRange(0, 65535), help="Default: 8787; 0 takes any that is free."
)
@click.pass_obj
def command(options: Options, host: str | None, port: int | None) -> None:
    """Run the controller here: API, engine, timers, watchdog, alerts. SIGTERM stops it cleanly.

    Changed pipeline files are taken up by themselves; one that does not validate is refused, and the
    version before it stays in force.
    """
    try:
        from interlock.web.serve import serve
    except ImportError as error:
        raise ConfigError("serve needs: pip install 'interlock[server]'") from error
    project = Path(options.project)
    if not project.is_dir():
        raise ConfigError(f"there is no folder {project}: `interlock init {project}` makes one")
    settings = read_settings(project, os.environ, host=host, port=port)
    serve(settings, _say, _show, debug=options.debug)


def _say(line: str) -> None:
    click.echo(line)


def _show(severity: str, line: str) -> None:
    click.secho(line, fg=_COLOURS.get(severity))


_COLOURS = {"warning": "yellow", "error": "red", "critical": "bright_red"}
