"""Launch: the running job of an attempt, with what polling it needs."""

from datetime import datetime
from typing import Any

import msgspec

from interlock.domain.pipeline import Job
from interlock.domain.polled import Polled
from interlock.domain.run import Run, RunKey, Status


class Launch(msgspec.Struct, frozen=True, rename="camel"):
    """`job` is what its platform needs; `message` and `unseen` are what the run already has of it. `polled`
    is None until an execution has looked at the job.
    """

    key: RunKey
    attempt: int
    run_id: str | None
    launched_at: datetime
    job: dict[str, Any]
    message: str | None = None
    unseen: bool = False
    polled: Polled | None = None

    def says_nothing_new(self, message: str | None, unseen: bool) -> bool:
        """That a job can't be seen is reported once, and stays recorded."""
        return message == self.message and (self.unseen or not unseen)


def launch_of(run: Run) -> Launch | None:
    """None unless the job is running."""
    if run.status is not Status.RUNNING or run.launched_at is None:
        return None
    return Launch(
        run.key,
        run.attempt,
        run.run_id,
        run.launched_at,
        run.job,
        run.job_message,
        run.job_unseen,
    )


def requested_at(run: Run) -> datetime:
    """Since when a job whose launch is not recorded may run: no job is requested before its rules held.

    `changed_at` tells that only until something else is noted on the run, such as a deadline that waits.
    """
    return run.changed_at if run.verdict is None else min(run.verdict.at, run.changed_at)


def at_most_once(job: Job) -> bool:
    """Whether the owner prefers no job to a duplicate one."""
    return bool(job.config.get("atMostOnce", False))
