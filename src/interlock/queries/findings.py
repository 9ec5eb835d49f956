"""Findings: what a pass of the watchdog found, in words."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from interlock.domain import duration
from interlock.domain.guards import (
    Admit,
    ArmDeadline,
    Close,
    ExtendLease,
    Finding,
    Finish,
    FireLate,
    JudgeDeadline,
    Missed,
    NoteStarted,
    PostRunMissing,
    Restart,
    RetryNow,
    TimeOut,
)
from interlock.usecases.watch import CheckFailure, PassReport


class ReportedFinding(msgspec.Struct, frozen=True, rename="camel"):
    """One finding: which check, of which pipeline, and what was done about it."""

    check: str
    pipeline_id: str
    what: str


class WatchdogPass(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """One pass of the watchdog."""

    now: datetime
    found: tuple[ReportedFinding, ...] = ()
    failures: tuple[CheckFailure, ...] = ()
    suspects: tuple[str, ...] = ()


def in_words(report: PassReport) -> WatchdogPass:
    return WatchdogPass(
        now=report.now,
        found=tuple(
            ReportedFinding(check, pipeline_id, _said(finding, report.now))
            for check, pipeline_id, finding in report.findings
        ),
        failures=tuple(report.failures),
        suspects=tuple(sorted(report.suspects)),
    )


def _said(finding: Finding, now: datetime) -> str:
    say = _WORDS.get(type(finding))
    return type(finding).__name__ if say is None else say(finding, now)


def _late(since: datetime, now: datetime) -> str:
    return f"{duration.for_people(now - since)} late"


_WORDS: dict[type, Callable[[Any, datetime], str]] = {
    Restart: lambda f, now: f"{f.run.key.date}: was never started; started now",
    NoteStarted: lambda f, now: f"{f.run.key.date}: is running after all; recorded",
    Finish: lambda f, now: f"{f.run.key.date}: its job had succeeded; completed",
    TimeOut: lambda f, now: f"{f.run.key.date}: outlived its lease (engine: {f.engine}); timed out",
    ExtendLease: lambda f, now: f"{f.run.key.date}: slow, not dead; its lease is extended",
    RetryNow: lambda f, now: f"{f.run.key.date}: its retry was due; retried",
    Admit: lambda f, now: f"{f.reading.key}: this reading had no effect yet; admitted now",
    FireLate: lambda f, now: f"{f.key.date}: fired {_late(f.due_at, now)}",
    Missed: lambda f, now: f"{f.key.date}: missed, {_late(f.due_at, now)} ({f.cause})",
    Close: lambda f, now: f"{f.key.date}: the trigger deadline passed without a run; closed",
    ArmDeadline: lambda f, now: f"{f.key.date}: a deadline's timer was missing; armed",
    JudgeDeadline: lambda f, now: f"{f.key.date}: its {f.kind} had passed unreported; judged",
    PostRunMissing: lambda f, now: (
        f"{f.run.key.date}: post-run readings never arrived: {', '.join(f.missing) or 'none missing'}"
    ),
}
