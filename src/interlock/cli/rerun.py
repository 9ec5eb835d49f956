"""Rerun: request that a date run again, and report whether that was accepted."""

import sys

import click
import msgspec

from interlock.cli.backend import acting
from interlock.cli.exits import Exit, interruptible
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.progress import working
from interlock.cli.rerun_answers import awaited, is_accepted
from interlock.cli.shown import document, lines
from interlock.cli.typed_values import date_label
from interlock.domain.event import Event
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.reruns import Cause
from interlock.operations.requests import NewRerun


class RerunAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The request, and the event that answers it, if one came in time."""

    request: RerunRequest
    answer: Event | None


@click.command("rerun")
@click.argument("pipeline")
@click.argument("date", type=date_label, metavar="DATE")
@click.option(
    "--reason", default="manual", show_default=True, help="Why; recorded with the attempt."
)
@click.option("--over-budget", is_flag=True, help="Exceed the budget for reruns by hand.")
@click.option("--force", is_flag=True, help="Rerun even if nothing has changed since it succeeded.")
@click.option("--schedule", metavar="ID", help="Which schedule, if the pipeline has several.")
@click.option(
    "--wait", type=float, default=5.0, show_default=True, help="Seconds to wait for the answer."
)
@json_option(RerunAnswer)
@click.pass_obj
def command(
    options: Options,
    pipeline: str,
    date: str,
    reason: str,
    force: bool,
    over_budget: bool,
    schedule: str | None,
    wait: float,
    as_json: bool,
) -> None:
    """Request that DATE of PIPELINE run again. Exits 1 when the request is rejected."""
    with acting(options) as backend:
        wanted = NewRerun(
            date=date, schedule=schedule, reason=reason, force=force, over_budget=over_budget
        )
        request = backend.commands.rerun(pipeline, wanted)
        with interruptible("the request is stored"), working("waiting for the answer", as_json):
            answer = awaited(request, backend.queries, wait) if backend.served else None
        if as_json:
            document(RerunAnswer(request=request, answer=answer))
        else:
            _show(request, answer, options.command if backend.served else None, wait)
        backend.say_if_unserved()
    refused = answer is not None and not is_accepted(answer)
    sys.exit(Exit.FOUND_PROBLEMS if refused else Exit.FINE)


def _show(request: RerunRequest, answer: Event | None, command: str | None, wait: float) -> None:
    """`command` is the prefix of follow-up commands, if a controller is running to act on the request."""
    name = f"{request.key.pipeline_id} {request.key.date}"
    if answer is None:
        click.echo(f"{name}: rerun requested")
        if command is not None:
            look = f"{command} events --pipeline {request.key.pipeline_id} --since 5m"
            said = f"no answer within {wait:g} s; a paused pipeline answers once it is resumed"
            lines("  ", [said, look])
        return
    lines(f"{name}: ", [answer.message])
    lines("  ", _more(answer))


def _more(answer: Event) -> list[str]:
    """How much of a budget is spent, and how to get past a rejection."""
    detail = answer.detail
    spent = f"{detail.get('spent')} of {detail.get('max')}"
    if is_accepted(answer):
        budget = detail.get("budget")
        return [] if budget is None else [f"{str(budget).replace('_', ' ')}: {spent}"]
    hint = _REMEDIES.get(str(detail.get("cause")), detail.get("actionHint"))
    return [] if hint is None else [str(hint).format(spent=spent)]


#: By the cause of a rejection; for other causes, the event itself has a hint.
_REMEDIES: dict[str, str] = {
    Cause.NO_NEW_DATA: "add --force to run it anyway",
    Cause.BUDGET: "manual reruns: {spent}; add --over-budget to run it anyway",
}
