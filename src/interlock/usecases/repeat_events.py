"""Repeat events: an edited schedule reaches a date that ran before the edit."""

from datetime import datetime

from interlock.domain.config import Config
from interlock.domain.event import Event, EventType
from interlock.domain.run import Run
from interlock.domain.run_events import about_date
from interlock.domain.timestamp import spell


def ran_before_the_edit(run: Run, config: Config) -> bool:
    """Whether a run is older than the form of its schedule; at the same instant, if it is by another file."""
    since = config.standing(run.key.schedule_id).since
    same = run.opened_at == since and run.config_hash != config.config_hash
    return run.opened_at < since or same


def repeat_events(
    run: Run,
    config: Config,
    at: datetime,
    *,
    due: datetime | None = None,
    key: str | None = None,
) -> tuple[Event, ...]:
    """Once for each edit that reaches the date again; none for a dry run."""
    since = config.standing(run.key.schedule_id).since
    return about_date(
        EventType.DATE_ALREADY_RUN,
        run.key,
        config.pipeline,
        f"{run.key.date} has a run from before its schedule was edited, and gets no new one",
        at=at,
        attempt=run.attempt,
        run_id=run.run_id,
        parts=(spell(since),),
        openedAt=spell(run.opened_at),
        runStatus=run.status,
        since=spell(since),
        due=None if due is None else spell(due),
        key=key,
    )
