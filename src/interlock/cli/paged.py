"""Paged: whole lists, their beginnings, and single runs, from queries that answer a page at a time."""

from collections.abc import Callable
from typing import TypeVar

import click
import msgspec

from interlock.errors import NotFoundError
from interlock.operations.queries import Queries
from interlock.operations.requests import MOST_ITEMS, Paging
from interlock.operations.results import RunHistory
from interlock.queries.paging import Page

T = TypeVar("T")
Q = TypeVar("Q", bound=Paging)


def all_of(ask: Callable[[Q], Page[T]], query: Q) -> list[T]:
    """Every item, page after page."""
    items: list[T] = []
    cursor = None
    while True:
        page = ask(msgspec.structs.replace(query, limit=MOST_ITEMS, cursor=cursor))
        items += page.items
        cursor = page.next
        if cursor is None:
            return items


def first_of(ask: Callable[[Q], Page[T]], query: Q) -> Page[T]:
    """The first items up to the limit of the query, which may be more than one page holds."""
    page = ask(msgspec.structs.replace(query, limit=min(query.limit, MOST_ITEMS)))
    items = list(page.items)
    while page.next is not None and len(items) < query.limit:
        limit = min(query.limit - len(items), MOST_ITEMS)
        page = ask(msgspec.structs.replace(query, limit=limit, cursor=page.next))
        items += page.items
    return Page(items, page.next)


def say_more(page: Page[T], options: str) -> None:
    """On stderr, so that the rows stay alone on stdout. `options` narrow the list."""
    if page.next is not None:
        shown = len(page.items)
        click.echo(
            f"There are more than these {shown}: raise --limit, or narrow the list with {options}.",
            err=True,
        )


def limit_option(default: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """`--limit`, as every list has it."""
    return click.option(
        "--limit",
        type=click.IntRange(1),
        default=default,
        show_default=True,
        metavar="N",
        help="At most this many.",
    )


def run_of(queries: Queries, pipeline: str, date: str, schedule: str | None) -> RunHistory:
    """The run of a date; without a schedule, of the first one that has it. Raises NotFoundError."""
    if schedule is not None:
        return queries.run(pipeline, schedule, date)
    for each in queries.config(pipeline).pipeline.schedules:
        try:
            return queries.run(pipeline, each.id, date)
        except NotFoundError:
            continue
    raise NotFoundError(f"{pipeline} has no run of {date}")
