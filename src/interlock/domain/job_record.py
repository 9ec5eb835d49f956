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
    #: Whether a poll found it, so that the waiting execution already knows.
    polled: bool = False
    #: Whether the platform did not say when: then `at` is the time of the request.
    undated: bool = False
    #: What a job that failed printed last.
    output: str | None = None


#: The job log's word for a wait that continues in another execution; further ones are numbered.
HANDED_OVER = "handed-over"


#: The job log's word for a failed launch; further tries of the attempt append their number.
LAUNCH_FAILED = "launch-failed"
