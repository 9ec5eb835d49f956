"""Validate: report every problem of every file at once, and what the files would change."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from interlock.cli.exits import Exit
from interlock.cli.file_problems import RENDERS, FileReport
from interlock.cli.json_answers import AnswerOption
from interlock.cli.options import Options
from interlock.cli.progress import progress
from interlock.domain.edits import FileEdit
from interlock.files import Problem, Project, load_project

RUNNING = "running"


@click.command("validate")
@click.argument(
    "paths", nargs=-1, metavar="[PATH]...", type=click.Path(exists=True, path_type=Path)
)
@click.option(
    "--format",
    "form",
    cls=AnswerOption,
    answers={"": FileReport},
    type=click.Choice([*RENDERS]),
    default="text",
    show_default=True,
    help="Lines for people, JSON, or GitHub annotations.",
)
@click.option(
    "--against",
    type=click.Choice([RUNNING]),
    help="Also show what the files would change on the server, in the state file, or on AWS.",
)
@click.option("--strict", is_flag=True, help="Warnings fail the check as well.")
@click.pass_obj
def command(
    options: Options, paths: tuple[Path, ...], form: str, against: str | None, strict: bool
) -> None:
    """Check pipeline and calendar files, or whole projects with their interlock.toml; without PATH, the
    current project.

    Warnings are shown but don't fail the check, except with --strict. Exits 1 when there are errors.
    """
    places = paths or (Path(options.project),)
    with progress("validate", quiet=form != "text") as step:
        project = load_project(places, progress=step)
    changes = None if against is None else _foreseen(options, places, project)
    wrong = [problem for place in places for problem in _settings_problems(place)]
    problems = [*project.problems, *wrong]
    RENDERS[form](problems, len(project.sources), changes)
    if not project.sources and not problems:
        _say_nothing_was_found(places)
        sys.exit(Exit.FOUND_PROBLEMS)
    fails = any(problem.is_error or strict for problem in problems)
    sys.exit(Exit.FOUND_PROBLEMS if fails else Exit.FINE)


def _settings_problems(place: Path) -> Sequence[Problem]:
    """Of the settings of a project; of a file among others, none."""
    if not (place / "interlock.toml").is_file():
        return ()
    from interlock.cli.settings_check import settings_problems  # a file alone needs none of it

    return settings_problems(place)


def _foreseen(options: Options, places: tuple[Path, ...], project: Project) -> Sequence[FileEdit]:
    """The edits of the valid files. A pipeline without a file is listed only if every file was read."""
    from interlock.cli.backend import looking  # a plain validate needs none of it
    from interlock.domain import canonical
    from interlock.operations.requests import NewFiles

    documents = {name: canonical.as_json(each) for name, each in project.pipelines.items()}
    whole = not project.errors and all(place.is_dir() for place in places)
    with looking(options) as queries:
        return queries.foresee(NewFiles(pipelines=documents, whole=whole)).items


def _say_nothing_was_found(places: tuple[Path, ...]) -> None:
    click.echo(
        f"no pipeline files in {', '.join(map(str, places))}: "
        "a project keeps them in pipelines/*.yaml (interlock init writes an example)",
        err=True,
    )
