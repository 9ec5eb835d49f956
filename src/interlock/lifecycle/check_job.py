"""Check the job: whether it has ended, and how. What the job logged itself wins over what its platform
says.
"""

from datetime import datetime
from typing import Any

from interlock.domain.event import Event, EventType, RowOverride, clean
from interlock.domain.job import Running
from interlock.domain.job_record import JobRecord
from interlock.domain.launch import Launch, launch_of
from interlock.domain.run import Run, Status
from interlock.domain.run_events import about_run
from interlock.lifecycle.polling import (
    ended_answer,
    poll_answer,
    running_answer,
    watched_by,
)
from interlock.lifecycle.step import Step
from interlock.usecases.job_ending import ask_job, ending_of
from interlock.usecases.load_run import load_run
from interlock.usecases.note_failure import note_failure
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run


def check_job(step: Step, ports: Ports) -> dict[str, Any]:
    """A job without news is answered without reading the run. A terminal answer goes into the job log first;
    a repeat finds it there.
    """
    now = ports.clock()
    launch = watched_by(step)
    if launch is None:
        run = load_run(step.key, ports)
        launch = launch_of(run) if step.is_current(run) else None
        if launch is None:
            return poll_answer(step, run, now)
    known = ending_of(launch, ports.job_log.of_run(step.key))
    news = known or ask_job(launch, ports)
    if not isinstance(news, Running):
        return _ended(step, launch, news, known is not None, now, ports)
    shown = clean(news.message, 500) or None
    if launch.says_nothing_new(shown, news.unseen):
        return running_answer(step, launch, now)
    return poll_answer(step, _note_running(step, news, shown, ports), now)


def _ended(
    step: Step, launch: Launch, ending: JobRecord, known: bool, now: datetime, ports: Ports
) -> dict[str, Any]:
    """A success holds for its attempt whatever the run does; the next step completes the run."""
    if ending.event != "success":
        run = note_failure(step.key, step.attempt, ending, step.pipeline, ports)
        if not step.is_current(run):
            return poll_answer(step, run, now)
    if not known:
        ports.job_log.append(ending)
    return ended_answer(step, launch, ending, now)


def _note_running(step: Step, news: Running, shown: str | None, ports: Ports) -> Run:
    """Keep what the platform says for `why`; a platform that refuses to answer is an event, once."""

    def decide(stored: Run) -> RunWrite | None:
        if not step.is_current(stored) or stored.status is not Status.RUNNING:
            return None
        noted = stored.changed(
            ports.clock(), job_message=shown, job_unseen=stored.job_unseen or news.unseen
        )
        first = news.unseen and not stored.job_unseen
        return RunWrite(noted, _unseen(noted, news.message, step) if first else ())

    return save_run(step.key, decide, ports)


def _unseen(run: Run, message: str, step: Step) -> tuple[Event, ...]:
    return about_run(
        EventType.INFRA_FAILURE,
        run,
        step.pipeline,
        f"the job can't be seen: {message}",
        parts=(run.attempt, "CheckJob"),
        override=RowOverride(source="check-job"),
        state="CheckJob",
        error=clean(message),
        executionName=run.execution_name,
    )
