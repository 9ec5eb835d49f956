"""Skipped upstream: the dates that a date waits for and that need not run, so that waiting may be in vain."""

from interlock.domain.admission import judged_keys
from interlock.domain.config import Config
from interlock.domain.partition import Grain, Label
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run, RunKey, Status
from interlock.domain.schedule import parts_of
from interlock.domain.sensor import RESERVED
from interlock.usecases.find_runs import find_runs
from interlock.usecases.ports import Ports
from interlock.usecases.readable_config import readable_config


def skipped_upstream(key: RunKey, run: Run | None, config: Config, ports: Ports) -> tuple[str, ...]:
    """One line for each skipped date of an upstream; none for a run that no longer waits."""
    if run is not None and run.status is not Status.PENDING:
        return ()
    lines = []
    for name in sorted(_upstreams(config.pipeline, key.schedule_id)):
        upstream = readable_config(name, ports)
        if upstream is not None:
            lines += _skipped(key.date, upstream.pipeline, ports)
    return tuple(lines)


def _upstreams(pipeline: Pipeline, schedule_id: str) -> set[str]:
    """By the key of the readings that a completion makes."""
    keys = judged_keys(pipeline, pipeline.schedule(schedule_id))
    return {key.removeprefix(RESERVED) for key in keys if key.startswith(RESERVED)}


def _skipped(date: str, pipeline: Pipeline, ports: Ports) -> list[str]:
    label, found = Label.parse(date), []
    for schedule in pipeline.schedules:
        dates = {date}
        if label.grain is Grain.DAY:
            dates |= set(parts_of(schedule, pipeline.calendars, label.day))
        keys = [RunKey(pipeline.id, schedule.id, each) for each in sorted(dates)]
        runs = find_runs(keys, pipeline, ports)
        found += [
            f"upstream {pipeline.id} {each.date} is {run.skip or 'skipped'}"
            for each in keys
            if (run := runs.get(each)) is not None and run.status is Status.SKIPPED
        ]
    return found
