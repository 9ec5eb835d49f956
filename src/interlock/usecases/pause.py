"""Pause and resume: hold a pipeline back, and let it go on without losing a date."""

from datetime import datetime
from typing import Any

import msgspec

from interlock.domain.partition import Grain, label_at
from interlock.domain.zones import zone
from interlock.errors import NotFoundError, TransientError
from interlock.ports import Config, Ports
from interlock.usecases.admit_reading import admit_reading
from interlock.usecases.fire_cron import fire_cron
from interlock.usecases.judge_rerun import judge_rerun

_TRIES = 8


def pause(pipeline_id: str, ports: Ports, until: datetime | None = None) -> Config:
    """While paused nothing opens; readings are kept, and SLA deadlines still count."""
    now = ports.clock()
    return _change(
        pipeline_id,
        ports,
        lambda config: {"paused_since": config.paused_since or now, "paused_until": until},
    )


def resume(pipeline_id: str, ports: Ports) -> Config:
    """Let it go on. What arrived in the pause is acted on now; the watchdog sees to the rest."""
    before = ports.pipelines.find(pipeline_id)
    config = _change(
        pipeline_id, ports, lambda config: {"paused_since": None, "paused_until": None}
    )
    if before is not None and before.paused_since is not None:
        _catch_up(config, before.paused_since, ports)
    return config


def _catch_up(config: Config, since: datetime, ports: Ports) -> None:
    for schedule in config.pipeline.schedules:
        if schedule.trigger is not None:
            key, where = schedule.trigger.rule.key, zone(schedule.timezone)
            first = label_at(since, where, Grain.DAY)
            last = label_at(ports.clock(), where, Grain.DAY)
            readings = ports.sensors.between(config.pipeline.id, key, str(first), str(last))
            readings += ports.sensors.find(config.pipeline.id, [key]).values()
            for reading in readings:
                if reading.received_at >= since:
                    admit_reading(reading, ports)
        fire_cron(config.pipeline.id, schedule.id, ports)
    for request in ports.reruns.unjudged():
        if request.key.pipeline_id == config.pipeline.id:
            judge_rerun(request, ports)


def _change(pipeline_id: str, ports: Ports, changes: Any) -> Config:
    for _ in range(_TRIES):
        config = ports.pipelines.find(pipeline_id)
        if config is None or config.is_retired:
            raise NotFoundError(f"no pipeline {pipeline_id} is in force")
        changed = msgspec.structs.replace(config, version=config.version + 1, **changes(config))
        if ports.pipelines.save(changed):
            return changed
    raise TransientError(f"{pipeline_id}: somebody got there first, {_TRIES} times in a row")
