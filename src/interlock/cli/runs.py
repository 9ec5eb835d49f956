"""Runs: the history of runs."""

from collections.abc import Sequence
from datetime import datetime
from itertools import chain
from typing import Any

import click
import msgspec

from interlock.cli.backend import AWS, looking
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.paged import all_of, first_of, limit_option, say_more
from interlock.cli.shown import (
    STATES,
    StyledText,
    brief,
    document,
    now,
    state,
    table,
    took,
)
from interlock.domain.marking import is_marked
from interlock.domain.run import Run
from interlock.operations.queries import Queries
from interlock.operations.requests import Paging, RunsQuery
from interlock.queries.paging import Page


@click.command("runs")
@click.argument("pipeline", required=False)
@click.option("--since", default="0000", metavar="DATE", help="From this date.")
@click.option(
    "--until", default="9999", metavar="DATE", help="Up to this date, including its hours."
)
@click.option(
    "--status",
    type=click.Choice([word for word, _ in STATES.values() if word != "no run"]),
    help="Only runs in this state.",
)
@limit_option(30)
@json_option(list[Run])
@click.pass_obj
def command(
    options: Options,
    pipeline: str | None,
    since: str,
    until: str,
    status: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """List the runs of PIPELINE, or of all pipelines, newest dates first."""
    state_wanted: Any = next((name for name, (word, _) in STATES.items() if word == status), None)
    with looking(options) as queries:
        wanted = RunsQuery(
            pipeline=pipeline, since=since, until=until, status=state_wanted, limit=limit
        )
        page = (
            _of_all(queries, wanted)
            if _is_scan(options, pipeline)
            else first_of(queries.runs, wanted)
        )
        runs = page.items
        if pipeline is not None and not runs:
            queries.config(pipeline)  # an unknown pipeline is an error
    if as_json:
        document(runs)
    elif runs:
        _show(runs)
    else:
        click.echo("no runs")
    say_more(page, "PIPELINE, --status, --since or --until")


def _show(runs: Sequence[Run]) -> None:
    at = now()
    heads = ("PIPELINE", "DATE", "STATE", "TRY", "OPENED UTC", "TOOK", "SLA")
    table(heads, [_row(run, at) for run in runs], folds=("PIPELINE", "DATE"))


def _is_scan(options: Options, pipeline: str | None) -> bool:
    """On AWS no index leads to the newest runs of all pipelines: each is asked for its own."""
    return options.backend == AWS and pipeline is None


def _of_all(queries: Queries, wanted: RunsQuery) -> Page[Run]:
    names = [each.id for each in all_of(queries.pipelines, Paging())]
    pages = [
        first_of(queries.runs, msgspec.structs.replace(wanted, pipeline=name)) for name in names
    ]
    found = chain.from_iterable(page.items for page in pages)
    newest = sorted(found, key=lambda run: run.key.date, reverse=True)
    is_more = len(newest) > wanted.limit or any(page.next is not None for page in pages)
    return Page(newest[: wanted.limit], "more" if is_more else None)


def _row(run: Run, at: datetime) -> tuple[str | StyledText, ...]:
    end = at if run.is_open else run.completed_at or run.changed_at
    return (
        run.key.pipeline_id,
        f"{run.key.date} (dry)" if run.key.dry else run.key.date,
        _state(run),
        str(run.attempt),
        "-" if run.is_bare else brief(run.opened_at),
        "-" if run.is_bare else took(run.opened_at, end),
        _verdict(run),
    )


def _state(run: Run) -> StyledText:
    """What a person stated is told apart from what a job did."""
    shown = state(run.state)
    by_hand = run.mark is not None and is_marked(run, run.mark.outcome)
    return StyledText(f"{shown.text} by hand", shown.style) if by_hand else shown


def _verdict(run: Run) -> StyledText:
    verdict = "-" if run.sla_verdict is None else run.sla_verdict.lower()
    return StyledText(verdict, {"met": "green", "breached": "red"}.get(verdict, ""))
