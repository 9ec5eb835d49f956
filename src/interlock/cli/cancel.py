"""Cancel: end the run of a date and ask its job to stop."""

import click

from interlock.cli.backend import acting
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.paged import run_of
from interlock.cli.shown import document
from interlock.cli.typed_values import date_label
from interlock.domain.cancellation import Cancellation
from interlock.operations.requests import NewCancellation

_ASKED = {
    True: "; its job was asked to stop",
    False: "; its job can't be asked to stop, and may still be running",
    None: "",
}


@click.command("cancel")
@click.argument("pipeline")
@click.argument("date", type=date_label)
@click.option("--schedule", metavar="ID", help="If the pipeline has several schedules.")
@click.option("--reason", required=True, help="Recorded with your name.")
@json_option(Cancellation)
@click.pass_obj
def command(
    options: Options, pipeline: str, date: str, schedule: str | None, reason: str, as_json: bool
) -> None:
    """Cancel the run of DATE: its job is asked to stop, and no retry follows.

    A run that waits for its rules or for a retry can be cancelled too. Only a rerun opens the date again.
    """
    with acting(options) as backend:
        key = run_of(backend.queries, pipeline, date, schedule).run.key
        wanted = NewCancellation(reason=reason)
        done = backend.commands.cancel(pipeline, key.schedule_id, key.date, wanted)
    if as_json:
        document(done)
        return
    click.echo(f"{pipeline} {date}: cancelled{_ASKED[done.job_asked]}")
