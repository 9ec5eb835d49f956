"""Backfill: run a range of dates, a few at once."""

import sys
import time

import click
import msgspec

from interlock.cli.backend import ReachedBackend, acting
from interlock.cli.exits import Exit, interruptible
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.progress import progress
from interlock.cli.rerun_answers import awaited, is_accepted
from interlock.cli.shown import STATES, count, document, printable
from interlock.cli.typed_values import date_label
from interlock.domain.run import FINAL, Run, Status
from interlock.errors import UnavailableError
from interlock.operations.requests import BackfillQuery, NewRerun

_PAUSE = 0.5
_ANSWER_SECONDS = 10.0


class DateOutcome(msgspec.Struct, frozen=True):
    """The outcome of one date: the state of its run, or why it never started."""

    date: str
    how: str
    ok: bool


class BackfillAnswer(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The outcome of every date."""

    pipeline_id: str
    dates: list[DateOutcome]


class BackfillDates(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The dates that have no completed run."""

    pipeline_id: str
    dates: list[str]


@click.command("backfill")
@click.argument("pipeline")
@click.argument("first", type=date_label, metavar="FROM")
@click.argument("last", type=date_label, metavar="TO")
@click.option(
    "--max-active",
    type=click.IntRange(1, 100),
    default=2,
    show_default=True,
    help="How many dates run at once.",
)
@click.option("--schedule", metavar="ID", help="Which schedule, if the pipeline has several.")
@click.option("--dry-run", is_flag=True, help="Only list the dates.")
@json_option(BackfillAnswer, others={"--dry-run": BackfillDates})
@click.pass_obj
def command(
    options: Options,
    pipeline: str,
    first: str,
    last: str,
    max_active: int,
    schedule: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Run every date of PIPELINE from FROM to TO that has not completed.

    Waits for each date to end before starting another. If interrupted, started dates continue, and
    the same command picks up the rest. Exits 1 when a date was refused or failed.
    """
    with acting(options) as backend:
        wanted = BackfillQuery(since=first, until=last, schedule=schedule)
        dates = backend.queries.backfill(pipeline, wanted).items
        if dry_run:
            _list(pipeline, dates, as_json)
            return
        if not dates:
            _show([], pipeline, as_json)
            return
        if not backend.served:
            raise UnavailableError(
                "a backfill needs a running server to run its dates: start `interlock serve` first"
            )
        with interruptible("started dates continue; run the same command again for the rest"):
            ended = _Backfill(backend, pipeline, schedule, max_active, quiet=as_json).all(dates)
    _show(ended, pipeline, as_json)
    sys.exit(Exit.FINE if all(each.ok for each in ended) else Exit.FOUND_PROBLEMS)


def _show(ended: list[DateOutcome], pipeline: str, as_json: bool) -> None:
    if as_json:
        document(BackfillAnswer(pipeline_id=pipeline, dates=ended))
        return
    bad = sum(not each.ok for each in ended)
    click.echo(f"{pipeline}: {len(ended) - bad} done, {bad} not")


class _Backfill:
    """Dates waiting, dates running, dates ended."""

    def __init__(
        self,
        backend: ReachedBackend,
        pipeline: str,
        schedule: str | None,
        max_active: int,
        quiet: bool,
    ) -> None:
        self._backend, self._pipeline, self._schedule = backend, pipeline, schedule
        self._max_active, self._quiet = max_active, quiet
        self._active: dict[str, tuple[str, str]] = {}  # its schedule, and the state told last
        self._ended: list[DateOutcome] = []

    def all(self, dates: list[str]) -> list[DateOutcome]:
        waiting = list(dates)
        with progress("backfill", stride=1, quiet=self._quiet) as step:
            while waiting or self._active:
                while waiting and len(self._active) < self._max_active:
                    self._begin(waiting.pop(0))
                self._look()
                if step is not None:
                    step(len(self._ended), len(dates))
                if self._active:
                    time.sleep(_PAUSE)
        return self._ended

    def _begin(self, date: str) -> None:
        wanted = NewRerun(date=date, schedule=self._schedule, reason="backfill")
        request = self._backend.commands.rerun(self._pipeline, wanted)
        answer = awaited(request, self._backend.queries, _ANSWER_SECONDS)
        if answer is None:
            self._end(date, "no response; is the pipeline paused?", ok=False)
        elif not is_accepted(answer):
            self._end(date, answer.message, ok=False)
        else:
            self._active[date] = (request.key.schedule_id, "")
            self._tell(date, "accepted")

    def _look(self) -> None:
        for date, (schedule, told) in list(self._active.items()):
            run = self._backend.queries.run(self._pipeline, schedule, date).run
            word = STATES[run.status][0]
            if _is_over(run):
                del self._active[date]
                why = f": {run.failure.message}" if run.failure else ""
                self._end(date, word + why, ok=run.status is Status.COMPLETED)
            elif word != told:
                self._active[date] = (schedule, word)
                self._tell(date, word)

    def _end(self, date: str, how: str, ok: bool) -> None:
        self._ended.append(DateOutcome(date, how, ok))
        self._tell(date, how)

    def _tell(self, date: str, what: str) -> None:
        if not self._quiet:
            click.echo(f"{date}: {printable(what)}")


def _is_over(run: Run) -> bool:
    return run.status in FINAL or (run.status is Status.FAILED and not run.awaits_retry)


def _list(pipeline: str, dates: list[str], as_json: bool) -> None:
    if as_json:
        document(BackfillDates(pipeline_id=pipeline, dates=dates))
        return
    click.echo(f"{pipeline}: {count(len(dates), 'date')} without a completed run")
    for date in dates:
        click.echo(f"  {date}")
