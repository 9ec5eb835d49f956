"""Note a job record: arm what follows, a retry or a post-run check, and wake the execution that polls for
it.
"""

from datetime import timedelta

import msgspec

from interlock.domain.job_record import HANDED_OVER, LAUNCH_FAILED, JobRecord
from interlock.domain.post_run import looks_again_at
from interlock.domain.run import Run, Status
from interlock.domain.waiting_for import WaitingFor
from interlock.usecases.hand_over import go_on
from interlock.usecases.job_ending import ENDINGS, is_failure, retry_of
from interlock.usecases.judge_post_run import look_timer
from interlock.usecases.ports import Ports
from interlock.usecases.retry_job import foretell_retry, retry_timer

#: How long the polling execution may take until its run is FAILED; no retry can begin before that.
_UNTIL_NOTED = timedelta(seconds=10)
_NO_NEWS = ("triggered", LAUNCH_FAILED)


def note_job_record(record: JobRecord, ports: Ports) -> None:
    """A failure's retry and a success's next check are armed from the record; the run need not know about it
    yet. A launch, or a failed launch, needs no reaction, nor does a success that its own execution saw.
    """
    if record.event.startswith(_NO_NEWS):
        return
    if record.event.startswith(HANDED_OVER):
        go_on(record, ports)
        return
    if record.event == "success":
        _arm_look(record, ports)
        if record.polled:
            return
    run = ports.runs.find([record.key]).get(record.key)
    if run is None:
        foretell_retry(record, ports)
        return
    if record.attempt not in (None, run.attempt):
        return
    if run.status is Status.RUNNING and record.event in ENDINGS:
        ports.workflows.wake(record.key.pipeline_id, WaitingFor.JOB)
    due = _awaiting_retry(run, record, ports)
    if due is not None:
        ports.timers.arm([retry_timer(due)])


def _arm_look(record: JobRecord, ports: Ports) -> None:
    """The post-run rules are checked again without a reading: when they have aged, and at the end."""
    config = ports.pipelines.find(record.key.pipeline_id)
    post_run = None if config is None else config.pipeline.post_run
    if post_run is None or record.key.dry or record.attempt is None:
        return  # for a record without an attempt, the watchdog handles the run
    look_at = looks_again_at(record.at, post_run, ports.clock())
    if look_at is not None:
        ports.timers.arm([look_timer(record.key, record.attempt, look_at)])


def _awaiting_retry(run: Run, record: JobRecord, ports: Ports) -> Run | None:
    """The run as it is, or will be, when its retry is due."""
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
