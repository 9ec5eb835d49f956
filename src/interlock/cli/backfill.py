"""Backfill: start a backfill, and follow it."""

import sys
from typing import NoReturn

import click
import msgspec

from interlock.cli.backend import ReachedBackend, acting
from interlock.cli.backfill_follower import BackfillFollower
from interlock.cli.exits import Exit, Interrupted
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.paged import all_of
from interlock.cli.shown import count, document, lines
from interlock.cli.typed_values import date_label
from interlock.domain.backfill import MOST_CONCURRENT
from interlock.errors import ConflictError, UnavailableError
from interlock.operations.requests import (
    BackfillDatesQuery,
    BackfillQuery,
    NewBackfill,
    NewBackfillTurn,
)
from interlock.queries.backfill_progress import BackfillDate, BackfillProgress

_DEFAULT = 2
#: How many dates the question before the start lists.
_LISTED = 5


class BackfillAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A backfill, and the outcome of every date. Without a backfill, there was no date to run."""

    backfill: BackfillProgress | None
    dates: list[BackfillDate]


class BackfillDates(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The dates that have no completed run."""

    pipeline_id: str
    dates: list[str]


@click.command("backfill")
@click.argument("pipeline")
@click.argument("first", type=date_label, metavar="FROM")
@click.argument("last", type=date_label, metavar="TO")
@click.option("--reason", help="Why; recorded with every date. Required, except with --dry-run.")
@click.option(
    "--max-concurrent",
    type=click.IntRange(1, MOST_CONCURRENT),
    help=f"How many dates may be at work at once.  [default: {_DEFAULT}]",
)
@click.option("--max-active", type=click.IntRange(1, MOST_CONCURRENT), hidden=True)
@click.option("--schedule", metavar="ID", help="Which schedule, if the pipeline has several.")
@click.option("--dry-run", is_flag=True, help="Only list the dates.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation on a terminal.")
@click.option("--detach", is_flag=True, help="Start it and return at once.")
@json_option(BackfillAnswer, others={"--dry-run": BackfillDates, "--detach": BackfillProgress})
@click.pass_obj
def command(
    options: Options,
    pipeline: str,
    first: str,
    last: str,
    reason: str | None,
    max_concurrent: int | None,
    max_active: int | None,
    schedule: str | None,
    dry_run: bool,
    yes: bool,
    detach: bool,
    as_json: bool,
) -> None:
    """Run every date of PIPELINE from FROM to TO that has not completed.

    The controller runs it, a few dates at a time, and this command follows it. Ctrl-C pauses it: dates that
    have begun run on. FROM and TO may be hours where the dates are hours; a day stands for all dates of it.
    Exits 1 when a date was refused or failed.
    """
    if not dry_run and not (reason and reason.strip()):
        raise click.UsageError("say why with --reason: it is recorded with every date")
    with acting(options) as backend:
        wanted = BackfillQuery(since=first, until=last, schedule=schedule)
        dates = backend.queries.backfill(pipeline, wanted).items
        if dry_run or not (dates or as_json):
            _list(pipeline, dates, as_json)
            return
        if not dates:
            _nothing(pipeline, as_json)
            return
        at_once = max_concurrent or max_active or _DEFAULT
        if not yes and not as_json and sys.stdin.isatty():
            _confirm(pipeline, dates, at_once)
        new = NewBackfill(
            since=first,
            until=last,
            schedule=schedule,
            max_concurrent=at_once,
            reason=reason or "",
        )
        begun = backend.commands.start_backfill(pipeline, new)
        if detach or not backend.served:
            _started(begun, options, as_json)
            backend.say_if_unserved()
            return
        ended = _follow(begun, backend, options, as_json)
    sys.exit(Exit.FINE if ended.completed == ended.dates else Exit.FOUND_PROBLEMS)


def _follow(
    begun: BackfillProgress, backend: ReachedBackend, options: Options, as_json: bool
) -> BackfillProgress:
    follower = BackfillFollower(begun, backend.queries, options, quiet=as_json)
    try:
        ended = follower.follow()
    except KeyboardInterrupt:
        _interrupt(begun.id, backend, options)
    except UnavailableError as error:
        raise UnavailableError(
            f"{error}\nThe backfill goes on without this command:"
            f" `{options.command} backfills show {begun.id}`"
        ) from error
    if as_json:
        dates = all_of(lambda page: backend.queries.backfill_dates(ended.id, page), _ALL)
        document(BackfillAnswer(backfill=ended, dates=dates))
    else:
        click.echo(follower.summary(ended))
    return ended


_ALL = BackfillDatesQuery()


def _interrupt(backfill_id: str, backend: ReachedBackend, options: Options) -> NoReturn:
    """The first Ctrl-C asks the server to start no further date."""
    turn = NewBackfillTurn(reason="interrupted with Ctrl-C")
    try:
        paused = backend.commands.pause_backfill(backfill_id, turn)
    except ConflictError:
        raise Interrupted("the backfill was over already") from None
    raise Interrupted(
        f"{count(len(paused.active), 'date')} that began will run on;"
        f" `{options.command} backfills resume {backfill_id} --reason R` starts the other"
        f" {paused.waiting}"
    ) from None


def _confirm(pipeline: str, dates: list[str], at_once: int) -> None:
    named = dates if len(dates) <= _LISTED else [*dates[: _LISTED - 1], "...", dates[-1]]
    lines(f"{pipeline}: ", [", ".join(named)])
    click.confirm(f"Run {count(len(dates), 'date')}, {at_once} at once?", abort=True)


def _started(begun: BackfillProgress, options: Options, as_json: bool) -> None:
    if as_json:
        document(begun)
        return
    click.echo(f"{begun.pipeline_id}: backfill {begun.id} of {count(begun.dates, 'date')} started")
    click.echo(f"  {options.command} backfills show {begun.id}")


def _nothing(pipeline: str, as_json: bool) -> None:
    if as_json:
        document(BackfillAnswer(backfill=None, dates=[]))
        return
    click.echo(f"{pipeline}: nothing to run, every date of the range has completed")


def _list(pipeline: str, dates: list[str], as_json: bool) -> None:
    if as_json:
        document(BackfillDates(pipeline_id=pipeline, dates=dates))
        return
    click.echo(f"{pipeline}: {count(len(dates), 'date')} without a completed run")
    for date in dates:
        click.echo(f"  {date}")
