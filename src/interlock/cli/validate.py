"""Validate: every problem of every file, at once."""

import sys
from pathlib import Path

import click

from interlock.cli.exits import Exit
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
    places = paths or (Path(options.project),)
    with progress("validate") as step:
        project = load_project(places, progress=step)
    RENDERS[form](project.problems, len(project.sources))
    if not project.sources and not project.problems:
        _say_nothing_was_found(places)
        sys.exit(Exit.FOUND_PROBLEMS)
    sys.exit(Exit.FOUND_PROBLEMS if project.errors else Exit.FINE)


def _say_nothing_was_found(places: tuple[Path, ...]) -> None:
    click.echo(
        f"no pipeline files in {', '.join(map(str, places))}: "
        "a project has them in pipelines/*.yaml (interlock init writes one)",
        err=True,
    )
