"""Rerun request: a date is to run again, and the attempt that was granted."""

from datetime import datetime

import msgspec

from interlock.domain.run import RunKey


class RerunRequest(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """Somebody asks for a date to run again."""

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
    """A further attempt that was granted, and on whose account."""

    key: RunKey
    attempt: int
    source: str
    reason: str
    triggered_at: datetime
    requested_by: str = ""
    request: str | None = None
