"""Serve: the whole controller in one process, until it is stopped."""

import os
import sys
from pathlib import Path

import click

from interlock.cli.backend import AWS, check_folder
from interlock.cli.exits import Exit
from interlock.cli.options import Options
from interlock.cli.shown import printable
from interlock.errors import ConfigError
from interlock.wiring.settings import Settings, read_settings


@click.command("serve")
@click.option("--host", metavar="ADDRESS", help="Where to listen; default: 127.0.0.1.")
@click.option("--port", type=click.IntRange(0, 65535), help="Default: 8787; 0 picks a free port.")
@click.option(
    "--backend",
    type=click.Choice(["local", "aws"]),
    help="Same as the global option: the backend to serve.",
)
@click.option(
    "--read-only",
    is_flag=True,
    help="With --backend aws: serve its pages and queries; runs nothing here and writes nothing there.",
)
@click.pass_obj
def command(
    options: Options, host: str | None, port: int | None, backend: str | None, read_only: bool
) -> None:
    """Run the controller here: API, engine, timers, watchdog, alerts. SIGTERM and Ctrl-C stop it cleanly.

    The server picks up changed pipeline files by itself. It refuses an invalid file, and the
    previous version stays in force.
    """
    on_aws = (backend or options.backend) == AWS
    _check_use(on_aws, read_only)
    project = Path(options.project)
    check_folder(project)
    settings = read_settings(project, os.environ, host=host, port=port)
    interrupted = (_show_aws if on_aws else _serve)(settings, options.debug)
    sys.exit(Exit.INTERRUPTED if interrupted else Exit.FINE)


def _check_use(on_aws: bool, read_only: bool) -> None:
    if on_aws and not read_only:
        raise ConfigError(
            "on AWS the controller runs as Lambda functions, not in this process:"
            " `interlock serve --backend aws --read-only` shows its pages"
        )
    if read_only and not on_aws:
        raise ConfigError(
            "--read-only requires --backend aws; for read-only access to this backend, create a token:"
            " `interlock token create NAME --scope read`"
        )


def _serve(settings: Settings, debug: bool) -> bool:
    if settings.unset:
        names = ", ".join(settings.unset)
        raise ConfigError(f"interlock.toml: [[ping]] needs {names} in the environment of serve")
    try:
        from interlock.web.serve import serve
    except ImportError as error:
        raise ConfigError("serve needs: pip install 'interlock[server]'") from error
    return serve(settings, _say, _show, debug=debug)


def _show_aws(settings: Settings, debug: bool) -> bool:
    try:
        from interlock.web.serve_aws import show
    except ImportError as error:
        raise ConfigError(
            "serve --backend aws needs: pip install 'interlock[aws,server]'"
        ) from error
    return show(settings, _say, debug=debug)


def _say(line: str) -> None:
    click.echo(line)


def _show(severity: str, line: str) -> None:
    click.secho(printable(line), fg=_COLOURS.get(severity))


_COLOURS = {"warning": "yellow", "error": "red", "critical": "bright_red"}
