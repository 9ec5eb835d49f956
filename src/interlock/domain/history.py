"""History: what lists and timelines show of runs and events."""

from datetime import datetime

import msgspec

from interlock.domain.deadline import SlaVerdict
from interlock.domain.event import Event
from interlock.domain.run import RunKey, Status


class Glance(msgspec.Struct, frozen=True, kw_only=True):
    """A run at a glance: what a cell of a timeline shows."""

    key: RunKey
    status: Status
    attempt: int = 0
    sla_verdict: SlaVerdict | None = None
    #: Seconds left when it completed; negative when late.
    slack: int | None = None
    #: Whether the last attempt failed and the next one is already due.
    retrying: bool = False


class Tally(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of one schedule and day in the same state: how many, and the newest of them."""

    newest: RunKey
    status: Status
    sla_verdict: SlaVerdict | None
    count: int
    #: The sum of the seconds left, of those that completed.
    slack: int | None = None
    #: Whether their last attempts failed and the next ones are already due.
    retrying: bool = False

    @property
    def day(self) -> str:
        return self.newest.date[:10]


class LoggedEvent(msgspec.Struct, frozen=True):
    """An event and its place in the log."""

    seq: int
    event: Event


class EventFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which events to show."""

    pipeline_id: str | None = None
    kind: str | None = None
    since: datetime | None = None
    #: What happened at that very instant is left out.
    until: datetime | None = None
    #: Warnings and above.
    of_note: bool = False
    #: Text that the event contains, ignoring case.
    text: str | None = None
