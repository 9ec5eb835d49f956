"""Run events: events about a run, or their dry-run twins."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from interlock.domain.event import CATALOGUE, Event, EventType, Severity, dry, happened, subject
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run, RunKey


def about_run(
    kind: EventType,
    run: Run,
    pipeline: Pipeline,
    message: str,
    /,
    *,
    at: datetime | None = None,
    parts: Sequence[object] | None = None,
    severity: Severity | None = None,
    source: str | None = None,
    **detail: Any,
) -> tuple[Event, ...]:
    """The event, at the time of the run's last change; for a dry run its twin, or None."""
    return about_date(
        kind,
        run.key,
        pipeline,
        message,
        at=at or run.changed_at,
        attempt=run.attempt,
        run_id=run.run_id,
        parts=(run.attempt,) if parts is None else parts,
        severity=severity,
        source=source,
        **detail,
    )


def about_date(
    kind: EventType,
    key: RunKey,
    pipeline: Pipeline,
    message: str,
    /,
    *,
    at: datetime,
    attempt: int | None = None,
    run_id: str | None = None,
    parts: Sequence[object] = (),
    severity: Severity | None = None,
    source: str | None = None,
    **detail: Any,
) -> tuple[Event, ...]:
    """The same for a date that may have no run."""
    if key.dry:
        twin = dry(kind)
        if twin is None:
            return ()
        known = CATALOGUE[twin].detail
        kind, severity = twin, None
        detail = {name: value for name, value in detail.items() if name in known}
    about = subject(pipeline, key, attempt, run_id)
    return (
        happened(kind, about, at, message, parts=parts, severity=severity, source=source, **detail),
    )
