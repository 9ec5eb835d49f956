"""Cancel a run: end the attempt of a date for an operator, and ask its job to stop."""

import logging

from interlock.domain.cancellation import (
    Cancellation,
    cancelled,
    is_cancelled,
    objection_to_cancel,
)
from interlock.domain.event import EventType, clean
from interlock.domain.job import Running
from interlock.domain.job_record import JobRecord
from interlock.domain.launch import launch_of
from interlock.domain.run import Run
from interlock.domain.run_events import about_run
from interlock.errors import ConflictError, NotFoundError, TransientError
from interlock.usecases.find_runs import find_runs
from interlock.usecases.job_ending import ENDINGS, ask_job, ending_of
from interlock.usecases.ports import Ports
from interlock.usecases.run_order import RunOrder
from interlock.usecases.save_run import RunWrite, save_run
from interlock.usecases.take_place import call_next

log = logging.getLogger(__name__)


def cancel_run(order: RunOrder, ports: Ports) -> Cancellation:
    """The outcome that was stored first wins: a job that has ended keeps its end.

    The run ends first and its job is asked afterwards, so a process that dies in between asks again: a repeat
    asks the job once more and changes nothing else. Raises ConflictError when there is nothing to cancel.
    """
    config = ports.pipelines.find(order.key.pipeline_id)
    if config is None:
        raise NotFoundError(f"there is no pipeline {order.key.pipeline_id}")
    name = order.name
    found = find_runs([order.key], config.pipeline, ports).get(order.key)
    if found is None:
        raise NotFoundError(f"{order.key.pipeline_id} has no run of {order.key.date}")
    _check_job(found, name, ports)
    now = ports.clock()

    def decide(run: Run) -> RunWrite | None:
        if is_cancelled(run):
            return None
        objection = objection_to_cancel(run)
        if objection is not None:
            raise ConflictError(f"{name}: {objection}")
        over = cancelled(run, order.by, order.reason, now)
        assert over.failure is not None
        events = about_run(
            EventType.RUN_CANCELLED,
            over,
            config.pipeline,
            clean(over.failure.message),
            reason=clean(order.reason),
            requestedBy=order.by,
            runStatus=run.status,
            runId=run.run_id,
        )
        return RunWrite(over, events)

    over = save_run(found.key, decide, ports)
    asked = _ask_to_stop(over, ports)
    call_next(over, config.pipeline, ports)
    return Cancellation(over, asked)


def _ask_to_stop(run: Run, ports: Ports) -> bool | None:
    """None if there is no job to stop: it was never launched, or it has ended."""
    records = ports.job_log.of_run(run.key)
    ended = any(line.attempt == run.attempt and line.event in ENDINGS for line in records)
    if not run.job or ended:
        return None
    if ports.jobs.cancel(run.job):
        return True
    try:
        return False if isinstance(ports.jobs.poll(run.job), Running) else None
    except TransientError:
        return False


def _check_job(run: Run, name: str, ports: Ports) -> None:
    """Raises ConflictError if the job has ended and the run does not say so yet."""
    launch = launch_of(run)
    if launch is None:
        return
    ending = ending_of(launch, ports.job_log.of_run(run.key))
    if ending is None:
        try:
            news = ask_job(launch, ports)
        except Exception as error:  # noqa: BLE001 - a job that can't be seen can still be cancelled
            extra = {"action": "job_not_asked", "run": str(run.key)}
            log.warning("can't get the state of the job of %s: %s", run.key, error, extra=extra)
            return
        ending = news if isinstance(news, JobRecord) else None
    if ending is not None:
        raise ConflictError(f"{name}: its job has just ended ({ending.event}): its outcome stands")
