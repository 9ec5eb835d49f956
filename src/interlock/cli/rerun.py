"""Rerun: request that a date run again, and report whether that was accepted."""

import sys

import click
import msgspec

from interlock.cli.backend import acting
from interlock.cli.exits import Exit, interruptible
from interlock.cli.json_answers import json_option
from interlock.cli.many_dates import act_on_dates
from interlock.cli.options import Options
from interlock.cli.progress import working
from interlock.cli.rerun_answers import awaited, is_accepted
from interlock.cli.shown import document, lines
from interlock.cli.typed_values import date_label
from interlock.domain.event import Event
from interlock.domain.partition import Label
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.reruns import Cause
from interlock.operations.many_dates import dates_meant
from interlock.operations.queries import Queries
from interlock.operations.requests import NewDates, NewRerun
from interlock.operations.results import DateAnswer
from interlock.usecases.request_rerun import chosen_schedule


class RerunAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The request, and the event that answers it, if one came in time."""

    request: RerunRequest
    answer: Event | None


@click.command("rerun")
@click.argument("pipeline")
@click.argument("dates", type=date_label, nargs=-1, metavar="[DATE]...")
@click.option("--from", "since", type=date_label, metavar="DATE", help="First date of a range.")
@click.option("--to", "until", type=date_label, metavar="DATE", help="Last date of the range.")
@click.option(
    "--reason", default="manual", show_default=True, help="Why; recorded with the attempt."
)
@click.option("--over-budget", is_flag=True, help="Exceed the budget for reruns by hand.")
@click.option("--force", is_flag=True, help="Rerun even if nothing has changed since it succeeded.")
@click.option("--schedule", metavar="ID", help="Which schedule, if the pipeline has several.")
@click.option(
    "--wait", type=float, default=5.0, show_default=True, help="Seconds to wait for the answer."
)
@click.option("--dry-run", is_flag=True, help="Only show what would become of each date.")
@click.option("--yes", is_flag=True, help="Do not ask, however many dates there are.")
@json_option(RerunAnswer, others={"--dry-run": list[DateAnswer], "several dates": list[DateAnswer]})
@click.pass_obj
def command(
    options: Options,
    pipeline: str,
    dates: tuple[str, ...],
    since: str | None,
    until: str | None,
    reason: str,
    force: bool,
    over_budget: bool,
    schedule: str | None,
    wait: float,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Request that DATE of PIPELINE run again. Exits 1 when the request is rejected.

    With several dates, or with --from and --to, each date is a request of its own, and events answer them.
    """
    with acting(options) as backend:
        one = _only_date(backend.queries, pipeline, schedule, dates)
        if one is None or since or until or dry_run:
            many = NewDates(
                action="rerun",
                dates=dates,
                since=since,
                until=until,
                schedule=schedule,
                reason=reason,
                force=force,
                over_budget=over_budget,
            )
            act_on_dates(backend, pipeline, many, dry_run=dry_run, yes=yes, as_json=as_json)
            return
        wanted = NewRerun(
            date=one, schedule=schedule, reason=reason, force=force, over_budget=over_budget
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


def _only_date(
    queries: Queries, pipeline: str, schedule: str | None, dates: tuple[str, ...]
) -> str | None:
    """The one date that is meant; None if there are more, or none is named."""
    if len(dates) != 1:
        return None
    config = queries.config(pipeline)
    meant = dates_meant(config, chosen_schedule(config, schedule), Label.parse(dates[0]))
    return meant[0] if len(meant) == 1 else None


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
