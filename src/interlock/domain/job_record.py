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
    #: Whether we learned of it by asking, so that whoever waits for it knows.
    polled: bool = False
    #: Whether the platform did not say when: then `at` is when it was asked.
    undated: bool = False


#: What the job log says of a wait that goes on in another execution; further ones are numbered.
HANDED_OVER = "handed-over"


#: What the job log says of a launch that failed; further tries of the attempt have their number behind it.
LAUNCH_FAILED = "launch-failed"
