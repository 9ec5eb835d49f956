"""Giving up: the modes that end an attempt because something did not come in time, or not at all."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from interlock.domain import canonical
from interlock.domain.budgets import INFRA_DELAY, INFRA_RETRIES, Category
from interlock.domain.event import EventType, clean
from interlock.domain.run import Failure, Run, Status
from interlock.domain.sla import failing_lines
from interlock.domain.telling import about_run
from interlock.lifecycle.complete_trigger import outcome
from interlock.lifecycle.step import Step
from interlock.ports import JobRecord, Launched, Ports
from interlock.usecases.job_context import job_context
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.save_run import Write, save_run


def validation_exhausted(step: Step, ports: Ports) -> dict[str, Any]:
    """The evaluation window closed: the run is FAILED, and changed data opens the date again."""
    now = ports.clock()

    def decide(run: Run) -> Write | None:
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
            windowEnd=step.given["windowEnd"],
            evaluations=0 if run.verdict is None else run.verdict.evaluations,
        )
        return Write(failed, events)

    run = save_run(step.key, decide, ports)
    _log(run, step, "validation-exhausted", ports)
    return answer(run, step)


def trigger_exhausted(step: Step, ports: Ports) -> dict[str, Any]:
    """The launch was given up. A job that did start after all is asked to stop, and named."""
    now = ports.clock()
    error = last_error(step.given, "Trigger")

    def decide(run: Run) -> Write | None:
        if not step.is_current(run) or run.status not in (Status.PENDING, Status.TRIGGERING):
            return None
        started = _started(run, step, ports)
        failure = Failure("launch", error)
        run_id = None if started is None else started.run_id
        failed = run.to(Status.FAILED, now, failure=failure, run_id=run_id)
        events = about_run(
            EventType.RETRY_EXHAUSTED,
            failed,
            step.pipeline,
            f"the job could not be launched: {error}",
            parts=(run.attempt, "launch"),
            source="trigger-exhausted",
            kind="launch",
            lastError=error,
            runId=run_id,
            cancelled=None if started is None else ports.jobs.cancel(started.metadata),
        )
        return Write(failed, events)

    run = save_run(step.key, decide, ports)
    _log(run, step, "infra-trigger-exhausted", ports)
    return answer(run, step)


def job_poll_exhausted(step: Step, ports: Ports) -> dict[str, Any]:
    """The poll window closed. No retry: the job may still be running, and two must not."""
    now = ports.clock()

    def decide(run: Run) -> Write | None:
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
        return Write(failed, events)

    run = save_run(step.key, decide, ports)
    _log(run, step, "timeout", ports, final=True)
    return answer(run, step)


def infra_failure(step: Step, ports: Ports) -> dict[str, Any]:
    """A step failed beyond its retries. What has not started is tried again, three times a date;
    what is running keeps running, and the watchdog finishes it from the job log.

    It may be the bus that failed: the run is marked and its retry due before anybody is told.
    """
    now = ports.clock()
    state, error = failed_state(step.given)

    def decide(run: Run) -> Write | None:
        if not step.is_current(run) or _already(run, state):
            return None
        noted = _after_infra(run, error, now, step, ports)
        events = about_run(
            EventType.INFRA_FAILURE,
            noted,
            step.pipeline,
            f"{state} failed: {error}",
            parts=(run.attempt, state),
            state=state,
            error=error,
            cause=_caught(step.given, state).get("Error"),
            executionName=run.execution_name,
        )
        return Write(noted, events)

    run = save_run(step.key, decide, ports, tell=False)
    if run.attempt == step.attempt and run.status is Status.FAILED:
        _log(run, step, "infra-trigger-failure", ports)
    publish_outbox(step.key, ports)
    return answer(run, step) | {"outcome": "infra-failure"}


def answer(run: Run, step: Step) -> dict[str, Any]:
    return {
        "current": run.attempt == step.attempt,
        "outcome": outcome(run, step),
        "settleSla": False,
    }


def last_error(given: Mapping[str, Any], state: str) -> str:
    """The text of what a state was caught with; a function's error comes wrapped in JSON."""
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


def failed_state(given: Mapping[str, Any]) -> tuple[str, str]:
    """The state that brought the execution here, and not one that was caught and passed over."""
    names = list(given.get("errors") or {}) or ["unknown"]
    ended = [name for name in names if name not in _PASSED_OVER] or names
    return ended[-1], last_error(given, ended[-1])


#: States whose errors are caught on the way to other ends.
_PASSED_OVER = frozenset({"Trigger", "CheckJob", "ScheduleSLAAlerts"})


def _after_infra(run: Run, error: str, now: datetime, step: Step, ports: Ports) -> Run:
    failure = Failure("infra", error)
    if run.status is Status.TRIGGERING:
        started = _started(run, step, ports)
        if started is not None:
            return run.to(
                Status.RUNNING,
                now,
                run_id=started.run_id,
                job_type=step.pipeline.job.type,
                job=started.metadata,
                launched_at=now,
                lease_until=now,
            )
    if run.status is Status.RUNNING:
        return run.changed(now, lease_until=now, job_message=clean(error, 500))
    retry_at = now + INFRA_DELAY if run.infra_retries < INFRA_RETRIES else None
    return run.to(
        Status.FAILED,
        now,
        failure=failure,
        retry_at=retry_at,
        infra_retries=run.infra_retries + (retry_at is not None),
    )


def _already(run: Run, state: str) -> bool:
    return run.status is Status.RUNNING and run.lease_until <= run.changed_at


def _started(run: Run, step: Step, ports: Ports) -> Launched | None:
    """The job that did start under this attempt's token, if one did."""
    if run.status is not Status.TRIGGERING:
        return None
    found = ports.jobs.find(step.pipeline, job_context(run, ports))
    return found if isinstance(found, Launched) else None


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
