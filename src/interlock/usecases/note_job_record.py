"""Note a job record: arm the retry that a failure is due, and wake the run that polls for its end."""

from datetime import timedelta

import msgspec

from interlock.domain.run import Run, Status
from interlock.ports import JobRecord, Ports, Wait
from interlock.usecases.job_ending import ENDINGS, is_failure, retry_of
from interlock.usecases.retry_job import foretell_retry, retry_timer

#: How long the execution that polled a job may take until its run is FAILED; before that no retry can begin.
_UNTIL_NOTED = timedelta(seconds=10)


def note_job_record(record: JobRecord, ports: Ports) -> None:
    """A failure's retry is armed from its record; the run need not have heard of it yet. That a job was
    launched is no news to anybody, nor is a success that its own execution saw.
    """
    if record.event == "triggered" or (record.event == "success" and record.polled):
        return
    run = ports.runs.find([record.key]).get(record.key)
    if run is None:
        foretell_retry(record, ports)
        return
    if record.attempt not in (None, run.attempt):
        return
    if run.status is Status.RUNNING and record.event in ENDINGS:
        ports.workflows.wake(record.key.pipeline_id, Wait.JOB)
    due = _awaiting_retry(run, record, ports)
    if due is not None:
        ports.timers.arm([retry_timer(due)])


def _awaiting_retry(run: Run, record: JobRecord, ports: Ports) -> Run | None:
    """The run as it is, or is about to be, when its retry is due."""
    if run.awaits_retry:
        return run
    failed = is_failure(record) and not record.final
    if run.status is not Status.RUNNING or not failed:
        return None
    config = ports.pipelines.find(run.key.pipeline_id)
    if config is None:
        return None
    retry = retry_of(record, run, config.pipeline.job)
    if retry.due_at is None:
        return None
    soonest = ports.clock() + _UNTIL_NOTED
    return msgspec.structs.replace(run, retry_at=max(retry.due_at, soonest))
