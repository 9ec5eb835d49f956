"""Skip: say that dates need not run."""

import click

from interlock.cli.backend import acting
from interlock.cli.json_answers import json_option
from interlock.cli.many_dates import act_on_dates
from interlock.cli.options import Options
from interlock.cli.schedule_of import schedule_of
from interlock.cli.typed_values import date_label
from interlock.operations.requests import NewDates
from interlock.operations.results import DateAnswer


@click.command("skip")
@click.argument("pipeline")
@click.argument("dates", type=date_label, nargs=-1, metavar="[DATE]...")
@click.option("--from", "since", type=date_label, metavar="DATE", help="First date of a range.")
@click.option("--to", "until", type=date_label, metavar="DATE", help="Last date of the range.")
@click.option("--schedule", metavar="ID", help="If the pipeline has several schedules.")
@click.option("--reason", required=True, help="Recorded with your name.")
@click.option("--dry-run", is_flag=True, help="Only show what would become of each date.")
@click.option("--yes", is_flag=True, help="Do not ask, however many dates there are.")
@json_option(list[DateAnswer])
@click.pass_obj
def command(
    options: Options,
    pipeline: str,
    dates: tuple[str, ...],
    since: str | None,
    until: str | None,
    schedule: str | None,
    reason: str,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Say that DATE need not run: nothing opens, retries or reports it until `unskip` undoes that.

    A future date can be skipped too. A run whose job is running must be cancelled first. With --from and
    --to, all dates that the schedule expects in that range are skipped; a day means its expected dates.
    Exits 1 when a date is refused.
    """
    with acting(options) as backend:
        first = dates[0] if dates else since or ""
        wanted = NewDates(
            action="skip",
            dates=dates,
            since=since,
            until=until,
            schedule=schedule_of(backend.queries, pipeline, first, schedule),
            reason=reason,
        )
        act_on_dates(backend, pipeline, wanted, dry_run=dry_run, yes=yes, as_json=as_json)
