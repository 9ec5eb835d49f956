"""Trigger: launch the job of a run whose rules hold, once per attempt."""

from datetime import datetime, timedelta
from typing import Any

from interlock.domain.budgets import Category
from interlock.domain.event import clean
from interlock.domain.job import CannotTell, JobContext, Launched
from interlock.domain.job_record import LAUNCH_FAILED, JobRecord
from interlock.domain.launch import at_most_once, requested_at
from interlock.domain.opening import unarmed
from interlock.domain.run import Run, Status
from interlock.errors import InterlockError, LaunchError, TransientError, TransitionError
from interlock.lifecycle.polling import poll_answer
from interlock.lifecycle.step import Step
from interlock.usecases.job_context import job_context
from interlock.usecases.note_launch import launch_record, launched_write
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run

#: The shortest pause between tries.
_SOONEST = timedelta(seconds=30)


def trigger(step: Step, ports: Ports) -> dict[str, Any]:
    """Called again while TRIGGERING, it looks for a job under its token before launching one. A repeat of a
    call that died after a failed launch returns that failure: it does not count as another try.
    """
    now = ports.clock()
    again = False

    def claim(run: Run) -> RunWrite | None:
        nonlocal again
        again = run.status is Status.TRIGGERING
        if not step.is_current(run) or run.status is not Status.PENDING:
            return None
        if run.verdict is None or not run.verdict.ready:
            raise TransitionError(f"{run.key}: no passing verdict, no launch")
        return RunWrite(run.to(Status.TRIGGERING, now))

    run = save_run(step.key, claim, ports)
    if step.is_current(run) and run.status is Status.TRIGGERING:
        context = job_context(run, ports)
        found = _found(step, context, now, ports) if again else None
        # a job may end before its launch returns, so it counts as running since the request; if an earlier
        # request may have started it, since that one
        began = requested_at(run) if isinstance(found, Launched | CannotTell) else ports.clock()
        launched = found if isinstance(found, Launched) else _launch(step, context, found, ports)
        run = save_run(step.key, lambda stored: _noted(stored, launched, began, step, ports), ports)
    if step.is_current(run) and run.status is Status.RUNNING:
        ports.job_log.append(launch_record(run))
    return _answer(step, run, ports)


def _found(step: Step, context: JobContext, now: datetime, ports: Ports) -> object:
    """What is known of a job under this token. A logged failure is the outcome of the launch, unless it is
    transient and the next try is due.
    """
    last = next(reversed(_failed_tries(step, ports)), None)
    if last is not None:
        message = last.error or ""
        if last.category not in (None, Category.TRANSIENT):
            raise LaunchError(last.category, message)
        if now - last.at < _SOONEST:
            raise TransientError(message)
    return ports.jobs.find(step.pipeline, context)


def _launch(step: Step, context: JobContext, found: object, ports: Ports) -> Launched:
    try:
        if isinstance(found, CannotTell) and at_most_once(step.pipeline.job):
            raise LaunchError("PERMANENT", "outcome unknown, not repeated", maybe_started=True)
        return ports.jobs.launch(step.pipeline, context)
    except LaunchError as error:
        message = clean(str(error))
        ports.job_log.append(_failed_record(step, error.category, message, ports))
        if error.category == "TRANSIENT":
            _note_trouble(step, message, ports)
            raise TransientError(message) from error
        raise
    except InterlockError as error:
        ports.job_log.append(_failed_record(step, None, clean(str(error)), ports))
        raise


def _failed_tries(step: Step, ports: Ports) -> list[JobRecord]:
    """One line per try: the log keeps one line per attempt and event, so the second try is logged as `-2`."""
    return [
        line
        for line in ports.job_log.of_run(step.key)
        if line.attempt == step.attempt and line.event.startswith(LAUNCH_FAILED)
    ]


def _failed_record(step: Step, category: str | None, message: str, ports: Ports) -> JobRecord:
    before = len(_failed_tries(step, ports))
    return JobRecord(
        key=step.key,
        at=ports.clock(),
        event=f"{LAUNCH_FAILED}-{before + 1}" if before else LAUNCH_FAILED,
        attempt=step.attempt,
        error=message,
        category=None if category is None else Category(category),
    )


def _note_trouble(step: Step, message: str, ports: Ports) -> None:
    """Keep for `why` why the launch failed, while it is retried."""

    def decide(stored: Run) -> RunWrite | None:
        if not step.is_current(stored) or stored.status is not Status.TRIGGERING:
            return None
        if stored.job_message == message:
            return None
        return RunWrite(stored.changed(ports.clock(), job_message=message))

    save_run(step.key, decide, ports)


def _noted(
    run: Run, launched: Launched, began: datetime, step: Step, ports: Ports
) -> RunWrite | None:
    if run.attempt != step.attempt or run.status is not Status.TRIGGERING:
        return None
    return launched_write(run, launched, step.pipeline, began, ports.clock())


def _answer(step: Step, run: Run, ports: Ports) -> dict[str, Any]:
    answer = poll_answer(step, run, ports.clock())
    arm = answer["launched"] and not run.key.dry and any(True for _ in unarmed(run))
    return answer | {"armSla": arm}
