"""Look at a job: ask its platform for its state before a deadline of its run is judged."""

import logging
from datetime import datetime
from typing import assert_never

from interlock.domain.event import clean
from interlock.domain.job import Absent, CannotTell, Launched, Running
from interlock.domain.job_record import JobRecord
from interlock.domain.launch import Launch, launch_of, requested_at
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run
from interlock.domain.sla import JobSeen, asked_as_of
from interlock.usecases.job_context import job_context
from interlock.usecases.job_ending import ask_job, dated, ending_of
from interlock.usecases.ports import Ports

log = logging.getLogger(__name__)

_IN_DOUBT = "its platform can't say whether the job was started"
_ENDING = "the job has ended, and how is not recorded yet"


def look_at_job(run: Run, moment: datetime, pipeline: Pipeline, ports: Ports) -> JobSeen:
    """As of that moment. Unknown if the platform does not answer, or denies access to the job."""
    try:
        return _seen(run, asked_as_of(moment, ports.clock()), pipeline, ports)
    except Exception as error:  # noqa: BLE001 - whatever the error, the state is unknown
        extra = {"action": "job_not_asked", "run": str(run.key)}
        log.warning("can't get the state of the job of %s: %s", run.key, error, extra=extra)
        return JobSeen(run.attempt, ports.clock(), problem=clean(str(error)))


def _seen(run: Run, asked_at: datetime, pipeline: Pipeline, ports: Ports) -> JobSeen:
    """Writes a success to the job log, as the execution's poll would, so that the next reader finds it."""
    launch = launch_of(run)
    if launch is None:
        return _looked_for(run, asked_at, pipeline, ports)
    known = ending_of(launch, ports.job_log.of_run(run.key))
    if known is not None:
        return _ended(launch, dated(known, run), ports.clock())
    return _asked(launch, asked_at, ports, keep=True)


def _looked_for(run: Run, asked_at: datetime, pipeline: Pipeline, ports: Ports) -> JobSeen:
    """The job of a launch whose response may have been lost."""
    found = ports.jobs.find(pipeline, job_context(run, ports))
    match found:
        case Launched():
            launch = Launch(run.key, run.attempt, found.run_id, requested_at(run), found.metadata)
            return _asked(launch, asked_at, ports)
        case Absent():
            return JobSeen(run.attempt, ports.clock())
        case CannotTell():
            return JobSeen(run.attempt, ports.clock(), problem=_IN_DOUBT)
        case _:
            assert_never(found)


def _asked(launch: Launch, asked_at: datetime, ports: Ports, *, keep: bool = False) -> JobSeen:
    news = ask_job(launch, ports, asked_at)
    if isinstance(news, Running):
        problem = _ENDING if news.ending else clean(news.message) if news.unseen else None
        return JobSeen(launch.attempt, ports.clock(), problem=problem)
    if keep and news.event == "success":
        ports.job_log.append(news)
    return _ended(launch, news, ports.clock())


def _ended(launch: Launch, ending: JobRecord, at: datetime) -> JobSeen:
    succeeded_at = ending.at if ending.event == "success" else None
    return JobSeen(launch.attempt, at, succeeded_at=succeeded_at, undated=ending.undated)
