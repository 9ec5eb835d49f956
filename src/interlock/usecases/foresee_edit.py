"""Foresee an edit: what a file would change about the pipeline in force, if it were adopted now."""

from datetime import datetime

import msgspec

from interlock.domain.config import Config
from interlock.domain.edits import Edit, doubtful_dates, edit_of, paired
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import RunKey
from interlock.domain.standing import Standing
from interlock.usecases.find_runs import find_runs
from interlock.usecases.ports import Ports


def foresee_edit(current: Config | None, after: Pipeline, now: datetime, ports: Ports) -> Edit:
    """Changes nothing. A retired pipeline starts over; the dates that ran stay."""
    if current is None:
        return edit_of(None, {}, after, now)
    standings = {each.id: current.standing(each.id) for each in current.pipeline.schedules}
    if current.is_retired:
        names = edit_of(current.pipeline, standings, after, now).formerly
        fresh = edit_of(None, {}, after, now)
        return msgspec.structs.replace(
            fresh,
            formerly=names,
            standings=fresh.standings | {old: fresh.standings[new] for old, new in names.items()},
        )
    ran = _ran(current.pipeline, standings, after, now, ports)
    return edit_of(current.pipeline, standings, after, now, ran)


def _ran(
    before: Pipeline,
    standings: dict[str, Standing],
    after: Pipeline,
    now: datetime,
    ports: Ports,
) -> dict[str, set[str]]:
    ids = paired(before, after)
    keys = {
        RunKey(before.id, ids[name], date, dry=before.dry_run): name
        for name, dates in doubtful_dates(before, standings, after, now).items()
        for date in dates
    }
    found: dict[str, set[str]] = {}
    for key in find_runs(keys, before, ports) if keys else ():
        found.setdefault(keys[key], set()).add(key.date)
    return found
