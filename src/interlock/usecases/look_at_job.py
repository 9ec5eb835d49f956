"""Look at a job: what its platform says about it now, before a deadline of its run is judged."""

import logging
from datetime import datetime

from interlock.domain.event import clean
from interlock.domain.job import Launched, Running
from interlock.domain.job_record import JobRecord
from interlock.domain.launch import Launch, launch_of
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run
from interlock.domain.sla import JobSeen, asked_as_of
from interlock.usecases.job_context import job_context
from interlock.usecases.job_ending import ask_job, dated, ending_of
from interlock.usecases.ports import Ports

log = logging.getLogger(__name__)


def look_at_job(run: Run, moment: datetime, pipeline: Pipeline, ports: Ports) -> JobSeen:
    """As of that instant. If the platform does not answer, or refuses to show the job, its state is
    unknown.
    """
    try:
        return _seen(run, asked_as_of(moment, ports.clock()), pipeline, ports)
    except Exception as error:  # noqa: BLE001 - whatever keeps us from asking, the job is not known
        extra = {"action": "job_not_asked", "run": str(run.key)}
        log.warning("the job of %s can't be asked: %s", run.key, error, extra=extra)
        return JobSeen(run.attempt, ports.clock(), problem=clean(str(error)))


def _seen(run: Run, asked_at: datetime, pipeline: Pipeline, ports: Ports) -> JobSeen:
    """Records a success in the job log, as the poll of the execution would, for later readers."""
    launch = launch_of(run)
    if launch is None:
        launch = _found(run, pipeline, ports)
        return (
            JobSeen(run.attempt, ports.clock())
            if launch is None
            else _asked(launch, asked_at, ports)
        )
    known = ending_of(launch, ports.job_log.of_run(run.key))
    if known is not None:
        return _ended(launch, dated(known, run), ports.clock())
    return _asked(launch, asked_at, ports, keep=True)


def _found(run: Run, pipeline: Pipeline, ports: Ports) -> Launch | None:
    """The job of a launch whose response was lost."""
    found = ports.jobs.find(pipeline, job_context(run, ports))
    if not isinstance(found, Launched):
        return None
    return Launch(run.key, run.attempt, found.run_id, run.changed_at, found.metadata)


def _asked(launch: Launch, asked_at: datetime, ports: Ports, *, keep: bool = False) -> JobSeen:
    news = ask_job(launch, ports, asked_at)
    if isinstance(news, Running):
        problem = clean(news.message) if news.unseen else None
        return JobSeen(launch.attempt, ports.clock(), problem=problem)
    if keep and news.event == "success":
        ports.job_log.append(news)
    return _ended(launch, news, ports.clock())


def _ended(launch: Launch, ending: JobRecord, at: datetime) -> JobSeen:
    succeeded_at = ending.at if ending.event == "success" else None
    return JobSeen(launch.attempt, at, succeeded_at=succeeded_at, undated=ending.undated)
