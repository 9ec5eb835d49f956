"""Installed file: a text that another program reads, written to where that program looks for it."""

from pathlib import Path

import click

from interlock.errors import ConfigError


def install(path: Path, text: str, then: str) -> None:
    """Say where it is, and what is left to do. Raises ConfigError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"can't write {path}: {error.strerror}") from error
    click.echo(f"wrote {path}\n{then}")
