"""Rerun: ask for a date to run again, and hear whether that was granted."""

import sys

import click

from interlock.cli.backend import acting
from interlock.cli.exits import Exit
from interlock.cli.options import Options
from interlock.cli.rerun_answers import awaited, is_accepted
from interlock.cli.shown import as_json_option, document, lines
from interlock.cli.typed_values import date_label
from interlock.domain.event import Event
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.reruns import Cause
from interlock.operations.requests import NewRerun


@click.command("rerun")
@click.argument("pipeline")
@click.argument("date", type=date_label, metavar="DATE")
@click.option("--reason", default="manual", show_default=True, help="Why; kept with the attempt.")
@click.option("--force", is_flag=True, help="Even if nothing has changed since it succeeded.")
@click.option("--schedule", metavar="ID", help="Which schedule, where there are several.")
@click.option("--wait", type=float, default=5.0, show_default=True, help="Seconds for the answer.")
@as_json_option
@click.pass_obj
def command(
    options: Options,
    pipeline: str,
    date: str,
    reason: str,
    force: bool,
    schedule: str | None,
    wait: float,
    as_json: bool,
) -> None:
    """Ask for PIPELINE's DATE to run again. Exits 1 when that is refused."""
    with acting(options) as backend:
        wanted = NewRerun(date=date, schedule=schedule, reason=reason, force=force)
        request = backend.commands.rerun(pipeline, wanted)
        answer = awaited(request, backend.queries, wait) if backend.served else None
        if as_json:
            document({"request": request, "answer": answer})
        else:
            _show(request, answer, options.command if backend.served else None, wait)
        backend.say_if_unserved()
    refused = answer is not None and not is_accepted(answer)
    sys.exit(Exit.FOUND_PROBLEMS if refused else Exit.FINE)


def _show(request: RerunRequest, answer: Event | None, command: str | None, wait: float) -> None:
    """`command` is how one asks again, where somebody acts on the request."""
    name = f"{request.key.pipeline_id} {request.key.date}"
    if answer is None:
        click.echo(f"{name}: rerun requested")
        if command is not None:
            look = f"{command} events --pipeline {request.key.pipeline_id} --since 5m"
            said = f"no answer within {wait:g} s; a paused pipeline answers when it is resumed"
            lines("  ", [said, look])
        return
    lines(f"{name}: ", [answer.message])
    lines("  ", _more(answer))


def _more(answer: Event) -> list[str]:
    """What was spent of a budget, and what helps against a refusal."""
    detail = answer.detail
    spent = f"{detail.get('spent')} of {detail.get('max')}"
    if is_accepted(answer):
        budget = detail.get("budget")
        return [] if budget is None else [f"{str(budget).replace('_', ' ')}: {spent}"]
    hint = _REMEDIES.get(str(detail.get("cause")), detail.get("actionHint"))
    return [] if hint is None else [str(hint).format(spent=spent)]


#: By the cause of a refusal; for the others the event itself has a hint.
_REMEDIES: dict[str, str] = {
    Cause.NO_NEW_DATA: "--force runs it all the same",
    Cause.BUDGET: "manual reruns: {spent}; job.maxManualReruns in its file allows more",
}
