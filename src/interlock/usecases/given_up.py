"""Given up: the event of a run that ends because its pipeline or schedule is gone."""

from interlock.domain.config import Config
from interlock.domain.event import Event, EventType, happened, subject
from interlock.domain.run import Run

#: An edit of its file removes a schedule; deleting the file removes the pipeline.
_ENDED = {"schedule": "removed", "pipeline": "retired"}


def given_up(run: Run, config: Config | None, what: str) -> tuple[Event, ...]:
    """`what` was still pending for the run. A dry run has nothing pending, and no event."""
    if run.key.dry:
        return ()
    gone = "schedule" if config is not None and not config.is_retired else "pipeline"
    failure = run.failure
    return (
        happened(
            EventType.RETRY_EXHAUSTED,
            subject(None if config is None else config.pipeline, run.key, run.attempt, run.run_id),
            run.changed_at,
            f"{what} was dropped: its {gone} was {_ENDED[gone]}",
            parts=(run.attempt, f"{gone}-gone"),
            source="given_up",
            kind=f"{gone}-gone",
            category=None if failure is None else failure.category,
            lastError=None if failure is None else failure.message,
            runId=run.run_id,
        ),
    )
