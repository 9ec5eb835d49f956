"""Reads: lists for people, and the event log as a feed."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Protocol

from interlock.domain.history import EventFilter, Glance, LoggedEvent, Tally
from interlock.domain.run import Run, RunKey


class History(Protocol):
    """The past, for people: lists that may be a second old, newest first.

    The cost of an answer depends on its size, not on the amount of history. None means that this
    backend can't tell without reading everything. Dates are labels, or prefixes of labels; `until`
    includes the hours of its day.
    """

    @property
    def searched(self) -> int:
        """The most events searched for what no key or index finds."""
        ...

    def glances(self, pipeline_ids: Collection[str], since: str, until: str) -> list[Glance]: ...

    def tallies(self, pipeline_ids: Collection[str], since: str, until: str) -> list[Tally]: ...

    def newest(self, until: Mapping[str, str]) -> dict[str, Glance]:
        """The run of the newest date of each pipeline, up to its date in `until`; if all are later, of
        the first one.
        """
        ...

    def counts(self, since: str, until: str) -> dict[str, int] | None:
        """The number of open runs of every date, and of the other runs of these dates, by their state."""
        ...

    def waiting(self, limit: int) -> list[Run]:
        """Open runs whose rules do not hold yet, the longest wait first."""
        ...

    def due(self, since: datetime | None, until: datetime, limit: int) -> list[Run]:
        """Runs that are not done and whose warning is in `since <= warning < until`, soonest first."""
        ...

    def failed(self, since: str, limit: int) -> list[Run]:
        """Runs of dates since then whose last attempt failed."""
        ...

    def runs(
        self,
        pipeline_id: str | None,
        since: str,
        until: str,
        after: RunKey | None,
        limit: int,
        state: str | None = None,
    ) -> list[Run] | None:
        """Starting after a run. With a state, runs that can't be in it may be left out: the caller compares
        the others.
        """
        ...

    def events(
        self, wanted: EventFilter, before: tuple[datetime, int] | None, limit: int
    ) -> list[LoggedEvent]:
        """Starting before an instant and a place. What no index finds is searched in `searched` events."""
        ...

    def hours(
        self, kinds: Collection[str], since: datetime, until: datetime
    ) -> dict[tuple[str, datetime], int] | None:
        """The number of events of each type in each hour that has any, by the start of the hour. None also
        when there are more than this backend counts at once.
        """
        ...

    def breaches(self, since: datetime, until: datetime) -> list[tuple[str, str]]:
        """The pipeline and date of each deadline breached in that time, with or without a run."""
        ...


class EventFeed(Protocol):
    """The event log as a feed for followers. Places are numbers that only grow.

    A follower that returns to a place misses nothing published since; some of it may be repeated.
    """

    def changes(self) -> int:
        """A different number once there may be something new. Calling it costs nothing, however often."""
        ...

    def oldest(self) -> int:
        """The place from which on the feed is complete."""
        ...

    def last(self) -> int:
        """The place of the newest event. Raises UnavailableError or TransientError when that is unknown."""
        ...

    def after(self, seq: int, limit: int) -> list[LoggedEvent]:
        """The events after that place, in order of place. Raises like `last`."""
        ...
