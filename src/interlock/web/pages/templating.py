"""Templating: renders pages as text. Every value is escaped."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from interlock import __version__
from interlock.domain import canonical
from interlock.domain.rule_text import needed
from interlock.domain.run import RunKey
from interlock.domain.zones import zone
from interlock.web.pages import instants
from interlock.web.pages.assets import Assets

_LONGEST_VALUE = 400


def environment(assets: Assets) -> Environment:
    made = Environment(
        loader=PackageLoader("interlock.web.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals.update(
        asset=assets.address,
        needed=needed,
        run_url=run_url,
        pipeline_url=pipeline_url,
        backfill_url=backfill_url,
        with_query=with_query,
        version=__version__,
    )
    made.filters.update(
        clock=clock,
        zone_name=zone_name,
        wall=wall,
        ago=instants.ago,
        span=instants.span,
        slack=instants.slack,
        value=value,
        words=words,
        count=count,
        percent=percent,
        bytes=size_in_bytes,
        sentence=sentence,
        code=code,
    )
    return made


def run_url(key: RunKey) -> str:
    parts = (key.pipeline_id, key.schedule_id, key.date)
    return "/runs/" + "/".join(quote(part, safe=":") for part in parts)


def pipeline_url(name: str) -> str:
    return "/pipelines/" + quote(name, safe="")


def backfill_url(backfill_id: str) -> str:
    return "/backfills/" + quote(backfill_id, safe="")


def with_query(path: str, **given: Any) -> str:
    """A path with its query string; empty parameters are left out."""
    kept = {name: value for name, value in given.items() if value not in (None, "", 0)}
    return f"{path}?{urlencode(kept)}" if kept else path


@pass_context
def zone_name(context: Context, own: str = "UTC") -> str:
    """The zone in which the reader sees instants: the chosen one, or their own."""
    chosen: str = context["zone_choice"].name
    return chosen or own


@pass_context
def clock(context: Context, moment: datetime | None, own: str = "UTC", on: str = "") -> str:
    return instants.clock(moment, zone_name(context, own), on)


@pass_context
def wall(context: Context, moments: Iterable[datetime]) -> list[datetime]:
    """The same instants in the reader's zone."""
    where = zone(zone_name(context))
    return [moment.astimezone(where) for moment in moments]


def value(anything: Any) -> str:
    """A value of a reading or a rule, shortened."""
    if anything is None:
        return "–"
    text = anything if isinstance(anything, str) else canonical.encode(anything)
    return text if len(text) <= _LONGEST_VALUE else text[: _LONGEST_VALUE - 1] + "…"


def words(kind: str) -> str:
    """An event type as words: `SLA_BREACH` is `SLA breach`."""
    first, *rest = kind.split("_")
    head = first if first in ("SLA", "SFN") else first.capitalize()
    return " ".join([head, *(each if each == "SLA" else each.lower() for each in rest)])


def count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size_in_bytes(number: int) -> str:
    """`512 bytes`, `3.4 KiB`, `12 MiB`."""
    if number < 1024:
        return count(number, "byte")
    size, unit = (number / 1024, "KiB") if number < 1024**2 else (number / 1024**2, "MiB")
    return f"{size:.1f} {unit}" if size < 10 else f"{size:,.0f} {unit}"


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def code(text: str) -> Markup:
    """A text whose parts between backticks are code."""
    parts = text.split("`")
    marked = [
        Markup("<code>{}</code>").format(part) if n % 2 else escape(part)
        for n, part in enumerate(parts)
    ]
    return Markup("").join(marked)


def percent(part: float | None) -> str:
    """Rounded down near the top: 99.95 % is not 100 %."""
    if part is None:
        return "–"
    return "100" if part == 1 else f"{min(part * 100, 99.9):.1f}".removesuffix(".0")
