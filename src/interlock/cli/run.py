"""Run: one run from its first event to its last."""

import click

from interlock.cli.backend import looking
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.paged import run_of
from interlock.cli.shown import (
    SEVERITIES,
    StyledText,
    clock,
    document,
    lines,
    now,
    state,
    table,
    took,
)
from interlock.cli.typed_values import date_label
from interlock.domain.event import Event
from interlock.domain.run import Run, Status
from interlock.operations.queries import Queries
from interlock.operations.requests import OnDate
from interlock.operations.results import RunHistory


@click.command("run")
@click.argument("pipeline")
@click.argument("date", type=date_label, metavar="DATE")
@click.option("--schedule", metavar="ID", help="Which schedule, if the pipeline has several.")
@json_option(RunHistory)
@click.pass_obj
def command(
    options: Options, pipeline: str, date: str, schedule: str | None, as_json: bool
) -> None:
    """Show the timeline of PIPELINE's run of DATE."""
    with looking(options) as queries:
        found = run_of(queries, pipeline, date, schedule)
        run, events = found.run, found.events
        zone_name = _zone_of(run, queries)
    if as_json:
        document(found)
        return
    _show(run, zone_name)
    click.echo()
    heads = ("TIME", "TRY", "EVENT", "MESSAGE")
    table(heads, [_row(event, run, zone_name) for event in events], folds=("MESSAGE",))


def _zone_of(run: Run, queries: Queries) -> str:
    answers = queries.why(run.key.pipeline_id, OnDate(date=run.key.date)).items
    return next((a.timezone for a in answers if a.schedule_id == run.key.schedule_id), "UTC")


def _show(run: Run, zone_name: str) -> None:
    word, colour = state(run.state)
    name = f"{run.key.pipeline_id} {run.key.date} (schedule {run.key.schedule_id})"
    click.echo(f"{name}: {click.style(word, fg=colour or None)}, attempt {run.attempt}")
    if run.status is Status.UNREADABLE:
        problem = "" if run.failure is None else run.failure.message
        lines("", [f"its stored row can't be read: {problem}; see `interlock doctor`"])
        return
    opened = clock(run.opened_at, zone_name, run.key.date)
    said = f"opened {opened} by {run.opened_by} {run.opened_for}".rstrip()
    if run.launched_at is not None:
        end = run.completed_at or (now() if run.is_open else run.changed_at)
        said += f"; {run.job_type} job {run.run_id or ''} ran {took(run.launched_at, end)}"
    lines("", [said])
    for said_by_hand in (run.skip, run.mark):
        if said_by_hand is not None:
            at = clock(said_by_hand.at, zone_name, run.key.date)
            lines("", [f"{said_by_hand} ({at})"])
    if run.mark is not None and run.mark.evidence:
        known = ", ".join(f"{name}={text}" for name, text in run.mark.evidence.items())
        lines("", [f"evidence: {known}"])
    if run.failure is not None:
        lines("", [f"failed ({run.failure.reason}): {run.failure.message}"])
    if run.retry_at is not None:
        click.echo(f"retries at {clock(run.retry_at, zone_name, run.key.date)}")
    if run.sla_verdict is not None:
        click.echo(f"SLA {run.sla_verdict.lower()}")


def _row(event: Event, run: Run, zone_name: str) -> tuple[str | StyledText, ...]:
    return (
        clock(event.timestamp, zone_name, run.key.date),
        "-" if event.attempt is None else str(event.attempt),
        StyledText(event.type, SEVERITIES[event.severity]),
        event.message,
    )
