"""Judge a rerun: accept a request in one write with the new attempt, or reject it with a reason."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from interlock.domain.admission import judged_keys
from interlock.domain.budgets import rerun_source
from interlock.domain.calendars import excluded
from interlock.domain.config import Config
from interlock.domain.event import Event, EventType, happened, subject
from interlock.domain.horizon import last_believed
from interlock.domain.opening import Opening
from interlock.domain.partition import Label
from interlock.domain.pipeline import Pipeline
from interlock.domain.previous_date import PREVIOUS
from interlock.domain.rerun_request import RerunRecord, RerunRequest
from interlock.domain.reruns import (
    EXPLAINED,
    Cause,
    Granted,
    RerunCase,
    RerunRefused,
    judge_request,
)
from interlock.domain.run import OpenedBy, Run, RunKey
from interlock.domain.run_events import about_date, about_run
from interlock.domain.sensor import Reading
from interlock.usecases.claim_event import claim_event
from interlock.usecases.evidence import readings_for
from interlock.usecases.find_runs import kept_key
from interlock.usecases.open_run import open_run
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.reopen_run import Reopening, reopen_run

Answer = Granted | RerunRefused

#: What a repeat notes of a rejection whose cause went with the process that made it.
_REJECTED = "rejected"


def judge_rerun(request: RerunRequest, ports: Ports) -> Answer | None:
    """The answer; None while the pipeline is paused: the request waits for the resume.

    A repeat of a granted request starts its attempt again and publishes nothing new.
    """
    config = ports.pipelines.find(request.key.pipeline_id)
    if config is None or config.is_retired or not _has_schedule(config, request.key):
        return _refuse(request, RerunRefused(Cause.UNKNOWN_PIPELINE), None, None, ports)
    if config.is_paused(ports.clock()):
        return None
    key = msgspec.structs.replace(request.key, dry=config.pipeline.dry_run)
    key = kept_key(key, config.pipeline, ports)
    run = ports.runs.find([key]).get(key)
    if _rejected_before(request, config, key, ports):
        ports.reruns.judged(request, _REJECTED)
        return None
    if run is not None and _granted_before(request, run, ports):
        answer: Answer = Granted(None)
        started = _reopening(request, key, may=lambda run: False)
        reopen_run(started, config, ports)
    else:
        answer = _judge(request, key, config, run, ports)
        if isinstance(answer, RerunRefused):
            return _refuse(request, answer, config, run, ports)
        _grant(request, key, config, answer, run, ports)
    ports.reruns.judged(request)
    return answer


def foresee_rerun(request: RerunRequest, ports: Ports) -> str | None:
    """Why it would be refused now, in words; None if it would be granted. Changes nothing."""
    config = ports.pipelines.find(request.key.pipeline_id)
    if config is None or config.is_retired or not _has_schedule(config, request.key):
        return EXPLAINED[Cause.UNKNOWN_PIPELINE]
    key = msgspec.structs.replace(request.key, dry=config.pipeline.dry_run)
    key = kept_key(key, config.pipeline, ports)
    answer = _judge(request, key, config, ports.runs.find([key]).get(key), ports)
    return EXPLAINED[answer.cause] if isinstance(answer, RerunRefused) else None


def _judge(
    request: RerunRequest, key: RunKey, config: Config, run: Run | None, ports: Ports
) -> Answer:
    schedule = config.pipeline.schedule(key.schedule_id)
    pipeline, label = config.pipeline, Label.parse(key.date)
    out = excluded(schedule, pipeline.calendars, label.day)
    last = last_believed(schedule, pipeline.calendars, label, request.requested_at)
    seen = None if run is None else _with_baseline(run, ports)
    readings = {} if seen is None else _compared(seen, pipeline, ports)
    case = RerunCase(
        reason=request.reason,
        force=request.force,
        over_budget=request.over_budget,
        excluded=out,
        run=seen,
        readings=readings,
        believed=last is None,
    )
    return judge_request(case, pipeline)


def _compared(run: Run, pipeline: Pipeline, ports: Ports) -> dict[str, Reading]:
    """What may have changed since: inputs, and post-run readings with a baseline."""
    inputs = judged_keys(pipeline, pipeline.schedule(run.key.schedule_id))
    used = {key for key in run.evidence if not key.startswith(PREVIOUS)}
    return readings_for(run.key, pipeline, ports, inputs | used, run)


def _with_baseline(run: Run, ports: Ports) -> Run:
    """Post-run readings that the job did not use count as seen at completion."""
    baseline = ports.runs.baseline(run.key)
    if baseline is None or baseline.attempt != run.attempt:
        return run
    return msgspec.structs.replace(run, evidence=baseline.readings | run.evidence)


def _grant(
    request: RerunRequest,
    key: RunKey,
    config: Config,
    answer: Granted,
    run: Run | None,
    ports: Ports,
) -> None:
    if key.dry and run is not None:
        _tell_would_rerun(request, run, config, answer, ports)
    elif run is None:
        now = ports.clock()
        open_run(
            _opening(request, key, now),
            config,
            ports,
            also=lambda opened: _accepted(request, opened, config, answer),
        )
    else:
        _reopen(request, key, config, answer, ports)


def _opening(request: RerunRequest, key: RunKey, now: datetime) -> Opening:
    return Opening(
        key,
        OpenedBy.RERUN,
        request.reason,
        now,
        request=request.id,
        backfill=request.backfill,
    )


def _reopen(
    request: RerunRequest, key: RunKey, config: Config, answer: Granted, ports: Ports
) -> None:
    def may(run: Run) -> bool:
        return isinstance(_judge(request, key, config, run, ports), Granted) and (
            not _granted_before(request, run, ports)
        )

    def record(run: Run) -> RerunRecord:
        return RerunRecord(
            key=key,
            attempt=run.attempt,
            source=rerun_source(request.reason),
            reason=request.reason,
            triggered_at=run.opened_at,
            requested_by=request.requested_by,
            request=request.id,
        )

    def spend(run: Run) -> dict[str, object]:
        assert answer.budget is not None
        spending = answer.budget.spend(run.spending, over=request.over_budget)
        return {"spending": spending, "backfill": request.backfill}

    reopening = msgspec.structs.replace(
        _reopening(request, key, may),
        record=record,
        events=lambda run: _accepted(request, run, config, answer),
        changes=spend,
    )
    reopen_run(reopening, config, ports)


def _reopening(request: RerunRequest, key: RunKey, may: Callable[[Run], bool]) -> Reopening:
    return Reopening(key=key, by=OpenedBy.RERUN, opened_for=request.reason, may=may)


def _accepted(
    request: RerunRequest, run: Run, config: Config, answer: Granted
) -> tuple[Event, ...]:
    budget = answer.budget
    return about_run(
        EventType.RERUN_ACCEPTED,
        run,
        config.pipeline,
        f"rerun accepted: {request.reason}",
        parts=(request.id,) if run.key.dry else (run.attempt,),
        reason=request.reason,
        requestedBy=request.requested_by or None,
        budget=None if budget is None else budget.name,
        spent=None if budget is None else budget.spent + 1,
        max=None if budget is None else budget.max,
        forced=request.force or None,
    )


def _tell_would_rerun(
    request: RerunRequest, run: Run, config: Config, answer: Granted, ports: Ports
) -> None:
    told = msgspec.structs.replace(run, changed_at=request.requested_at)
    for event in _accepted(request, told, config, answer):
        claim_event(event, ports)


def _refuse(
    request: RerunRequest,
    refused: RerunRefused,
    config: Config | None,
    run: Run | None,
    ports: Ports,
) -> RerunRefused:
    for event in _rejected(request, refused, config, run):
        claim_event(event, ports)
    ports.reruns.judged(request, refused.cause)
    return refused


def _rejected(
    request: RerunRequest, refused: RerunRefused, config: Config | None, run: Run | None
) -> tuple[Event, ...]:
    message = f"rerun refused: {EXPLAINED[refused.cause]}"
    budget = refused.budget
    detail: dict[str, Any] = {
        "reason": request.reason,
        "requestedBy": request.requested_by or None,
        "cause": refused.cause,
        "spent": None if budget is None else budget.spent,
        "max": None if budget is None else budget.max,
        "activeAttempt": run.attempt if run and refused.cause is Cause.IN_PROGRESS else None,
    }
    kind, at, parts = EventType.RERUN_REJECTED, request.requested_at, (request.id,)
    if config is None:
        return (happened(kind, subject(None, request.key), at, message, parts=parts, **detail),)
    key = msgspec.structs.replace(request.key, dry=config.pipeline.dry_run)
    about = subject(config.pipeline, key, None if run is None else run.attempt)
    return about_date(kind, about, at, message, parts=parts, **detail)


def _rejected_before(request: RerunRequest, config: Config, key: RunKey, ports: Ports) -> bool:
    events = _rejected(request, RerunRefused(Cause.BUDGET), config, None)
    claimed = ports.claims.is_claimed([event.event_id for event in events])
    for event_id in claimed:
        publish_outbox(event_id, ports)
    return bool(claimed)


def _granted_before(request: RerunRequest, run: Run, ports: Ports) -> bool:
    """If the request opened a date without a run, the run itself is the record."""
    if run.first_request == request.id:
        return True
    return any(record.request == request.id for record in ports.reruns.granted(run.key))


def _has_schedule(config: Config, key: RunKey) -> bool:
    return config.pipeline.has_schedule(key.schedule_id)
