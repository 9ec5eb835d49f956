"""Recover a run: what the watchdog does about an attempt that was not started, broke off or never ended.

Every write is conditional on what was found, and may be made twice, or by two passes at once.
"""

from datetime import datetime, timedelta

import msgspec

from interlock.domain import duration
from interlock.domain.config import Config
from interlock.domain.event import Event, EventType
from interlock.domain.findings import (
    ExtendLease,
    Finish,
    GiveUp,
    NoteStarted,
    Restart,
    Resume,
    RetryNow,
    TimeOut,
)
from interlock.domain.guards import LEASE_EXTENSION
from interlock.domain.job_record import JobRecord
from interlock.domain.launch import launch_of
from interlock.domain.run import EngineState, Failure, Run, Status
from interlock.domain.run_events import about_run
from interlock.domain.timestamp import spell
from interlock.usecases.claim_event import claim_event
from interlock.usecases.complete_run import complete_run
from interlock.usecases.job_ending import ask_job
from interlock.usecases.note_failure import note_failure
from interlock.usecases.note_infra_failure import Breakdown, note_infra_failure
from interlock.usecases.ports import Ports
from interlock.usecases.retry_job import retry_job
from interlock.usecases.save_run import RunWrite, save_run
from interlock.usecases.settle_deadline import settle_deadline
from interlock.usecases.start_run import start_again, start_run
from interlock.usecases.take_place import call_next


def restart_run(finding: Restart, config: Config, now: datetime, ports: Ports) -> None:
    """Told when the start has worked: until then nothing was recovered."""
    run = finding.run
    start_run(run, config.pipeline, ports)
    now = ports.clock()

    def decide(stored: Run) -> RunWrite | None:
        if stored.attempt != run.attempt or stored.started_at is not None:
            return None
        noted = stored.changed(now, started_at=now, recovered=True)
        if stored.recovered:
            return RunWrite(noted)  # an event already says that the watchdog recovered this attempt
        return RunWrite(noted, recovery_events(noted, "restart", config, late=now - run.opened_at))

    save_run(run.key, decide, ports)


def note_started(finding: NoteStarted, config: Config, now: datetime, ports: Ports) -> None:
    run = finding.run

    def decide(stored: Run) -> RunWrite | None:
        if stored.attempt != run.attempt or stored.started_at is not None:
            return None
        return RunWrite(stored.changed(now, started_at=now))

    save_run(run.key, decide, ports)


def extend_lease(finding: ExtendLease, config: Config, now: datetime, ports: Ports) -> None:
    run = finding.run
    until = now + (ports.lease if finding.unwatched else LEASE_EXTENSION)

    def decide(stored: Run) -> RunWrite | None:
        if stored.attempt != run.attempt or not stored.is_open:
            return None
        return RunWrite(stored.changed(now, lease_until=until))

    save_run(run.key, decide, ports)


def finish_run(finding: Finish, config: Config, now: datetime, ports: Ports) -> None:
    _finish(finding.run, config, ports)


def resume_run(finding: Resume, config: Config, now: datetime, ports: Ports) -> None:
    """A name that the engine does not have is free: a start under it has failed, or is forgotten."""
    run, engine = finding.run, finding.engine
    now = ports.clock()

    def decide(stored: Run) -> RunWrite | None:
        moved_on = stored.attempt != run.attempt or stored.executions != run.executions
        if engine is EngineState.ABSENT or moved_on or not stored.is_open:
            return None
        again = stored.resumed(now, ports.lease)
        told = stored.executions > 1  # once an attempt, like everything that is recovered
        return RunWrite(again, () if told else recovery_events(again, "resume", config))

    stored = save_run(run.key, decide, ports)
    if stored.attempt == run.attempt and stored.is_open:
        start_again(stored, config.pipeline, ports)


def give_up_run(finding: GiveUp, config: Config, now: datetime, ports: Ports) -> None:
    run = finding.run
    note_infra_failure(run.key, run.attempt, _BROKE_OFF, config.pipeline, ports)


def time_out_run(finding: TimeOut, config: Config, now: datetime, ports: Ports) -> None:
    """Poll the job once more before the run times out: if the job has ended, its own end counts."""
    run = finding.run
    launch = launch_of(run)
    ending = None if launch is None else ask_job(launch, ports)
    if isinstance(ending, JobRecord):
        if ending.event != "success":
            note_failure(run.key, run.attempt, ending, config.pipeline, ports)
        ports.job_log.append(ending)
        _finish(run, config, ports)
        return

    def decide(stored: Run) -> RunWrite | None:
        if stored.attempt != run.attempt or not stored.is_open:
            return None
        failure = Failure("lease", "the execution ended without finishing the run")
        over = stored.to(Status.FAILED_FINAL, now, failure=failure)
        events = about_run(
            EventType.SFN_TIMEOUT,
            over,
            config.pipeline,
            f"step function timed out for {run.key}",
            executionName=run.execution_name,
            leaseUntil=spell(run.lease_until),
            engineStatus=finding.engine,
            runStatus=stored.status,
            runId=stored.run_id,
        )
        return RunWrite(over, events)

    over = save_run(run.key, decide, ports)
    call_next(over, config.pipeline, ports)
    if over.job:
        ports.jobs.cancel(over.job)


def retry_now(finding: RetryNow, config: Config, now: datetime, ports: Ports) -> None:
    retry_job(finding.run.key, finding.run.attempt, ports, recovered=True)


def recovery_events(
    run: Run,
    how: str,
    config: Config,
    *,
    due: datetime | None = None,
    key: str | None = None,
    late: timedelta | None = None,
) -> tuple[Event, ...]:
    """That the watchdog did what should have happened, and how."""
    return about_run(
        EventType.TRIGGER_RECOVERED,
        run,
        config.pipeline,
        f"the watchdog {_HOW[how]}",
        parts=(run.attempt, how),
        how=how,
        due=None if due is None else spell(due),
        key=key,
        lateBy=None if late is None else duration.for_people(late),
    )


def _finish(run: Run, config: Config, ports: Ports) -> None:
    """The engine is gone and the job log says success: complete the run as the engine would have, or what
    it has left of that.

    Told first: a pass that dies on the way finds the run as it was, and tells nothing twice.
    """
    told = msgspec.structs.replace(run, changed_at=ports.clock())
    for event in recovery_events(told, "completion" if run.is_open else "follow-up", config):
        claim_event(event, ports)
    complete_run(run.key, run.attempt, config.pipeline, ports)
    settle_deadline(run.key, config, ports)


#: What there is to say of an execution that ended and said nothing.
_BROKE_OFF = Breakdown("Execution", "the execution ended without finishing the run")

_HOW = {
    "restart": "started the attempt",
    "completion": "completed the run from the job log",
    "follow-up": "finished what the completion leads to",
    "resume": "started another execution, which continues the attempt",
    "reading": "acted on a reading that had no effect yet",
    "late-fire": "fired a schedule late",
}
