"""Runs: the history of runs."""

from datetime import datetime
from itertools import chain

import click
import msgspec

from interlock.cli.backend import AWS, looking
from interlock.cli.options import Options
from interlock.cli.paged import all_of
from interlock.cli.shown import (
    StyledText,
    age,
    as_json_option,
    brief,
    document,
    now,
    state,
    table,
    today,
)
from interlock.domain.run import Run
from interlock.operations.queries import Queries
from interlock.operations.requests import Paging, RunsQuery


@click.command("runs")
@click.argument("pipeline", required=False)
@click.option("--since", default="0000", metavar="DATE", help="From this date.")
@click.option(
    "--until", default="9999", metavar="DATE", help="Up to this date, including its hours."
)
@click.option("--limit", type=click.IntRange(1, 1000), default=30, show_default=True)
@as_json_option
@click.pass_obj
def command(
    options: Options, pipeline: str | None, since: str, until: str, limit: int, as_json: bool
) -> None:
    """List the runs of PIPELINE, or of all pipelines, newest dates first."""
    with looking(options) as queries:
        wanted = RunsQuery(pipeline=pipeline, since=since, until=until, limit=limit)
        runs = (
            _of_all(queries, wanted) if _is_scan(options, pipeline) else queries.runs(wanted).items
        )
        if pipeline is not None and not runs:
            queries.config(pipeline)  # an unknown pipeline is an error
    if as_json:
        document(runs)
        return
    if not runs:
        click.echo("no runs")
        return
    at, on = now(), today()
    heads = ("PIPELINE", "DATE", "STATE", "TRY", "OPENED UTC", "TOOK", "SLA")
    table(heads, [_row(run, at, on) for run in runs], folds=("PIPELINE",))


def _is_scan(options: Options, pipeline: str | None) -> bool:
    """On AWS no index leads to the newest runs of all pipelines: each is asked for its own."""
    return options.backend == AWS and pipeline is None


def _of_all(queries: Queries, wanted: RunsQuery) -> list[Run]:
    names = [each.id for each in all_of(queries.pipelines, Paging())]
    found = (queries.runs(msgspec.structs.replace(wanted, pipeline=name)).items for name in names)
    newest = sorted(chain.from_iterable(found), key=lambda run: run.key.date, reverse=True)
    return newest[: wanted.limit]


def _row(run: Run, at: datetime, on: str) -> tuple[str | StyledText, ...]:
    end = at if run.is_open else run.completed_at or run.changed_at
    return (
        run.key.pipeline_id,
        f"{run.key.date} (dry)" if run.key.dry else run.key.date,
        state(run.state),
        str(run.attempt),
        "-" if run.is_bare else brief(run.opened_at, on),
        "-" if run.is_bare else age(run.opened_at, end),
        _verdict(run),
    )


def _verdict(run: Run) -> StyledText:
    verdict = "-" if run.sla_verdict is None else run.sla_verdict.lower()
    return StyledText(verdict, {"met": "green", "breached": "red"}.get(verdict, ""))
