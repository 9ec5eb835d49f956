"""SLA: what a deadline's moment means for a date, as its run stands.

A moment is told only if it is still true when it is recorded, and the verdict is written with it.
"""

from collections.abc import Mapping
from datetime import datetime

import msgspec

from interlock.domain import duration
from interlock.domain.deadline import SlaVerdict
from interlock.domain.pipeline import Check, Pipeline, Rule
from interlock.domain.rules import Result, explain
from interlock.domain.run import DeadlineKind, Judgement, RuleRecord, Run, RunKey, Status

WARNINGS = {
    DeadlineKind.WARNING: DeadlineKind.BREACH,
    DeadlineKind.RELATIVE_WARNING: DeadlineKind.RELATIVE_BREACH,
}
BREACHES = frozenset(WARNINGS.values())


class SlaWatch(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The deadline of a date that has no run; a run that opens later takes it over."""

    key: RunKey
    version: int = 1
    warning_at: datetime | None = None
    breach_at: datetime | None = None
    armed: dict[DeadlineKind, datetime] = {}
    told: tuple[DeadlineKind, ...] = ()
    verdict: SlaVerdict | None = None


class Told(msgspec.Struct, frozen=True):
    """A moment to tell of, and the verdict that goes with it."""

    kind: DeadlineKind
    verdict: SlaVerdict | None


def judge_moment(
    kind: DeadlineKind,
    instants: Mapping[DeadlineKind, datetime],
    told: tuple[DeadlineKind, ...],
    verdict: SlaVerdict | None,
    run: Run | None,
    now: datetime,
) -> Told | None:
    """What to tell when a moment has come; None when it is told, moved, or no longer true."""
    at = instants.get(kind)
    if at is None or now < at or kind in told:
        return None
    if run is not None and run.status is Status.COMPLETED and (run.completed_at or now) < at:
        return None
    if run is not None and run.status is Status.COMPLETED and kind in WARNINGS:
        return None
    if kind in BREACHES:
        return None if verdict is SlaVerdict.MET else Told(kind, SlaVerdict.BREACHED)
    if verdict is not None or now >= instants.get(WARNINGS[kind], now):
        return None  # the breach has passed too, and says more
    return Told(kind, None)


def blocked_by(run: Run | None, pipeline: Pipeline, schedule_id: str, now: datetime) -> list[str]:
    """Why a date is not done, one line per cause."""
    if run is None:
        trigger = pipeline.schedule(schedule_id).trigger
        return [f"no reading of {trigger.rule.key}" if trigger else "no run was opened"]
    if run.status in (Status.FAILED, Status.FAILED_FINAL):
        return [f"failed: {run.failure.message if run.failure else 'unknown'}"]
    if run.status is Status.TRIGGERING:
        return [_launching(run)]
    if run.status is Status.RUNNING and run.launched_at is not None:
        return [_running(run, duration.for_people(now - run.launched_at))]
    return failing_lines(run.verdict, now) or ["waiting for its rules"]


def _launching(run: Run) -> str:
    if run.job_message is None:
        return "its job is being launched"
    return f"its launch failed and is tried again: {run.job_message}"


def _running(run: Run, span: str) -> str:
    unseen = f", and can't be seen: {run.job_message}" if run.job_unseen else ""
    return f"job running for {span}{unseen}"


def failing_lines(verdict: Judgement | None, now: datetime) -> list[str]:
    """The rules that did not hold at the last evaluation, one line each."""
    if verdict is None or verdict.ready:
        return []
    return [explain_record(record, verdict.at) for record in verdict.results if record.kind]


def explain_record(record: RuleRecord, at: datetime) -> str:
    """The line of a stored result, as it read when it was judged."""
    rule = Rule(record.key, Check(record.check), record.field, record.expected)
    return explain(Result(rule, record.kind, record.actual), at)
