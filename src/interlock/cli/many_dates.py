"""Many dates: show what a command would do with each of several dates, ask, and do it."""

import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from interlock.cli.backend import ReachedBackend
from interlock.cli.exits import Exit
from interlock.cli.shown import StyledText, count, document, lines, printable, state, table
from interlock.operations.requests import NewDates
from interlock.operations.results import DateAnswer


def act_on_dates(
    backend: ReachedBackend,
    pipeline: str,
    wanted: NewDates,
    *,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """On a terminal, more than one date is shown and asked about first. Exits 1 when a date is refused."""
    foreseen = backend.queries.foresee_dates(pipeline, wanted).items
    if dry_run:
        _show(pipeline, foreseen, as_json)
        _exit(foreseen)
    if len(foreseen) > 1 and not yes and not as_json and sys.stdin.isatty():
        _table(foreseen)
        accepted = sum(each.accepted for each in foreseen)
        click.confirm(f"{wanted.action} {count(accepted, 'date')} of {pipeline}?", abort=True)
    answers = backend.commands.act_on_dates(pipeline, wanted).items
    _show(pipeline, answers, as_json)
    if wanted.action == "rerun":
        backend.say_if_unserved()
    _exit(answers)


def _show(pipeline: str, answers: Sequence[DateAnswer], as_json: bool) -> None:
    if as_json:
        document(answers)
    elif len(answers) == 1:
        lines("", [f"{pipeline} {answers[0].date}: {answers[0].text}"])
    else:
        _table(answers)
        refused = sum(not each.accepted for each in answers)
        click.echo(f"{count(len(answers) - refused, 'date')} accepted, {refused} refused")


def _exit(answers: Sequence[DateAnswer]) -> NoReturn:
    sys.exit(Exit.FINE if all(each.accepted for each in answers) else Exit.FOUND_PROBLEMS)


def _table(answers: Sequence[DateAnswer]) -> None:
    rows = [
        (each.date, state(each.state), StyledText(printable(each.text), _colour(each)))
        for each in answers
    ]
    table(("DATE", "STATE", "ANSWER"), rows, folds=("ANSWER",))


def _colour(answer: DateAnswer) -> str:
    return "" if answer.accepted else "red"
