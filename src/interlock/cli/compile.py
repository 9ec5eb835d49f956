"""Compile: a whole project as one validated JSON file."""

import os
import sys
import tempfile
from pathlib import Path

import click

from interlock.cli.exits import Exit
from interlock.cli.file_problems import in_lines
from interlock.cli.options import Options
from interlock.cli.progress import progress
from interlock.errors import ConfigError
from interlock.files import load_project
from interlock.files.compiled import compiled, obstacles


@click.command("compile")
@click.argument("path", required=False, type=click.Path(exists=True, path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write; - for standard output.",
)
@click.option(
    "--year",
    type=click.IntRange(1900, 9000),
    help="Include country holidays from the year before this one to ten years after; default: this year.",
)
@click.pass_obj
def command(options: Options, path: Path | None, output: Path, year: int | None) -> None:
    """Check the project at PATH and write its pipelines as canonical JSON.

    The same files and year give the same bytes. If there is any error, it writes nothing.
    """
    with progress("compile") as step:
        project = load_project(path or options.project, year, step)
    refused = (*project.errors, *obstacles(project))
    if refused:
        in_lines(refused, len(project.sources))
        sys.exit(Exit.FOUND_PROBLEMS)
    text = compiled(project)
    if str(output) == "-":
        click.echo(text, nl=False)
        return
    _write(output, text)
    click.echo(f"{output}: {len(project.pipelines)} pipelines")


def _write(path: Path, text: str) -> None:
    """Atomic: a reader never sees half a file."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8"
        ) as file:
            file.write(text)
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise ConfigError(f"can't write {path}: {error.strerror}") from error
