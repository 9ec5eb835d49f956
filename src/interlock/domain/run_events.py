"""Run events: events about a run, or their dry-run twins."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from interlock.domain.event import (
    AS_ROW,
    Event,
    EventType,
    RowOverride,
    Subject,
    dry,
    happened,
    subject,
)
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run


def run_subject(run: Run, pipeline: Pipeline) -> Subject:
    """The run as the subject of an event."""
    return subject(pipeline, run.key, run.attempt, run.run_id)


def about_run(
    kind: EventType,
    run: Run,
    pipeline: Pipeline,
    message: str,
    /,
    *,
    parts: Sequence[object] | None = None,
    override: RowOverride = AS_ROW,
    **detail: Any,
) -> tuple[Event, ...]:
    """The event, at the time of the run's last change; for a dry run its twin, or None."""
    return about_date(
        kind,
        run_subject(run, pipeline),
        run.changed_at,
        message,
        parts=(run.attempt,) if parts is None else parts,
        override=override,
        **detail,
    )


def about_date(
    kind: EventType,
    about: Subject,
    at: datetime,
    message: str,
    /,
    *,
    parts: Sequence[object] = (),
    override: RowOverride = AS_ROW,
    **detail: Any,
) -> tuple[Event, ...]:
    """The same for a date that may have no run, or at another time."""
    if about.dry:
        twin = dry(kind)
        if twin is None:
            return ()
        kind, override = twin, RowOverride(source=override.source)
        detail = {name: value for name, value in detail.items() if name in twin.spec.detail}
    return (happened(kind, about, at, message, parts=parts, override=override, **detail),)
