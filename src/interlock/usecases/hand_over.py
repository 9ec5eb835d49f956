"""Hand over: a wait for a place that outlasts its execution continues in the next one.

The run gets the name of the next execution first. A line in the job log then makes the router start it.
"""

from datetime import datetime, timedelta

from interlock.domain.config import Config
from interlock.domain.job_record import HANDED_OVER, JobRecord
from interlock.domain.pipeline import Pipeline
from interlock.domain.places import LOOK
from interlock.domain.run import Failure, Run, Status
from interlock.usecases.given_up import given_up
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run
from interlock.usecases.start_run import start_run

_MARGIN = timedelta(minutes=5)
#: For jobs that may take as long as an execution: `validate` warns, and not every look is handed over.
_SHORTEST = timedelta(minutes=15)


def has_waited_long(run: Run, pipeline: Pipeline, now: datetime, ports: Ports) -> bool:
    """Whether one more look would leave the execution no time for the job."""
    whole = ports.execution_timeout
    spare = whole - pipeline.job.poll_window - LOOK - _MARGIN
    return run.started_at is not None and now - run.started_at >= max(spare, _SHORTEST)


def tell_handover(run: Run, ports: Ports) -> None:
    """Once the next execution has begun, there is nothing to report."""
    if _is_handed_over(run) and run.handed_over_at is not None:
        number = f"-{run.handovers}" if run.handovers > 1 else ""
        ports.job_log.append(
            JobRecord(
                key=run.key,
                at=run.handed_over_at,
                event=f"{HANDED_OVER}{number}",
                attempt=run.attempt,
            )
        )


def go_on(record: JobRecord, ports: Ports) -> None:
    """Start the execution that a run was handed over to, under the file now in force. A run whose schedule
    was removed ends here.
    """
    run = ports.runs.find([record.key]).get(record.key)
    if run is None or run.attempt != record.attempt or not _is_handed_over(run):
        return
    config = ports.pipelines.find(run.key.pipeline_id)
    if config is not None and config.pipeline.has_schedule(run.key.schedule_id):
        start_run(run, config.pipeline, ports)
    else:
        save_run(run.key, lambda stored: _end(stored, run, config, ports), ports)


def _end(stored: Run, run: Run, config: Config | None, ports: Ports) -> RunWrite | None:
    if stored.attempt != run.attempt or not _is_handed_over(stored):
        return None
    failure = Failure("schedule", "its schedule is no longer in force")
    over = stored.to(Status.FAILED_FINAL, ports.clock(), failure=failure)
    return RunWrite(over, given_up(over, config, "a date that waited for a place"))


def _is_handed_over(run: Run) -> bool:
    return run.status is Status.PENDING and run.handovers > 0 and run.started_at is None
