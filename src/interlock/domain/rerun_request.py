"""Rerun request: a request to run a date again, and the granted attempt."""

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

    @property
    def id(self) -> str:
        """One request, one id: the instant it was made, to the microsecond."""
        return self.requested_at.isoformat()


class RerunRecord(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A granted further attempt, and the budget it is charged to."""

    key: RunKey
    attempt: int
    source: str
    reason: str
    triggered_at: datetime
    requested_by: str = ""
    request: str | None = None
