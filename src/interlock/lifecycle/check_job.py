"""Check the job: whether it has ended, and how. What the job wrote itself wins over what we ask."""

from typing import Any

from interlock.domain.event import Event, EventType, clean
from interlock.domain.run import Run, Status
from interlock.domain.telling import about_run
from interlock.lifecycle.polling import poll_answer
from interlock.lifecycle.step import Step
from interlock.ports import Ports, Running
from interlock.usecases.job_ending import ask_job, ending_of
from interlock.usecases.load_run import load_run
from interlock.usecases.note_failure import note_failure
from interlock.usecases.save_run import Write, save_run


def check_job(step: Step, ports: Ports) -> dict[str, Any]:
    """A terminal answer is kept in the job log first; a repeat finds it there."""
    now = ports.clock()
    run = load_run(step.key, ports)
    if not step.is_current(run) or run.status is not Status.RUNNING:
        return poll_answer(step, run, now)
    ending = ending_of(run, ports.job_log.of_run(run.key)) or ask_job(run, now, ports)
    if isinstance(ending, Running):
        _note_running(run, ending.message, ending.unseen, step, ports)
        return poll_answer(step, run, now)
    if ending.event != "success":
        run = note_failure(run.key, run.attempt, ending, step.pipeline, ports)
    ports.job_log.append(ending)
    return poll_answer(step, run, now, ending.event)


def _note_running(run: Run, message: str, unseen: bool, step: Step, ports: Ports) -> None:
    """Keep what the platform says for `why`; that it will not tell us is an event, once."""
    shown = clean(message, 500) or None
    if shown == run.job_message and unseen == run.job_unseen:
        return

    def decide(stored: Run) -> Write | None:
        if not step.is_current(stored) or stored.status is not Status.RUNNING:
            return None
        noted = stored.changed(
            ports.clock(), job_message=shown, job_unseen=stored.job_unseen or unseen
        )
        first = unseen and not stored.job_unseen
        return Write(noted, _unseen(noted, message, step) if first else ())

    save_run(run.key, decide, ports)


def _unseen(run: Run, message: str, step: Step) -> tuple[Event, ...]:
    return about_run(
        EventType.INFRA_FAILURE,
        run,
        step.pipeline,
        f"the job can't be seen: {message}",
        parts=(run.attempt, "CheckJob"),
        source="check-job",
        state="CheckJob",
        error=clean(message),
        executionName=run.execution_name,
    )
