"""Cascade: a completion is a reading for every pipeline that waits for it."""

from datetime import datetime
from typing import Any

from interlock.domain.config import Downstream
from interlock.domain.partition import Grain, Label
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run, RunKey, Status
from interlock.domain.schedule import parts_of
from interlock.domain.sensor import RESERVED, Reading
from interlock.domain.timestamp import spell
from interlock.usecases.find_runs import find_runs
from interlock.usecases.ports import Ports
from interlock.usecases.readable_config import readable_config


def cascade(run: Run, pipeline: Pipeline, ports: Ports) -> None:
    """Write what the downstream pipelines wait for. The same completion makes the same reading."""
    if run.key.dry:
        return
    now = ports.clock()
    for downstream in ports.pipelines.downstream_of(run.key.pipeline_id):
        reading = _reading(run, pipeline, downstream, now, ports)
        if reading is None:
            continue
        stored = ports.sensors.find(reading.pipeline_id, [reading.key]).get(reading.key)
        if stored is None or stored.version != reading.version:
            ports.sensors.put(reading)


def _reading(
    run: Run, pipeline: Pipeline, downstream: Downstream, now: datetime, ports: Ports
) -> Reading | None:
    label = Label.parse(run.key.date)
    if not downstream.whole_day or label.grain is Grain.DAY:
        fields: dict[str, Any] = {
            "schedule": run.key.schedule_id,
            "attempt": run.attempt,
            "completedAt": spell(run.completed_at or run.changed_at),
        }
    else:
        label = Label(label.day)
        whole = _whole_day(run, pipeline, label, ports)
        if whole is None:
            return None
        fields = {"schedule": run.key.schedule_id, "hours": whole}
    key = f"{RESERVED}{run.key.pipeline_id}#{label}"
    return Reading(downstream.pipeline_id, key, fields, now, own=True)


def _whole_day(run: Run, pipeline: Pipeline, day: Label, ports: Ports) -> dict[str, str] | None:
    """When each expected date of the day completed, by its time; None while one is missing.

    The schedule, the clocks and the calendar are the upstream's.
    """
    config = readable_config(pipeline.id, ports)
    if config is not None and config.pipeline.has_schedule(run.key.schedule_id):
        pipeline = config.pipeline  # dates may have run under a former id of the schedule
    schedule = pipeline.schedule(run.key.schedule_id)
    keys = {
        RunKey(run.key.pipeline_id, schedule.id, date): date.partition("T")[2]
        for date in parts_of(schedule, pipeline.calendars, day.day)
    }
    runs = find_runs(keys, pipeline, ports)
    done = {
        keys[key]: spell(found.completed_at or found.changed_at)
        for key, found in runs.items()
        if found.status is Status.COMPLETED
    }
    return done if len(done) == len(keys) else None
