"""Shown: output as tables and times for people, and as JSON for programs."""

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from interlock.domain import canonical, duration
from interlock.domain.zones import zone

if TYPE_CHECKING:
    from rich.console import Console

    from interlock.domain.config import Pause

#: In a pipe nothing wraps: each row is one line.
_UNFOLDED = 10_000

#: The states of a run in plain words, each with its colour.
STATES: dict[str, tuple[str, str]] = {
    "PENDING": ("waiting", "yellow"),
    "TRIGGERING": ("launching", "cyan"),
    "RUNNING": ("running", "cyan"),
    "COMPLETED": ("done", "green"),
    "FAILED": ("failed", "red"),
    "RETRYING": ("retrying", "yellow"),
    "FAILED_FINAL": ("given up", "red"),
    "SKIPPED": ("skipped", "bright_black"),
    "UNREADABLE": ("unreadable", "red"),
    "absent": ("no run", ""),
}
SEVERITIES = {"info": "", "warning": "yellow", "error": "red", "critical": "bold red"}


class StyledText(NamedTuple):
    """A text with a style."""

    text: str
    style: str = ""


def document(value: Any) -> None:
    """One JSON document, as the HTTP interface would send it."""
    import msgspec

    click.echo(_escaped(msgspec.json.format(canonical.encode(value), indent=2)))


def line(value: Any) -> None:
    """One JSON document on one line, for streams of them."""
    click.echo(_escaped(canonical.encode(value)))


def state(status: str) -> StyledText:
    return StyledText(*STATES.get(status, (status.lower(), "")))


def table(
    heads: Sequence[str], rows: Iterable[Sequence[str | StyledText]], folds: Sequence[str] = ()
) -> None:
    """Rows under heads, as wide as the terminal; the columns in `folds` wrap first."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    cells_of = [
        [cell if isinstance(cell, StyledText) else StyledText(cell) for cell in row] for row in rows
    ]
    for position, head in enumerate(heads):
        gives_way = not folds or head in folds
        widest = max([len(head), *(len(cells[position].text) for cells in cells_of)])
        least = min(_LEAST_FOLDED, widest) if gives_way else None
        drawn.add_column(head, overflow="fold", no_wrap=not gives_way, min_width=least)
    for cells in cells_of:
        drawn.add_row(*(Text(printable(cell.text), cell.style) for cell in cells))
    _console().print(drawn)


def lines(prefix: str, texts: Iterable[str], colour: str | None = None) -> None:
    """Texts after a prefix in that colour, wrapped to the terminal and indented."""
    import textwrap

    width = _width() or _UNFOLDED
    for text in texts:
        folded = textwrap.wrap(
            printable(text), max(20, width - len(prefix)), break_on_hyphens=False
        ) or [""]
        click.echo(click.style(prefix, fg=colour) + folded[0])
        for more in folded[1:]:
            click.echo(" " * len(prefix) + more)


def clock(moment: datetime | None, zone_name: str = "UTC", on: str = "") -> str:
    """`2026-03-03 10:30:05 CET`; without the date when it is `on`."""
    if moment is None:
        return "-"
    local = moment.astimezone(zone(zone_name))
    name = "UTC" if zone_name == "UTC" else local.tzname() or zone_name
    day = "" if local.date().isoformat() == on[:10] else f"{local:%Y-%m-%d} "
    return f"{day}{local:%H:%M:%S} {name}"


def brief(moment: datetime | None) -> str:
    """As `clock`, for columns whose heading says UTC: with the date, so that rows can be compared."""
    return clock(moment).removesuffix(" UTC")


def today(zone_name: str = "UTC") -> str:
    return now().astimezone(zone(zone_name)).date().isoformat()


def now() -> datetime:
    return datetime.now(UTC)


def span(moment: datetime | None, at: datetime) -> str:
    """`in 5m` or `5m ago`."""
    if moment is None:
        return "-"
    if moment > at:
        return f"in {duration.for_ages(moment - at)}"
    return f"{duration.for_ages(at - moment)} ago"


def pause_facts(pause: "Pause", zone_name: str, at: datetime) -> str:
    """`by ada 2h ago, until 14:00 UTC (upstream moves)`."""
    who = f"by {pause.by} " if pause.by else ""
    on = at.astimezone(zone(zone_name)).date().isoformat()
    until = "" if pause.until is None else f", until {clock(pause.until, zone_name, on)}"
    why = f" ({pause.reason})" if pause.reason else ""
    return f"{who}{span(pause.since, at)}{until}{why}"


def age(moment: datetime | None, at: datetime) -> str:
    """How long ago that was."""
    return "-" if moment is None else duration.for_ages(at - moment)


def took(start: datetime | None, end: datetime) -> str:
    """How long something lasted; below a second, in milliseconds."""
    return "-" if start is None else duration.for_people(end - start)


def value(anything: Any) -> str:
    """A value of a reading or a rule, shortened."""
    if anything is None:
        return "-"
    text = anything if isinstance(anything, str) else canonical.encode(anything)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def printable(text: str) -> str:
    """Text from outside can't send control sequences to the terminal."""
    return "".join(char if char.isprintable() else " " for char in text)


def _escaped(text: str) -> str:
    """The same JSON, with every terminal control character escaped."""
    return _FOREIGN.sub(lambda found: _harmless(found[0]), text)


def _harmless(char: str) -> str:
    return char if char.isprintable() else json.dumps(char)[1:-1]


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _console() -> "Console":
    from rich.console import Console

    return Console(file=sys.stdout, width=_width() or _UNFOLDED, highlight=False, markup=False)


def _width() -> int | None:
    """The width from COLUMNS or the terminal; None when the output is not a terminal."""
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if not sys.stdout.isatty():
        return None
    return os.get_terminal_size(sys.stdout.fileno()).columns


_LONGEST_VALUE = 60
#: The non-ASCII characters that JSON leaves unescaped.
_FOREIGN = re.compile(r"[^\x00-\x7e]")
_LEAST_FOLDED = 8
