"""Unskip: expect a skipped date again."""

import click

from interlock.cli.backend import acting
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.paged import run_of
from interlock.cli.shown import document
from interlock.cli.typed_values import date_label
from interlock.domain.run import Run
from interlock.operations.requests import NewUnskip


@click.command("unskip")
@click.argument("pipeline")
@click.argument("date", type=date_label)
@click.option("--schedule", metavar="ID", help="If the pipeline has several schedules.")
@click.option("--reason", required=True, help="Recorded with your name.")
@json_option(Run | None)
@click.pass_obj
def command(
    options: Options, pipeline: str, date: str, schedule: str | None, reason: str, as_json: bool
) -> None:
    """Undo the skip of DATE: it is expected again, and what is due for it is done.

    A run that had begun before it was skipped gets a further attempt, which no budget pays for.
    """
    with acting(options) as backend:
        key = run_of(backend.queries, pipeline, date, schedule).run.key
        wanted = NewUnskip(reason=reason)
        run = backend.commands.unskip(pipeline, key.schedule_id, key.date, wanted)
        if as_json:
            document(run)
            return
        again = "it is expected again" if run is None else f"attempt {run.attempt} is open"
        click.echo(f"{pipeline} {date}: no longer skipped; {again}")
        backend.say_if_unserved()
