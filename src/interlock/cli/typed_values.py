"""Typed values: instants and fields as typed on a command line."""

from datetime import UTC, datetime, timedelta
from typing import Any

import click

from interlock.domain import duration, timestamp
from interlock.domain.partition import Label
from interlock.domain.typed_value import typed_value


def moment_past(text: str) -> datetime:
    """An instant: RFC 3339, a date (its start, UTC), or how long ago, such as `2h`."""
    return _moment(text, ahead=False)


def moment_ahead(text: str) -> datetime:
    """As `moment_past`, but a duration counts forward from now."""
    return _moment(text, ahead=True)


def date_label(text: str) -> str:
    """The date of a run, as typed."""
    try:
        return str(Label.parse(text))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _moment(text: str, ahead: bool) -> datetime:
    found = _span(text, ahead) or _label(text) or timestamp.instant(text)
    if found is None:
        raise click.BadParameter(
            f"{text!r} is not a time such as 2h, 2026-03-03 or 2026-03-03T10:00:00Z"
        )
    return found


def _span(text: str, ahead: bool) -> datetime | None:
    try:
        span: timedelta = duration.parse(text)
    except ValueError:
        return None
    now = datetime.now(UTC)
    return now + span if ahead else now - span


def _label(text: str) -> datetime | None:
    try:
        return Label.parse(text).wall.replace(tzinfo=UTC)
    except ValueError:
        return None


def field(pair: str) -> tuple[str, Any]:
    """A name, and its value as `typed_value` reads it."""
    name, mark, text = pair.partition("=")
    if not mark or not name:
        raise click.BadParameter(f"{pair!r} is not FIELD=VALUE")
    return name, typed_value(text)
