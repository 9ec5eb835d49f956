"""Deadlines ahead: the next deadlines of open runs, and how many past runs would hold each."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from interlock.domain.chance import MOST_PAST, Chance, chance, first_breach
from interlock.domain.config import Config
from interlock.domain.run import Run
from interlock.ports.reads import History

#: How many of a pipeline's newest runs are read: some are of other schedules, or did not complete.
_READ = 2 * MOST_PAST


class DeadlineAhead(msgspec.Struct, frozen=True):
    """A run that is not done. Without a chance there is no past run to compare it with."""

    run: Run
    due_at: datetime | None
    chance: Chance | None


def deadlines_ahead(
    configs: Mapping[str, Config], within: timedelta, limit: int, now: datetime, history: History
) -> list[DeadlineAhead]:
    """The soonest first."""
    runs = history.due(now, now + within, limit)
    past = {name: _past(name, history) for name in {run.key.pipeline_id for run in runs}}
    return [DeadlineAhead(run, first_breach(run), _chance(run, configs, past, now)) for run in runs]


def _past(pipeline_id: str, history: History) -> list[Run]:
    return history.runs(pipeline_id, "0000", "9999", None, _READ) or []


def _chance(
    run: Run, configs: Mapping[str, Config], past: Mapping[str, list[Run]], now: datetime
) -> Chance | None:
    config = configs.get(run.key.pipeline_id)
    if config is None or not config.pipeline.has_schedule(run.key.schedule_id):
        return None
    zone_name = config.pipeline.schedule(run.key.schedule_id).timezone
    return chance(run, past[run.key.pipeline_id], zone_name, now)
