"""Authored: a pipeline file as people write it, and as a store keeps it.

It differs from the Pipeline inside in two things: a single schedule may be written without a list, and the
calendars that it names are in separate files (in a store: next to it).
"""

from typing import Annotated

from msgspec import Meta, field

from interlock.domain.pipeline import (
    Calendar,
    Day,
    Declared,
    Identity,
    Job,
    PostRun,
    Schedule,
    Sla,
    Validation,
)


class PipelineFile(Declared, frozen=True, kw_only=True):
    """A pipeline: when it runs, what must be true before, by when it must be done."""

    pipeline: Identity
    schedule: Annotated[Schedule | None, Meta(description="When runs are expected.")] = None
    schedules: Annotated[
        tuple[Schedule, ...] | None,
        Meta(description="Instead of `schedule`: several, each with its own id."),
    ] = None
    sla: Sla | None = None
    validation: Validation
    job: Job
    post_run: PostRun | None = None
    dry_run: Annotated[
        bool, Meta(description="Decide everything, start nothing; needs a trigger.")
    ] = False


class StoredPipeline(PipelineFile, frozen=True, kw_only=True):
    """The same as compiled: the contents of other files are included."""

    calendars: dict[str, Calendar] = field(default_factory=dict)
    holidays_until: Day | None = None
