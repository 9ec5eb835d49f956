"""Validate: every problem of every file, at once."""

import sys
from pathlib import Path

import click

from interlock.cli.options import Options
from interlock.cli.problems import RENDERS
from interlock.cli.progress import progress
from interlock.files import load_project


@click.command("validate")
@click.argument(
    "paths", nargs=-1, metavar="[PATH]...", type=click.Path(exists=True, path_type=Path)
)
@click.option(
    "--format",
    "form",
    type=click.Choice([*RENDERS]),
    default="text",
    show_default=True,
    help="Lines for people, JSON, or annotations of GitHub.",
)
@click.pass_obj
def command(options: Options, paths: tuple[Path, ...], form: str) -> None:
    """Check pipeline and calendar files, or whole projects; without PATH the project.

    Warnings are shown and do not fail. Exits 1 when there are errors.
    """
    with progress("validate") as step:
        project = load_project(paths or [options.project], progress=step)
    files = len(project.sources)
    RENDERS[form](project.problems, files)
    if not files and not project.problems:
        places = ", ".join(map(str, paths or [options.project]))
        click.echo(
            f"no pipeline files in {places}: a project has them in pipelines/*.yaml "
            "(interlock init writes one)",
            err=True,
        )
        sys.exit(1)
    sys.exit(1 if project.errors else 0)
