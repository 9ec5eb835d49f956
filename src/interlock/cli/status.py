"""Status: every pipeline at a glance, what needs attention, and whether the watchdog is running."""

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime

import click
import msgspec

from interlock.cli.backend import AWS, looking
from interlock.cli.exits import Exit
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.paged import all_of
from interlock.cli.shown import (
    StyledText,
    age,
    clock,
    count,
    document,
    lines,
    now,
    pause_facts,
    span,
    state,
    table,
    today,
)
from interlock.domain import duration
from interlock.domain.config import RefusedConfig
from interlock.domain.missing import Missing
from interlock.domain.run import RETRYING
from interlock.operations.requests import Paging
from interlock.queries.heartbeat import Heartbeat
from interlock.queries.missing_files import missing_files
from interlock.queries.pipeline_state import PipelineState

_MOST_REASONS = 3


class WatchdogHealth(Heartbeat, frozen=True, rename="camel", kw_only=True):
    """The state of the watchdog, and whether its last good pass is too long ago."""

    late: bool = msgspec.field(name="isLate")


class StatusAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Everything at a glance."""

    pipelines: list[PipelineState]
    watchdog: WatchdogHealth
    refused: list[RefusedConfig]
    missing: list[Missing]


@click.command("status")
@json_option(StatusAnswer)
@click.pass_obj
def command(options: Options, as_json: bool) -> None:
    """Show all pipelines: their runs, what blocks them, what comes next, and their deadlines; and how many
    files are refused or missing.

    Exits 1 when the last good pass of the watchdog is older than three of its cadences.
    """
    with looking(options) as queries:
        pipelines = all_of(queries.pipelines, Paging())
        heartbeat, refused = queries.watchdog(), queries.refused().items
        missing = queries.missing().items
    if as_json:
        watchdog = WatchdogHealth(**msgspec.structs.asdict(heartbeat), late=heartbeat.is_late)
        document(
            StatusAnswer(pipelines=pipelines, watchdog=watchdog, refused=refused, missing=missing)
        )
    else:
        _show(pipelines, heartbeat, refused, missing, options)
    sys.exit(Exit.FOUND_PROBLEMS if heartbeat.is_late else Exit.FINE)


def _show(
    pipelines: Sequence[PipelineState],
    heartbeat: Heartbeat,
    refused: Sequence[RefusedConfig],
    missing: Sequence[Missing],
    options: Options,
) -> None:
    at = now()
    if pipelines:
        heads = ("PIPELINE", "DATE", "STATE", "TODAY", "NEXT", "DEADLINE")
        table(
            heads,
            [_row(each, at) for each in pipelines],
            folds=("PIPELINE", "TODAY", "NEXT", "DEADLINE"),
        )
    else:
        click.echo(f"no pipeline is in force yet: {options.keeper} adopts those of the project")
    reasons = [reason for each in pipelines for reason in _reasons(each, options.command)]
    if reasons:
        click.echo()
        lines("", reasons)
    click.echo()
    if refused:
        tells = "doctor" if options.backend == AWS else "validate"
        said = [f"  {each}" for each in refused[:_MOST_REASONS]]
        lines(
            "",
            [f"{count(len(refused), 'file')} refused, see `{options.command} {tells}`", *said],
            "red",
        )
    lines("", missing_files(missing), "red")
    lines(
        "watchdog: ", [_watchdog(heartbeat, options.keeper)], "red" if heartbeat.is_late else None
    )


def _row(pipeline: PipelineState, at: datetime) -> tuple[str | StyledText, ...]:
    on = today(pipeline.timezone)
    return (
        pipeline.id,
        pipeline.date,
        _state(pipeline),
        ", ".join(f"{number} {state(name).text}" for name, number in pipeline.today.items()) or "-",
        clock(pipeline.next_expected, pipeline.timezone, on),
        _deadline(pipeline, at, on),
    )


def _state(pipeline: PipelineState) -> StyledText:
    if pipeline.paused:
        return StyledText("paused", "yellow")
    return state(pipeline.status if pipeline.retry_at is None else RETRYING)


def _deadline(pipeline: PipelineState, at: datetime, on: str) -> StyledText:
    """The instant that a run must meet, or its verdict."""
    if pipeline.sla_verdict is not None:
        verdict = pipeline.sla_verdict.lower()
        return StyledText(verdict, "red" if verdict == "breached" else "green")
    breaches = [moment for kind, moment in pipeline.deadlines.items() if kind.endswith("breach")]
    if not breaches:
        return StyledText("-")
    first = min(breaches)
    style = "red" if first <= at else "yellow" if _is_warned(pipeline, at) else ""
    return StyledText(f"{clock(first, pipeline.timezone, on)}", style)


def _is_warned(pipeline: PipelineState, at: datetime) -> bool:
    return any(kind.endswith("warning") and t <= at for kind, t in pipeline.deadlines.items())


def _reasons(pipeline: PipelineState, command: str) -> Iterator[str]:
    """What a date waits for. A date without a run waits for its readings, which is normal."""
    if pipeline.pause is not None:
        facts = pause_facts(pipeline.pause, pipeline.timezone, now())
        yield f"{pipeline.id}: paused {facts}; `{command} resume {pipeline.id}` resumes it"
    elif pipeline.status not in ("absent", "COMPLETED"):
        for reason in pipeline.blocked_by[:_MOST_REASONS]:
            yield f"{pipeline.id} {pipeline.date}: {reason}"
        more = len(pipeline.blocked_by) - _MOST_REASONS
        if more > 0:
            look = f"`{command} why {pipeline.id}` shows all"
            yield f"{pipeline.id} {pipeline.date}: and {count(more, 'more reason')}; {look}"
    if pipeline.failed_dates:
        dates = ", ".join(pipeline.failed_dates[:_MOST_REASONS])
        more = len(pipeline.failed_dates) - _MOST_REASONS
        rest = f" and {count(more, 'more date')}" if more > 0 else ""
        yield f"{pipeline.id}: failed and not done: {dates}{rest}"


def _watchdog(heartbeat: Heartbeat, keeper: str) -> str:
    if heartbeat.last_ok_at is None:
        text = f"no pass yet: check that {keeper} is running"
    elif heartbeat.is_late:
        every = duration.for_people(heartbeat.every)
        text = (
            f"last good pass {span(heartbeat.last_ok_at, heartbeat.now)}, but one is due every"
            f" {every}: check that {keeper} is running"
        )
    else:
        text = f"last good pass {age(heartbeat.last_ok_at, heartbeat.now)} ago"
    return f"{text}; failing: {', '.join(heartbeat.failures)}" if heartbeat.failures else text
