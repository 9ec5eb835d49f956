"""Man: the manual page, from the same declarations as the help; printed or installed."""

import os
from pathlib import Path

import click

from interlock.errors import ConfigError

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
    path = Path(data) / _PLACE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"can't write {path}: {error.strerror}") from error
    click.echo(f"wrote {path}\nNow: man interlock")
