"""Schedule of: which schedule of a pipeline a date belongs to, if the command does not say."""

from functools import partial

from interlock.cli.paged import run_of
from interlock.errors import NotFoundError
from interlock.operations.queries import Queries
from interlock.usecases.request_rerun import chosen_schedule


def schedule_of(queries: Queries, pipeline: str, date: str, schedule: str | None) -> str:
    """The first that has a run of the date; without a run, the only one. Raises ConfigError if there are
    several to choose from.
    """
    if schedule is not None:
        return schedule
    only = partial(chosen_schedule, schedule_id=None)
    if not date:
        return only(queries.config(pipeline)).id
    try:
        return run_of(queries, pipeline, date, None).run.key.schedule_id
    except NotFoundError:
        return only(queries.config(pipeline)).id
