"""Cascade: a completion is a reading for every pipeline that waits for it."""

from datetime import datetime
from typing import Any

from interlock.domain.partition import Grain, Label, hours_of
from interlock.domain.pipeline import Pipeline
from interlock.domain.run import Run, RunKey, Status
from interlock.domain.sensor import Reading
from interlock.domain.timestamp import spell
from interlock.domain.zones import zone
from interlock.ports import Downstream, Ports


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
    key = f"pipeline:{run.key.pipeline_id}#{label}"
    return Reading(downstream.pipeline_id, key, fields, now)


def _whole_day(run: Run, pipeline: Pipeline, day: Label, ports: Ports) -> dict[str, str] | None:
    """When each hour of the day was completed; None while one is missing.

    The clocks are the upstream's: its day has 23 hours when they are put forward.
    """
    where = zone(pipeline.schedule(run.key.schedule_id).timezone)
    keys = {
        RunKey(run.key.pipeline_id, run.key.schedule_id, str(hour)): f"{hour.hour:02}"
        for hour in hours_of(day.day, where)
    }
    runs = ports.runs.find(list(keys))
    done = {
        keys[key]: spell(found.completed_at)
        for key, found in runs.items()
        if found.status is Status.COMPLETED and found.completed_at is not None
    }
    return done if len(done) == len(keys) else None
