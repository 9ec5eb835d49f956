"""Man: the manual page, from the same declarations as the help; printed or installed."""

import os
from pathlib import Path

import click

from interlock.cli.installed_file import install as install_file

#: Where `man` looks by itself, below the data folder of the user.
_PLACE = "man/man1/interlock.1"


@click.command("man")
@click.option("--install", is_flag=True, help="Write the page to where man looks for it.")
def command(install: bool) -> None:
    """Print the manual page, for example: interlock man | man -l -

    With --install, `man interlock` shows it.
    """
    from interlock.cli import app
    from interlock.cli.manual import manual

    text = manual(app)
    if not install:
        click.echo(text, nl=False)
        return
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    install_file(Path(data) / _PLACE, text, "Now: man interlock")
