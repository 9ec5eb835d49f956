"""Backup: a consistent copy of the state file, made while it is in use."""

from pathlib import Path

import click
import msgspec

from interlock.adapters.sqlite.backup import back_up
from interlock.cli.backend import file_for_reading, settings_of
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.progress import progress
from interlock.cli.shown import document
from interlock.errors import ConfigError


class BackupAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The copy, and its size."""

    file: str
    bytes: int


@click.command("backup")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@json_option(BackupAnswer)
@click.pass_obj
def command(options: Options, file: Path, force: bool, as_json: bool) -> None:
    """Copy a snapshot of the state to FILE while the server keeps running. The copy is verified first.
    An existing FILE is replaced only with --force.

    To restore: stop the server, replace the state file with the copy, start the server again.
    """
    settings = settings_of(options)
    if not file.parent.is_dir():
        raise ConfigError(f"{file.parent} is not a folder")
    with file_for_reading(settings) as backend, progress("backup", quiet=as_json) as step:
        if file.exists() and file.samefile(settings.database):
            raise ConfigError(f"{file} is the state file itself")
        if file.exists() and not force:
            raise ConfigError(f"{file} already exists: choose another name, or add --force")
        if step is None:
            back_up(backend.database, file)
        else:
            back_up(backend.database, file, lambda left, total: step(total - left, total))
    size = file.stat().st_size
    if as_json:
        document(BackupAnswer(file=str(file), bytes=size))
    else:
        click.echo(f"{file}: {size / 2**20:.1f} MiB, verified")
