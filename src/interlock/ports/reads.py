"""Reads: lists for people, and the event log as it grows."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from interlock.domain.history import EventFilter, Glance, LoggedEvent, Tally
from interlock.domain.run import Run, RunKey, Status


class History(Protocol):
    """History for people: lists that may be a second old, newest first.

    An answer costs by its size, not by the amount of history. None means that this backend can't answer
    without reading everything. Dates are labels, or the beginnings of labels; `until` includes the hours of
    its day.
    """

    @property
    def searched(self) -> int:
        """How many events at most are searched for what no key or index can find."""
        ...

    def glances(self, pipeline_ids: Collection[str], since: str, until: str) -> list[Glance]: ...

    def tallies(self, pipeline_ids: Collection[str], since: str, until: str) -> list[Tally]: ...

    def newest(self, pipeline_ids: Collection[str]) -> dict[str, Glance]:
        """The run of the newest date of each pipeline that has one."""
        ...

    def counts(self, since: str, until: str) -> dict[Status, int] | None:
        """How many runs of these dates are in which state."""
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
        self, pipeline_id: str | None, since: str, until: str, after: RunKey | None, limit: int
    ) -> list[Run] | None:
        """Starting after a run."""
        ...

    def events(
        self, wanted: EventFilter, before: tuple[datetime, int] | None, limit: int
    ) -> list[LoggedEvent]:
        """Starting before an instant and a position. What no index can find is searched for in `searched`
        events.
        """
        ...

    def breaches(self, since: datetime, until: datetime) -> list[tuple[str, str]]:
        """The pipeline and date of each deadline breached in that time, with or without a run."""
        ...


class EventFeed(Protocol):
    """The event log as it grows, for its followers. Positions are numbers that only grow.

    A follower that returns to a position misses nothing published since; some of it may be repeated.
    """

    def changes(self) -> int:
        """A number that changes once there may be something new. Cheap to call, however often."""
        ...

    def oldest(self) -> int:
        """The position from which on the log is complete."""
        ...

    def last(self) -> int:
        """The position of the newest. Raises UnavailableError or TransientError when it can't be
        determined.
        """
        ...

    def after(self, seq: int, limit: int) -> list[LoggedEvent]:
        """What was published after that position, in order. Raises as `last` does."""
        ...
