"""Job record: a line of the job log."""

from datetime import datetime

import msgspec

from interlock.domain.budgets import Category
from interlock.domain.run import RunKey


class JobRecord(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """A line of the job log. One that the job wrote itself may lack the attempt."""

    key: RunKey
    at: datetime
    event: str
    attempt: int | None = None
    run_id: str | None = None
    error: str | None = None
    category: Category | None = None
    duration: float | None = None
    final: bool = False
    stopped: bool = False
    #: Whether it came from a poll, so that the waiting execution already knows.
    polled: bool = False
    #: Whether the platform gave no time: then `at` is the time of the poll.
    undated: bool = False


#: The job log entry of a wait that continues in another execution; further ones are numbered.
HANDED_OVER = "handed-over"


#: The job log entry of a failed launch; further tries of the attempt have their number appended.
LAUNCH_FAILED = "launch-failed"
