"""Events: the event log, and new events as they come."""

import difflib
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

import click
import msgspec

from interlock.cli.backend import AWS, looking
from interlock.cli.json_answers import FOLLOW, json_option
from interlock.cli.options import Options
from interlock.cli.paged import first_of, limit_option, say_more
from interlock.cli.shown import (
    SEVERITIES,
    StyledText,
    brief,
    clock,
    document,
    line,
    now,
    printable,
    table,
)
from interlock.cli.typed_values import moment_past
from interlock.domain.alerting.deliveries import Target
from interlock.domain.event import ALIASES, Event, EventType
from interlock.operations.queries import Queries
from interlock.operations.requests import MOST_ITEMS, EventsQuery
from interlock.queries.alerted import Alerted, AlertOutcome

#: How often to poll the log, by backend: on AWS each poll costs a request per type. And how long after
#: its time an event may still appear.
_EVERY_SECONDS = {"local": 1.0, AWS: 5.0}
_OVERLAP = timedelta(minutes=15)
_NARROWS = "--type, --pipeline, --since or --until"


def event_type(text: str) -> str:
    """A type of the catalogue, in upper or lower case."""
    name = text.upper()
    if name in EventType.__members__ or name in ALIASES:
        return name
    near = difflib.get_close_matches(name, EventType.__members__, n=1)
    hint = f"did you mean {near[0]}?" if near else "see docs/reference/events.md"
    raise click.BadParameter(f"unknown event type {text}; {hint}")


@click.command("events")
@click.option("--follow", is_flag=True, help="Keep printing new events until interrupted.")
@click.option(
    "--type",
    "kind",
    type=event_type,
    metavar="TYPE",
    help="Only events of this type, such as SLA_BREACH.",
)
@click.option("--pipeline", metavar="ID", help="Only events of this pipeline.")
@click.option(
    "--since",
    type=moment_past,
    metavar="MOMENT",
    help="Only events since then: 2h, 2026-03-03 or an instant.",
)
@click.option(
    "--until",
    type=moment_past,
    metavar="MOMENT",
    help="Only events before then, in the same forms.",
)
@limit_option(50)
@click.option("--alerts", is_flag=True, help="Also show where each event was sent as an alert.")
@json_option(list[Event], others={"--alerts": list[Alerted], FOLLOW: Event})
@click.pass_obj
def command(
    options: Options,
    follow: bool,
    kind: str | None,
    pipeline: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    alerts: bool,
    as_json: bool,
) -> None:
    """Show the newest events, in the order in which they happened.

    With --follow and --json, prints one JSON document per line.
    """
    if alerts and follow:
        raise click.UsageError(
            "--alerts can't be combined with --follow: it shows what was sent so far"
        )
    if until is not None and follow:
        raise click.UsageError("--until can't be combined with --follow, which has no end")
    wanted = EventsQuery(pipeline=pipeline, type=kind, since=since, until=until, limit=limit)
    with looking(options) as queries:
        if alerts:
            told = first_of(queries.alerts, wanted)
            _show_alerted(told.items[::-1], as_json)
            say_more(told, _NARROWS)
            return
        page = first_of(queries.events, wanted)
        found = page.items[::-1]
        if pipeline is not None and not found:
            queries.config(pipeline)  # an unknown pipeline is an error
        _show(found, as_json, follow)
        if not follow:
            say_more(page, _NARROWS)
            return
        for event in followed(queries, wanted, found, _EVERY_SECONDS[options.backend]):
            line(event) if as_json else click.echo(_line(event))


def followed(
    queries: Queries, wanted: EventsQuery, known: Sequence[Event], every: float
) -> Iterator[Event]:
    """Every event from now on, once each."""
    start = now()
    seen = {event.event_id: event.timestamp for event in known}
    if not known:
        seen = {e.event_id: e.timestamp for e in _since(queries, wanted, start - _OVERLAP)}
    while True:
        for event in reversed(_since(queries, wanted, now() - _OVERLAP)):
            if event.event_id not in seen and event.timestamp >= start - _OVERLAP:
                seen[event.event_id] = event.timestamp
                yield event
        old = now() - 2 * _OVERLAP
        seen = {name: at for name, at in seen.items() if at >= old}
        time.sleep(every)


def _since(queries: Queries, wanted: EventsQuery, since: datetime) -> list[Event]:
    query = msgspec.structs.replace(wanted, since=since, limit=MOST_ITEMS)
    return queries.events(query).items


def _show(events: Sequence[Event], as_json: bool, follow: bool) -> None:
    if as_json and not follow:
        document(events)
    elif as_json:
        for event in events:
            line(event)
    elif follow:
        for event in events:
            click.echo(_line(event))
    elif events:
        table(("TIME UTC", "EVENT", "WHAT"), map(_row, events), folds=("WHAT",))
    else:
        click.echo("no events")


def _show_alerted(found: Sequence[Alerted], as_json: bool) -> None:
    if as_json:
        document(found)
        return
    if not found:
        click.echo("no events")
        return
    heads = ("TIME UTC", "EVENT", "WHAT", "ALERTS")
    rows = [(*_row(each.event), ", ".join(map(_told, each.alerts))) for each in found]
    table(heads, rows, folds=("WHAT", "ALERTS"))


def _told(told: AlertOutcome) -> str:
    """`slack C0MAIN: sent`, or why it was not sent."""
    where = Target(told.sink, told.channel)
    why = f" ({told.error})" if told.error else ""
    return printable(f"{where}: {told.state.replace('_', ' ')}{why}")


def _row(event: Event) -> tuple[str | StyledText, ...]:
    return (
        brief(event.timestamp),
        StyledText(event.type, SEVERITIES[event.severity]),
        _what(event),
    )


def _line(event: Event) -> str:
    """One line without columns: the widths of later lines are unknown."""
    colour = SEVERITIES[event.severity].rpartition(" ")[2]
    kind = click.style(f"{event.type:24}", fg=colour or None)
    return f"{clock(event.timestamp)}  {kind}  {printable(_what(event))}"


def _what(event: Event) -> str:
    who = " ".join(part for part in (event.pipeline_id, event.date) if part)
    return f"{who}: {event.message}" if who else event.message
