"""Reads: lists for people, and the event log as it grows."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from interlock.domain.history import EventFilter, Glance, LoggedEvent, Tally
from interlock.domain.run import Run, RunKey, Status


class History(Protocol):
    """What was, for people: lists that may be a second old, newest first.

    An answer costs by what it holds, not by how much history there is. None means that this home
    can't tell without reading everything. Dates are labels, or the beginnings of labels; `until`
    includes the hours of its day.
    """

    @property
    def searched(self) -> int:
        """In how many events at most something is looked for that no key or index leads to."""
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
        """Runs that are not done and are warned of in `since <= warning < until`, soonest first."""
        ...

    def failed(self, since: str, limit: int) -> list[Run]:
        """Runs of dates since then whose last attempt failed."""
        ...

    def runs(
        self, pipeline_id: str | None, since: str, until: str, after: RunKey | None, limit: int
    ) -> list[Run] | None:
        """From behind a run on."""
        ...

    def events(
        self, wanted: EventFilter, before: tuple[datetime, int] | None, limit: int
    ) -> list[LoggedEvent]:
        """From before an instant and a place on. What no index leads to is looked for in `searched`."""
        ...

    def breaches(self, since: datetime, until: datetime) -> list[tuple[str, str]]:
        """The pipeline and date of each deadline that broke in that time, with or without a run."""
        ...


class EventFeed(Protocol):
    """The event log as it grows, for whoever follows it. Places are numbers that only grow.

    One who comes back to a place misses nothing that was told since; some of it may come again.
    """

    def changes(self) -> int:
        """Another number once there may be something new. Asking costs nothing, however often."""
        ...

    def oldest(self) -> int:
        """The place from which on everything is there."""
        ...

    def last(self) -> int:
        """The place of the newest. Raises UnavailableError or TransientError when nobody can tell."""
        ...

    def after(self, seq: int, limit: int) -> list[LoggedEvent]:
        """What was told after that place, in the order of places. Raises as `last` does."""
        ...
