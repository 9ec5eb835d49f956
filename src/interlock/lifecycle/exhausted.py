"""Exhausted: the modes that end an attempt because something came too late or not at all."""

from collections.abc import Mapping
from typing import Any

from interlock.domain import canonical
from interlock.domain.budgets import Category
from interlock.domain.event import EventType, RowOverride, clean
from interlock.domain.job import Launched
from interlock.domain.job_record import JobRecord
from interlock.domain.opening import window_end
from interlock.domain.run import Failure, Run, Status
from interlock.domain.run_events import about_run
from interlock.domain.sla import failing_lines
from interlock.domain.timestamp import spell
from interlock.lifecycle.complete_trigger import finish_answer
from interlock.lifecycle.step import Step
from interlock.usecases.note_infra_failure import Breakdown, job_in_doubt, note_infra_failure
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run
from interlock.usecases.take_place import call_next


def validation_exhausted(step: Step, ports: Ports) -> dict[str, Any]:
    """The evaluation window closed: the run is FAILED, and changed data opens the date again."""
    now = ports.clock()

    def decide(run: Run) -> RunWrite | None:
        if not step.is_current(run) or run.status is not Status.PENDING:
            return None
        lines = failing_lines(run.verdict, now) or ["the rules did not hold in time"]
        failure = Failure("window", clean(f"validation window closed: {'; '.join(lines)}"))
        failed = run.to(Status.FAILED, now, failure=failure)
        results = () if run.verdict is None else run.verdict.results
        events = about_run(
            EventType.VALIDATION_EXHAUSTED,
            failed,
            step.pipeline,
            failure.message,
            failing=[r for r in results if r.kind],
            passing=[r for r in results if not r.kind],
            windowEnd=spell(window_end(run, step.pipeline)),
            evaluations=0 if run.verdict is None else run.verdict.evaluations,
        )
        return RunWrite(failed, events)

    run = save_run(step.key, decide, ports)
    _log(run, step, "validation-exhausted", ports)
    call_next(run, step.pipeline, ports)
    return finish_answer(run, step)


def trigger_exhausted(step: Step, ports: Ports) -> dict[str, Any]:
    """The launch failed for good. A job that started after all is asked to stop, and named. An attempt that
    is RUNNING was launched: it is left alone, and watched.
    """
    now = ports.clock()
    error = last_error(step.given, "Trigger")

    def decide(run: Run) -> RunWrite | None:
        if not step.is_current(run) or run.status not in (Status.PENDING, Status.TRIGGERING):
            return None
        found = job_in_doubt(run, step.pipeline, ports)
        started = found if isinstance(found, Launched) else None
        failure = Failure("launch", error)
        run_id = None if started is None else started.run_id
        failed = run.to(Status.FAILED, now, failure=failure, run_id=run_id)
        events = about_run(
            EventType.RETRY_EXHAUSTED,
            failed,
            step.pipeline,
            f"the job could not be launched: {error}",
            parts=(run.attempt, "launch"),
            override=RowOverride(source="trigger-exhausted"),
            kind="launch",
            lastError=error,
            runId=run_id,
            cancelled=None if started is None else ports.jobs.cancel(started.metadata),
        )
        return RunWrite(failed, events)

    run = save_run(step.key, decide, ports)
    _log(run, step, "infra-trigger-exhausted", ports)
    call_next(run, step.pipeline, ports)
    return finish_answer(run, step)


def job_poll_exhausted(step: Step, ports: Ports) -> dict[str, Any]:
    """The poll window closed. No retry: the job may still be running, and two must not."""
    now = ports.clock()

    def decide(run: Run) -> RunWrite | None:
        if not step.is_current(run) or run.status is not Status.RUNNING:
            return None
        running = now - (run.launched_at or now)
        failure = Failure("poll", "the job did not end within its poll window", Category.TIMEOUT)
        failed = run.to(Status.FAILED_FINAL, now, failure=failure)
        events = about_run(
            EventType.JOB_POLL_EXHAUSTED,
            failed,
            step.pipeline,
            f"the job did not end within {int(step.pipeline.job.poll_window.total_seconds())} s",
            runId=run.run_id,
            runningForSeconds=int(running.total_seconds()),
            pollWindowSeconds=int(step.pipeline.job.poll_window.total_seconds()),
            lastState=run.job_message,
            cancelled=ports.jobs.cancel(run.job),
        )
        return RunWrite(failed, events)

    run = save_run(step.key, decide, ports)
    _log(run, step, "timeout", ports, final=True)
    call_next(run, step.pipeline, ports)
    return finish_answer(run, step)


def infra_failure(step: Step, ports: Ports) -> dict[str, Any]:
    """A step failed beyond its retries."""
    broke = broken_state(step.given)
    run = note_infra_failure(step.key, step.attempt, broke, step.pipeline, ports)
    call_next(run, step.pipeline, ports)
    return finish_answer(run, step) | {"outcome": "infra-failure"}


def last_error(given: Mapping[str, Any], state: str) -> str:
    """The message of the error that was caught; a function's error comes wrapped in JSON."""
    caught = _caught(given, state)
    cause = str(caught.get("Cause") or caught.get("Error") or "unknown error")
    try:
        told = canonical.decode(cause)
    except ValueError:
        told = None
    message = told.get("errorMessage") if isinstance(told, dict) else None
    return clean(str(message or cause))


def _caught(given: Mapping[str, Any], state: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (given.get("errors") or {}).get(state) or {}
    return found


def broken_state(given: Mapping[str, Any]) -> Breakdown:
    """The state that led here, not one whose error was caught on the way."""
    names = list(given.get("errors") or {}) or ["unknown"]
    state = ([name for name in names if name not in _PASSED_OVER] or names)[-1]
    return Breakdown(state, last_error(given, state), _caught(given, state).get("Error"))


#: States whose errors are caught on the way to another outcome.
_PASSED_OVER = frozenset({"Trigger", "CheckJob", "ScheduleSLAAlerts"})


def _log(run: Run, step: Step, event: str, ports: Ports, final: bool = False) -> None:
    if run.attempt != step.attempt or run.failure is None:
        return
    ports.job_log.append(
        JobRecord(
            key=run.key,
            at=run.changed_at,
            event=event,
            attempt=run.attempt,
            run_id=run.run_id,
            error=run.failure.message,
            category=run.failure.category,
            final=final,
        )
    )
