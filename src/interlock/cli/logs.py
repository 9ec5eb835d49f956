"""Logs: what the job of a run printed, and more of it as it comes."""

import sys
import time
from collections.abc import Iterator
from typing import Literal

import click
import msgspec

from interlock.cli.backend import AWS, looking
from interlock.cli.exits import Exit
from interlock.cli.json_answers import FOLLOW, json_option
from interlock.cli.options import Options
from interlock.cli.paged import run_of
from interlock.cli.shown import document, line, printable
from interlock.cli.typed_values import date_label
from interlock.domain.run import Run, RunKey
from interlock.errors import NotFoundError
from interlock.operations.queries import Queries
from interlock.operations.requests import MOST_LINES, OutputQuery, RunsQuery
from interlock.queries.run_output import RunOutput

#: How often a growing output is read, by backend.
_EVERY_SECONDS = {"local": 0.5, AWS: 5.0}
#: Among how many of the newest dates one is looked for whose job has started.
_LOOKED_AT = 20


@click.command("logs")
@click.argument("pipeline")
@click.argument("date", type=date_label, metavar="[DATE]", required=False)
@click.option("--schedule", metavar="ID", help="Which schedule, if the pipeline has several.")
@click.option("--attempt", type=click.IntRange(0), metavar="N", help="Default: the last started.")
@click.option("--follow", is_flag=True, help="Keep printing until the job ends.")
@click.option("--tail", type=click.IntRange(1, MOST_LINES), metavar="N", help="The last N lines.")
@click.option("--stdout", "stream", flag_value="stdout", help="Only the standard output.")
@click.option("--stderr", "stream", flag_value="stderr", help="Only the standard error.")
@json_option(RunOutput, others={FOLLOW: RunOutput})
@click.pass_obj
def command(
    options: Options,
    pipeline: str,
    date: str | None,
    schedule: str | None,
    attempt: int | None,
    follow: bool,
    tail: int | None,
    stream: Literal["stdout", "stderr"] | None,
    as_json: bool,
) -> None:
    """What the job of PIPELINE printed; without DATE, of the newest date whose job started.

    Of a job on another platform, it shows the address of its logs there. With --follow, exits with 1 if
    the job failed; with --follow and --json, prints one JSON document per line.
    """
    with looking(options) as queries:
        key = _wanted(queries, pipeline, date, schedule)
        query = OutputQuery(attempt=attempt, stream=stream or "both", tail=tail)
        parts = _parts(queries, key, query, _EVERY_SECONDS[options.backend], follow)
        if as_json and not follow:
            document(_joined(parts))
            return
        last = _print(parts, as_json, tail)
    if not as_json:
        _say_how_it_ended(last)
    if follow:
        sys.exit(Exit.FINE if last.succeeded else Exit.FOUND_PROBLEMS)


def _wanted(queries: Queries, pipeline: str, date: str | None, schedule: str | None) -> RunKey:
    """Raises NotFoundError."""
    if date is not None:
        return run_of(queries, pipeline, date, schedule).run.key
    runs = queries.runs(RunsQuery(pipeline=pipeline, limit=_LOOKED_AT)).items
    own = [run for run in runs if schedule in (None, run.key.schedule_id)]
    if not own:
        queries.config(pipeline)  # an unknown pipeline is an error
        raise NotFoundError(f"{pipeline} has no run yet")
    return next((run.key for run in own if _has_started(run)), own[0].key)


def _has_started(run: Run) -> bool:
    return run.launched_at is not None or run.attempt > 0


def _parts(
    queries: Queries, key: RunKey, query: OutputQuery, every: float, follow: bool
) -> Iterator[RunOutput]:
    """From the oldest byte that is kept, or the last lines, to the end of what there is, or of the job."""
    if query.tail is None:
        query = msgspec.structs.replace(query, offset=0)
    while True:
        found = queries.output(key.pipeline_id, key.schedule_id, key.date, query)
        yield found
        is_behind = found.end < found.size and found.text
        if not is_behind and (found.state == "ended" or not follow):
            return
        query = msgspec.structs.replace(
            query, offset=found.end, tail=None, attempt=_attempt(query, found)
        )
        if not is_behind:
            time.sleep(every)


def _attempt(query: OutputQuery, found: RunOutput) -> int | None:
    """The one that was begun with is followed to its end, whatever comes after it."""
    return query.attempt if found.state == "waiting" else found.attempt


def _joined(parts: Iterator[RunOutput]) -> RunOutput:
    """One document of all that is kept."""
    first, *more = parts
    if not more:
        return first
    text = "".join(part.text for part in (first, *more))
    return msgspec.structs.replace(more[-1], text=text, start=first.start)


def _print(parts: Iterator[RunOutput], as_json: bool, tail: int | None) -> RunOutput:
    end, last = 0, None
    for last in parts:
        if as_json:
            line(last)
            continue
        lost = last.start - end
        if end == 0 and tail is not None:
            _say_if_short(last, tail)
        if lost > 0 and last.start == last.kept_from:
            click.echo(f"[{lost} bytes are no longer kept]", err=True)
        click.echo(last.text, nl=False)
        end = last.end
    assert last is not None
    return last


def _say_if_short(first: RunOutput, tail: int) -> None:
    """One answer has a bound: long lines may leave fewer than were asked for."""
    lines = first.text.count("\n")
    if lines < tail - 1 and first.start > first.kept_from:
        click.echo(f"[only the last {lines} lines fit; without --tail, all are shown]", err=True)


def _say_how_it_ended(last: RunOutput) -> None:
    """On stderr: what the job printed stays alone on stdout."""
    said = [last.note, last.link or "", _ending(last)]
    for each in filter(None, said):
        click.echo(printable(each), err=True)


def _ending(last: RunOutput) -> str:
    name = f"{last.pipeline_id} {last.date}, attempt {last.attempt}"
    if last.state == "waiting":
        return ""
    if last.state == "running":
        return f"{name}: running"
    how = "succeeded" if last.succeeded else "failed"
    if last.signal is not None:
        return f"{name}: {how}, signal {last.signal}"
    return (
        f"{name}: {how}" if last.exit_code is None else f"{name}: {how}, exit code {last.exit_code}"
    )
