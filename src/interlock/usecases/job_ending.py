"""Job ending: how the job of an attempt ended, according to the job log, and what follows a failure."""

from datetime import datetime, timedelta
from typing import assert_never

import msgspec

from interlock.domain.budgets import Category, Retry, decide_retry
from interlock.domain.event import clean
from interlock.domain.job import Failed, Running, Succeeded
from interlock.domain.job_output import last_lines
from interlock.domain.job_record import JobRecord
from interlock.domain.launch import Launch, launch_of
from interlock.domain.opening import instants
from interlock.domain.pipeline import Job
from interlock.domain.run import Failure, Run
from interlock.domain.sla import BREACHES, counted_end
from interlock.usecases.ports import Ports

ENDINGS = frozenset({"success", "fail", "timeout"})


def ending_of(launch: Launch, records: list[JobRecord]) -> JobRecord | None:
    """The first terminal record of this attempt. One without an attempt belongs to it if it is not
    older than its launch; one of another attempt never does.
    """
    for record in records:
        if record.event in ENDINGS and _belongs(record, launch):
            return record
    return None


def dated(ending: JobRecord, run: Run) -> JobRecord:
    """The end as it counts for the deadlines of its run. Where the platform does not date it, the log has
    only the time of the request.
    """
    if not ending.undated:
        return ending
    breaches = [at for kind, at in instants(run).items() if kind in BREACHES]
    return msgspec.structs.replace(ending, at=counted_end(ending.at, run, breaches))


def has_succeeded(run: Run, ports: Ports) -> bool:
    """Whether the job log says that the job of a RUNNING run succeeded."""
    launch = launch_of(run)
    ending = None if launch is None else ending_of(launch, ports.job_log.of_run(run.key))
    return ending is not None and ending.event == "success"


def is_failure(record: JobRecord) -> bool:
    return record.event in ENDINGS and record.event != "success"


def failure_of(record: JobRecord) -> Failure:
    """A failed ending as stored on the run."""
    reason = "stopped" if record.stopped else "job"
    return Failure(
        reason, clean(record.error or f"the job ended with {record.event}"), record.category
    )


def retry_of(record: JobRecord, run: Run, job: Job) -> Retry:
    """What follows a failed attempt: a pure function of its record and the budgets."""
    stays = record.stopped or record.final
    return decide_retry(record.category, stays, record.at, run.spending, job)


def ask_job(launch: Launch, ports: Ports, asked_at: datetime | None = None) -> JobRecord | Running:
    """What the platform says about the job: its end as a record, or that it is still running. An undated end
    gets the time of the request, which may be an earlier moment.
    """
    asked_at = asked_at or ports.clock()
    answer = ports.jobs.poll(launch.job)
    now = ports.clock()
    match answer:
        case Running():
            return answer
        case Succeeded(_, ended_at):
            return _record(launch, "success", ended_at, asked_at, now)
        case Failed(category, message, ended_at, stopped, output=output):
            event = "timeout" if category is Category.TIMEOUT else "fail"
            return msgspec.structs.replace(
                _record(launch, event, ended_at, asked_at, now),
                error=clean(message),
                category=category,
                stopped=stopped,
                output=last_lines(output) or None,
            )
        case _:
            assert_never(answer)


def _record(
    launch: Launch, event: str, ended_at: datetime | None, asked_at: datetime, now: datetime
) -> JobRecord:
    """Uses the end time that the platform reports, but never one before the launch or after now."""
    at = max(launch.launched_at, asked_at if ended_at is None else min(ended_at, now))
    return JobRecord(
        key=launch.key,
        at=at,
        event=event,
        attempt=launch.attempt,
        run_id=launch.run_id,
        duration=(at - launch.launched_at) / timedelta(seconds=1),
        polled=True,
        undated=ended_at is None,
    )


def _belongs(record: JobRecord, launch: Launch) -> bool:
    if record.attempt is not None:
        return record.attempt == launch.attempt
    return record.at >= launch.launched_at
