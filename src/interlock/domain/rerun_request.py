"""Rerun request: a request to run a date again, and the attempt that was granted."""

from datetime import datetime

import msgspec

from interlock.domain.run import RunKey


class RerunRequest(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A request to run a date again."""

    key: RunKey
    reason: str
    requested_at: datetime
    requested_by: str = ""
    force: bool = False
    #: Whether it may exceed the budget for reruns by hand.
    over_budget: bool = False
    #: The backfill that asks for it.
    backfill: str | None = None

    @property
    def id(self) -> str:
        """One request, one id: the instant it was made, to the microsecond."""
        return self.requested_at.isoformat()


class RequestAnswer(msgspec.Struct, frozen=True):
    """The last request for a date: when it was made, whether it was judged, and the cause of a rejection."""

    requested_at: datetime
    judged: bool = False
    refused: str = ""


class RerunRecord(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A further attempt that was granted, and the budget it is charged to."""

    key: RunKey
    attempt: int
    source: str
    reason: str
    triggered_at: datetime
    requested_by: str = ""
    request: str | None = None
