"""Sensor: put a reading, or list the readings of a pipeline."""

from functools import partial
from typing import Any

import click

from interlock.cli.backend import acting, looking
from interlock.cli.json_answers import json_option
from interlock.cli.options import Options
from interlock.cli.paged import all_of
from interlock.cli.shown import (
    StyledText,
    age,
    clock,
    document,
    lines,
    now,
    printable,
    table,
    value,
)
from interlock.cli.typed_values import field
from interlock.domain import canonical
from interlock.domain.reading_doubts import reading_doubts
from interlock.domain.sensor import Reading
from interlock.errors import ConfigError, InterlockError, NotFoundError, UnavailableError
from interlock.operations.queries import Queries
from interlock.operations.requests import ForeseeReading, Paging, Waiting


@click.group("sensor")
def command() -> None:
    """Write and list readings."""


@command.command("put")
@click.argument("pipeline")
@click.argument("key")
@click.argument("pairs", nargs=-1, metavar="[FIELD=VALUE]...")
@click.option("--date", help="The date that the reading is about, such as 2026-03-03.")
@click.option("--hour", type=click.IntRange(0, 23), help="Its hour, for hourly dates.")
@click.option("--json", "text", metavar="TEXT", help="The fields as a JSON object.")
@click.option("--dry-run", is_flag=True, help="Only show what it would lead to; nothing is stored.")
@click.pass_obj
def put(
    options: Options,
    pipeline: str,
    key: str,
    pairs: tuple[str, ...],
    date: str | None,
    hour: int | None,
    text: str | None,
    dry_run: bool,
) -> None:
    """Write a reading, for example: sensor put silver-orders orders-landed count=4200"""
    fields = {**_object(text), **dict(map(field, pairs))}
    fields |= {name: given for name, given in (("date", date), ("hour", hour)) if given is not None}
    if dry_run:
        _foresee(options, pipeline, ForeseeReading(key=key, fields=fields))
        return
    with acting(options) as backend:
        _warn(backend.queries, pipeline, key, fields)
        wait = Waiting(wait="decision" if backend.served else None)
        accepted = backend.commands.put(pipeline, key, fields, wait)
        click.echo(f"{pipeline}: {key} received at {clock(accepted.received_at)}")
        for what in accepted.led_to:
            click.echo(f"  {printable(what)}")
        backend.say_if_unserved()


def _foresee(options: Options, pipeline: str, wanted: ForeseeReading) -> None:
    with looking(options) as queries:
        found = queries.foresee_reading(pipeline, wanted)
    for doubt in found.doubts:
        click.secho(f"warning: {printable(doubt)}", fg="yellow", err=True)
    lines(f"{pipeline}: {wanted.key} would be: ", found.led_to)


def _warn(queries: Queries, pipeline: str, key: str, fields: dict[str, Any]) -> None:
    """What looks like a mistake; a producer that may not read the config hears nothing."""
    try:
        config = queries.config(pipeline)
    except (NotFoundError, UnavailableError):
        raise
    except InterlockError:
        return
    for doubt in reading_doubts(config.pipeline, key, fields):
        click.secho(f"warning: {printable(doubt)}", fg="yellow", err=True)


@command.command("list")
@click.argument("pipeline")
@json_option(list[Reading])
@click.pass_obj
def list_readings(options: Options, pipeline: str, as_json: bool) -> None:
    """List the readings of a pipeline, newest first."""
    with looking(options) as queries:
        found = all_of(partial(queries.readings, pipeline), Paging())
    readings = sorted(found, key=lambda reading: reading.received_at, reverse=True)
    if as_json:
        document(readings)
        return
    if not readings:
        hint = f"{options.command} sensor put {pipeline} KEY FIELD=VALUE"
        lines("", [f"{pipeline} has no readings yet; put one: {hint}"])
        return
    at = now()
    table(
        ("KEY", "AGE", "FIELDS"),
        [
            (reading.key, age(reading.received_at, at), StyledText(_fields(reading.fields)))
            for reading in readings
        ],
        folds=("KEY", "FIELDS"),
    )


def _fields(fields: dict[str, Any]) -> str:
    return " ".join(f"{name}={value(each)}" for name, each in sorted(fields.items()))


def _object(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        found = canonical.decode(text)
    except ValueError as error:
        raise ConfigError(f"--json is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError("--json needs an object, such as '{\"count\": 4200}'")
    return found
