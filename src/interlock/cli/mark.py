"""Mark: state the outcome of a run by hand."""

from typing import Any

import click

from interlock.cli.backend import acting
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.schedule_of import schedule_of
from interlock.cli.shown import document, lines
from interlock.cli.typed_values import date_label
from interlock.domain.run import MarkedAs, Run
from interlock.operations.requests import NewMark

_LEADS_TO = {
    MarkedAs.DONE: "pipelines that wait for it go on",
    MarkedAs.FAILED: "no retry follows, and runs that it opened downstream are not undone",
}


@click.command("mark")
@click.argument("pipeline")
@click.argument("date", type=date_label)
@click.argument("outcome", type=click.Choice([each.value for each in MarkedAs]))
@click.option("--schedule", metavar="ID", help="If the pipeline has several schedules.")
@click.option("--reason", required=True, help="Recorded with your name.")
@click.option(
    "--evidence",
    multiple=True,
    metavar="KEY=VALUE",
    help="What you know, kept on the run; may be repeated.",
)
@json_option(Run)
@click.pass_obj
def command(
    options: Options,
    pipeline: str,
    date: str,
    outcome: Any,
    schedule: str | None,
    reason: str,
    evidence: tuple[str, ...],
    as_json: bool,
) -> None:
    """State that the run of DATE is done, or has failed. Nothing is launched.

    A run whose job is running must be cancelled first. Only a rerun opens the date again.
    """
    with acting(options) as backend:
        name = schedule_of(backend.queries, pipeline, date, schedule)
        wanted = NewMark(outcome=outcome, reason=reason, evidence=dict(map(_pair, evidence)))
        run = backend.commands.mark(pipeline, name, date, wanted)
        if as_json:
            document(run)
            return
        lines("", [f"{pipeline} {date}: marked {outcome}; {_LEADS_TO[MarkedAs(outcome)]}"])


def _pair(text: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not mark or not name.strip():
        raise click.BadParameter(f"{text!r} is not KEY=VALUE", param_hint="--evidence")
    return name.strip(), value
