"""Paged: whole lists, and single runs, from queries that answer a page at a time."""

from collections.abc import Callable
from typing import TypeVar

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
