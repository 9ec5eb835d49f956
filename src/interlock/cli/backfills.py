"""Backfills: list them, and show, pause, resume or cancel one."""

from collections.abc import Sequence
from datetime import datetime

import click

from interlock.cli.backend import acting, looking
from interlock.cli.backfill import BackfillAnswer
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.paged import all_of, first_of, limit_option, say_more
from interlock.cli.shown import (
    StyledText,
    count,
    document,
    lines,
    now,
    span,
    table,
)
from interlock.operations.requests import BackfillDatesQuery, BackfillsQuery, NewBackfillTurn
from interlock.queries.backfill_progress import BackfillDate, BackfillProgress

_COLOURS = {
    "RUNNING": "cyan",
    "PAUSED": "yellow",
    "CANCELLED": "yellow",
    "DONE": "green",
    "requested": "cyan",
    "running": "cyan",
    "completed": "green",
    "failed": "red",
    "refused": "yellow",
}
_reason = click.option("--reason", required=True, help="Why; recorded with your name.")


@click.group("backfills", invoke_without_command=True)
@click.option("--pipeline", help="Only those of this pipeline.")
@limit_option(30)
@json_option(list[BackfillProgress])
@click.pass_context
def command(context: click.Context, pipeline: str | None, limit: int, as_json: bool) -> None:
    """List backfills, newest first; show, pause, resume or cancel one."""
    if context.invoked_subcommand is not None:
        return
    with looking(context.obj) as queries:
        page = first_of(queries.backfills, BackfillsQuery(pipeline=pipeline, limit=limit))
    if as_json:
        document(page.items)
    elif page.items:
        _list(page.items)
    else:
        click.echo("no backfills")
    say_more(page, "--pipeline")


def _list(found: Sequence[BackfillProgress]) -> None:
    heads = ("ID", "PIPELINE", "DATES", "STATE", "DONE", "BAD")
    table(heads, [_row(each) for each in found], folds=("PIPELINE", "DATES"))


@command.command("show")
@click.argument("backfill", metavar="ID")
@json_option(BackfillAnswer)
@click.pass_obj
def show(options: Options, backfill: str, as_json: bool) -> None:
    """Show how far a backfill has come, and what each of its dates is doing."""
    with looking(options) as queries:
        progress = queries.backfill_progress(backfill)
        dates = all_of(lambda page: queries.backfill_dates(backfill, page), BackfillDatesQuery())
    if as_json:
        document(BackfillAnswer(backfill=progress, dates=dates))
        return
    lines("", _facts(progress, now()))
    table(("DATE", "STATE", "WHY"), [_date(each) for each in dates], folds=("WHY",))


@command.command("pause")
@click.argument("backfill", metavar="ID")
@_reason
@json_option(BackfillProgress)
@click.pass_obj
def pause(options: Options, backfill: str, reason: str, as_json: bool) -> None:
    """Start no further date; dates that have begun run on."""
    with acting(options) as backend:
        done = backend.commands.pause_backfill(backfill, NewBackfillTurn(reason=reason))
    _turned(done, f"paused, {count(done.waiting, 'date')} waiting", as_json)


@command.command("resume")
@click.argument("backfill", metavar="ID")
@_reason
@json_option(BackfillProgress)
@click.pass_obj
def resume(options: Options, backfill: str, reason: str, as_json: bool) -> None:
    """Go on with a paused backfill."""
    with acting(options) as backend:
        done = backend.commands.resume_backfill(backfill, NewBackfillTurn(reason=reason))
        _turned(done, f"resumed, {count(done.waiting, 'date')} waiting", as_json)
        backend.say_if_unserved()


@command.command("cancel")
@click.argument("backfill", metavar="ID")
@_reason
@json_option(BackfillProgress)
@click.pass_obj
def cancel(options: Options, backfill: str, reason: str, as_json: bool) -> None:
    """End a backfill: its waiting dates never start; dates that have begun run on."""
    with acting(options) as backend:
        done = backend.commands.cancel_backfill(backfill, NewBackfillTurn(reason=reason))
    _turned(done, f"cancelled, {count(done.waiting, 'date')} will not start", as_json)


def _turned(done: BackfillProgress, words: str, as_json: bool) -> None:
    if as_json:
        document(done)
        return
    running = f"; {count(len(done.active), 'date')} that began will run on" if done.active else ""
    click.echo(f"{done.id}: {words}{running}")


def _row(each: BackfillProgress) -> tuple[str | StyledText, ...]:
    bad = each.failed + each.refused
    return (
        each.id,
        each.pipeline_id,
        f"{each.first} to {each.last}",
        _coloured(each.state, " (waits)" if each.waits_for else ""),
        f"{each.ended} of {each.dates}",
        StyledText(str(bad), "red") if bad else "-",
    )


def _facts(each: BackfillProgress, at: datetime) -> list[str]:
    who = f" by {each.requested_by}" if each.requested_by else ""
    changed = f" by {each.changed_by}" if each.changed_by else ""
    why = f" ({each.changed_for})" if each.changed_for else ""
    turned = each.changed_at != each.requested_at
    return [
        f"{each.pipeline_id} {each.schedule_id}: {each.first} to {each.last},"
        f" {each.max_concurrent} at once",
        f"started {span(each.requested_at, at)}{who} ({each.reason})",
        f"{each.state.lower()}{f' {span(each.changed_at, at)}{changed}{why}' if turned else ''}:"
        f" {each.ended} of {each.dates} done, {each.completed} completed, {each.failed} failed,"
        f" {each.refused} refused, {len(each.active)} at work, {each.waiting} waiting",
        *([f"waits: {each.waits_for}"] if each.waits_for else []),
    ]


def _date(each: BackfillDate) -> tuple[str | StyledText, ...]:
    return each.date, _coloured(each.state), each.why


def _coloured(state: str, more: str = "") -> StyledText:
    return StyledText(f"{state.lower()}{more}", _COLOURS.get(state, ""))
