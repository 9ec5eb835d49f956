"""File problems: printed as lines for people, as JSON, or as GitHub annotations."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import click
import msgspec

from interlock.cli.shown import printable
from interlock.domain import canonical
from interlock.domain.edits import FileEdit
from interlock.files import Problem


class FileReport(msgspec.Struct, frozen=True, kw_only=True):
    """How many files there are, their problems, and, with --against, what they would change."""

    files: int
    errors: int
    warnings: int
    problems: list[Problem]
    changes: list[FileEdit] | msgspec.UnsetType = msgspec.UNSET


#: How much of a line is shown.
_WIDEST = 110

#: Problems, the number of files, and what they would change, where the caller asked for it.
Changes: TypeAlias = Sequence[FileEdit] | None
Render: TypeAlias = Callable[[Sequence[Problem], int, Changes], None]


def in_lines(problems: Sequence[Problem], files: int, changes: Changes = None) -> None:
    """One line each, on a terminal with the line of the file; then a summary, then what would change."""
    for problem in problems:
        click.echo(_coloured(problem))
        if sys.stdout.isatty():
            _show_line(problem)
    click.echo(summary(problems, files))
    _tell_changes(changes)


def _show_line(problem: Problem) -> None:
    for line in frame(problem):
        click.secho(printable(line), dim=True)


def frame(problem: Problem) -> list[str]:
    """The line of the file, and a caret below the place; nothing if it can't be read."""
    try:
        text = Path(problem.file).read_text(encoding="utf-8").split("\n")[problem.line - 1]
    except (OSError, ValueError, IndexError):
        return []
    if not problem.line:
        return []
    shown = text.expandtabs(1).rstrip()[:_WIDEST]
    number = f"{problem.line:5} | "
    caret = " " * (len(number) + max(0, min(problem.column, _WIDEST) - 1)) + "^"
    return [f"{number}{shown}", caret]


def _tell_changes(changes: Changes) -> None:
    for change in changes or ():
        click.echo(f"{change.pipeline_id}: {change.change}")
        for line in change.lines:
            click.echo(f"  {printable(line)}")


def in_json(problems: Sequence[Problem], files: int, changes: Changes = None) -> None:
    errors = sum(problem.is_error for problem in problems)
    warnings = len(problems) - errors
    report = FileReport(
        files=files,
        errors=errors,
        warnings=warnings,
        problems=list(problems),
        changes=msgspec.UNSET if changes is None else list(changes),
    )
    click.echo(canonical.encode(report))


def for_github(problems: Sequence[Problem], files: int, changes: Changes = None) -> None:
    """Workflow commands: GitHub shows them beside the lines of the change."""
    for problem in problems:
        place = f"file={_property(problem.file)}"
        if problem.line:
            place += f",line={problem.line},col={problem.column}"
        said = f"{problem.message}; {problem.hint}" if problem.hint else problem.message
        text = f"{problem.path}: {said}" if problem.path else said
        click.echo(f"::{problem.severity} {place},title={problem.kind}::{_escaped(text)}")
    click.echo(summary(problems, files))
    _tell_changes(changes)


def summary(problems: Sequence[Problem], files: int) -> str:
    errors = sum(problem.is_error for problem in problems)
    warnings = len(problems) - errors
    return f"{_count(files, 'file')}: {_count(errors, 'error')}, {_count(warnings, 'warning')}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _coloured(problem: Problem) -> str:
    return click.style(printable(str(problem)), fg="red" if problem.is_error else "yellow")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")


RENDERS: dict[str, Render] = {"text": in_lines, "json": in_json, "github": for_github}
