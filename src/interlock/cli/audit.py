"""Audit: who asked for what, why, and what came of it."""

from datetime import datetime

import click

from interlock.cli.backend import looking
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.paged import first_of, limit_option, say_more
from interlock.cli.shown import StyledText, brief, document, table
from interlock.cli.typed_values import moment_past
from interlock.domain.callers import AuditEntry
from interlock.operations.requests import AuditQuery

_OUTCOMES = {"done": "green", "refused": "yellow", "failed": "red"}


@click.command("audit")
@click.option("--pipeline", metavar="ID", help="Only requests about this pipeline.")
@click.option("--actor", metavar="NAME", help="Only requests of this user or token.")
@click.option("--action", metavar="WORD", help="Only this action, such as pause or rerun.")
@click.option(
    "--since",
    type=moment_past,
    metavar="MOMENT",
    help="Only requests since then: 2h, 2026-03-03 or an instant.",
)
@click.option(
    "--until",
    type=moment_past,
    metavar="MOMENT",
    help="Only requests before then, in the same forms.",
)
@limit_option(50)
@json_option(list[AuditEntry])
@click.pass_obj
def command(
    options: Options,
    pipeline: str | None,
    actor: str | None,
    action: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    as_json: bool,
) -> None:
    """Show who asked for what, newest first: the reason, and whether it was done or refused."""
    query = AuditQuery(
        pipeline=pipeline, actor=actor, action=action, since=since, until=until, limit=limit
    )
    with looking(options) as queries:
        page = first_of(queries.audit, query)
        if pipeline is not None and not page.items:
            queries.config(pipeline)  # an unknown pipeline is an error
    if as_json:
        document(page.items)
    elif page.items:
        heads = ("TIME UTC", "WHO", "ACTION", "TARGET", "OUTCOME", "WHY")
        table(heads, map(_row, page.items), folds=("WHO", "TARGET", "OUTCOME", "WHY"))
    else:
        click.echo("no requests")
    say_more(page, "--pipeline, --actor, --action, --since or --until")


def _row(entry: AuditEntry) -> tuple[str | StyledText, ...]:
    return (
        brief(entry.at),
        entry.actor or "-",
        entry.action,
        entry.target,
        _outcome(entry),
        entry.reason or "-",
    )


def _outcome(entry: AuditEntry) -> StyledText:
    """`done`, or `refused: why`."""
    text = f"{entry.outcome}: {entry.problem}" if entry.problem else str(entry.outcome)
    return StyledText(text, _OUTCOMES.get(entry.outcome, ""))
