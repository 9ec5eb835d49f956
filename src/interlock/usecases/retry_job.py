"""Retry a job: arm the timer for a failed attempt's retry, and open the next attempt when it fires."""

from typing import Any

import msgspec

from interlock.domain.budgets import retry_budget
from interlock.domain.config import Config
from interlock.domain.event import Event, EventType
from interlock.domain.job_record import JobRecord
from interlock.domain.rerun_request import RerunRecord
from interlock.domain.run import OpenedBy, Run, RunKey, Status
from interlock.domain.run_events import about_run
from interlock.domain.timer import Timer, TimerKind
from interlock.domain.timestamp import spell
from interlock.usecases.claim_event import claim_event
from interlock.usecases.given_up import given_up
from interlock.usecases.job_ending import is_failure, retry_of
from interlock.usecases.ports import Ports
from interlock.usecases.reopen_run import reopen_run
from interlock.usecases.save_run import RunWrite, save_run


def retry_job(key: RunKey, attempt: int, ports: Ports, recovered: bool = False) -> Run | None:
    """Open the next attempt if the run is FAILED with that retry due; otherwise do nothing.

    None while the pipeline is paused: the watchdog comes back to it.
    """
    config = ports.pipelines.find(key.pipeline_id)
    now = ports.clock()
    if config is not None and config.is_paused(now):
        return None
    run = ports.runs.find([key]).get(key)
    if run is None:
        return None
    if config is None or config.is_retired or not config.pipeline.has_schedule(key.schedule_id):
        return _give_up(key, attempt, config, ports)

    def may(stored: Run) -> bool:
        return stored.attempt == attempt and stored.awaits_retry

    def spend(stored: Run) -> dict[str, object]:
        if stored.failure is not None and stored.failure.reason == "infra":
            return {}
        category = None if stored.failure is None else stored.failure.category
        budget = retry_budget(category, stored.spending, config.pipeline.job)
        return {"spending": budget.spend(stored.spending)} if budget.left else {}

    return reopen_run(
        key,
        OpenedBy.RETRY,
        "" if run.failure is None else run.failure.reason,
        config,
        ports,
        may=may,
        record=_record,
        changes=spend,
        events=lambda fresh: _recovery(fresh, config) if recovered else (),
    )


def foretell_retry(record: JobRecord, ports: Ports) -> None:
    """A dry run has no job; for a failure elsewhere, it reports what it would do."""
    config = ports.pipelines.find(record.key.pipeline_id)
    key = msgspec.structs.replace(record.key, dry=True)
    run = ports.runs.find([key]).get(key)
    if config is None or run is None or run.status is Status.UNREADABLE or not is_failure(record):
        return
    retry = retry_of(record, run, config.pipeline.job)
    kind = EventType.DRY_RUN_WOULD_RETRY if retry.due_at else EventType.DRY_RUN_RETRY_EXHAUSTED
    detail: dict[str, Any] = {} if retry.due_at is None else {"retryAt": spell(retry.due_at)}
    for event in about_run(
        kind,
        run,
        config.pipeline,
        "the failure would be retried" if retry.due_at else "the failure would not be retried",
        at=record.at,
        category=record.category,
        spent=retry.budget.spent,
        max=retry.budget.max,
        **detail,
    ):
        claim_event(event, ports)


def retry_timer(run: Run) -> Timer:
    """The timer of a retry that is due; its name contains the failed attempt."""
    assert run.retry_at is not None
    key = run.key
    return Timer(
        f"retry.{key.pipeline_id}.{key.schedule_id}.{key.date}.{run.attempt}",
        TimerKind.RETRY,
        run.retry_at,
        {
            "timer": "retry",
            "pipelineId": key.pipeline_id,
            "scheduleId": key.schedule_id,
            "date": key.date,
            "attempt": run.attempt,
            "dry": key.dry,
        },
    )


def _record(run: Run) -> RerunRecord:
    return RerunRecord(
        key=run.key,
        attempt=run.attempt,
        source="job",
        reason=run.opened_for,
        triggered_at=run.opened_at,
    )


def _recovery(run: Run, config: Config) -> tuple[Event, ...]:
    return about_run(
        EventType.TRIGGER_RECOVERED,
        run,
        config.pipeline,
        f"the watchdog started the retry of attempt {run.attempt - 1}",
        parts=(run.attempt, "restart"),
        how="restart",
    )


def _give_up(key: RunKey, attempt: int, config: Config | None, ports: Ports) -> Run:
    """The run ends here, with an event: a promised retry does not come."""
    now = ports.clock()

    def decide(run: Run) -> RunWrite | None:
        if run.attempt != attempt or not run.awaits_retry:
            return None
        over = run.to(Status.FAILED_FINAL, now, retry_at=None)
        return RunWrite(over, given_up(over, config, f"the retry of attempt {attempt}"))

    return save_run(key, decide, ports)
