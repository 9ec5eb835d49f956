"""Notes: rows that were just read or written, so that the next caller need not read them again.

A note is valid for one use within one piece of work. It decides nothing: every write based on it is
conditional on the version of the row.
"""

from enum import StrEnum

from interlock.adapters.aws.table import Key
from interlock.adapters.aws.values import Item


class Use(StrEnum):
    """What a note is for."""

    #: The next read of the run.
    RUN = "run"
    #: The next search for runs: read ahead, because a search is about to happen.
    AHEAD = "ahead"
    #: The next read of the row's outbox.
    OUTBOX = "outbox"
    #: The next read of the reading.
    READING = "reading"
    #: The next read of the deadline of a date.
    WATCH = "watch"


class Notes:
    """Shared by the adapters of one process."""

    def __init__(self) -> None:
        self._rows: dict[tuple[Use, Key], Item | None] = {}
        self._waiting: dict[str, tuple[Key, Item]] = {}

    def keep(self, key: Key, row: Item | None, *uses: Use) -> None:
        """The row as stored; None for an absent one."""
        for use in uses:
            self._rows[use, key] = row

    def has(self, use: Use, key: Key) -> bool:
        return (use, key) in self._rows

    def take(self, use: Use, key: Key) -> Item | None:
        return self._rows.pop((use, key), None)

    def drop(self, key: Key) -> None:
        """The row is about to be written."""
        for use in Use:
            self._rows.pop((use, key), None)

    def waits(self, event_id: str, key: Key, row: Item) -> None:
        """Remember in which row's outbox an event was seen."""
        self._waiting[event_id] = key, row

    def place_of(self, event_id: str) -> tuple[Key, Item] | None:
        return self._waiting.pop(event_id, None)

    def forget(self) -> None:
        """A new piece of work begins."""
        self._rows.clear()
        self._waiting.clear()


class NoNotes(Notes):
    """For concurrent readers: each one reads for itself."""

    def keep(self, key: Key, row: Item | None, *uses: Use) -> None:
        pass

    def waits(self, event_id: str, key: Key, row: Item) -> None:
        pass
