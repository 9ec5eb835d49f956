"""Paging: a list one page at a time, and the cursor of the next page."""

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from interlock.errors import ConfigError

T = TypeVar("T")


class Page(msgspec.Struct, Generic[T], frozen=True):
    """Part of a list. `next` is the cursor of the next page; without one this is the last."""

    items: list[T]
    next: str | None = None


def page_of(found: Sequence[T], limit: int, place: Callable[[T], Any]) -> Page[T]:
    """`found` has up to one item more than the limit: if it does, there is a next page."""
    items = list(found[:limit])
    return Page(items, cursor_of(place(items[-1])) if len(found) > limit and items else None)


def place_at(cursor: str | None, kind: type[T]) -> T | None:
    """Where a cursor points. Raises ConfigError for an invalid cursor."""
    if cursor is None:
        return None
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
        return msgspec.json.decode(text, type=kind)
    except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
        raise ConfigError(
            "invalid cursor: pass `next` of this list's previous page unchanged"
        ) from error


def cursor_of(place: Any) -> str:
    """Of a page that begins after that place."""
    return base64.urlsafe_b64encode(msgspec.json.encode(place)).decode().rstrip("=")
