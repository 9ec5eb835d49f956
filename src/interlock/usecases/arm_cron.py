"""Arm cron: a timer for the next occurrence of each schedule that fires by itself."""

from datetime import datetime

import msgspec

from interlock.domain.config import Config
from interlock.domain.pipeline import Schedule
from interlock.domain.schedule import Occurrence, next_occurrence
from interlock.domain.timer import Timer, TimerKind
from interlock.usecases.ports import Ports

_TRIES = 8


def arm_cron(config: Config, now: datetime, ports: Ports) -> None:
    """Arm what is not armed yet. The config records what is armed, so a repeated call writes nothing."""
    if all(
        schedule.id in config.armed and config.armed[schedule.id].due_at > now
        for schedule in config.pipeline.schedules
        if fires(schedule)
    ):
        return
    for _ in range(_TRIES):
        armed = _next_moments(config, now)
        if armed == config.armed:
            return
        ports.timers.arm(
            [
                cron_timer(config.pipeline.id, name, moment)
                for name, moment in armed.items()
                if config.armed.get(name) != moment
            ]
        )
        stored = msgspec.structs.replace(config, armed=armed, version=config.version + 1)
        if ports.pipelines.save(stored):
            return
        found = ports.pipelines.find(config.pipeline.id)
        if found is None or found.is_retired:
            return
        config = found  # another process got there first


def fires(schedule: Schedule) -> bool:
    """Whether a schedule opens its runs by itself: by cron, or by dates without a trigger."""
    return schedule.cron is not None or (schedule.include is not None and schedule.trigger is None)


def cron_timer(pipeline_id: str, schedule_id: str, moment: Occurrence) -> Timer:
    """Its name contains its own moment, so a fire can arm the next timer while its own still exists."""
    return Timer(
        f"cron.{pipeline_id}.{schedule_id}.{moment.date}",
        TimerKind.CRON,
        moment.due_at,
        {
            "timer": "cron",
            "pipelineId": pipeline_id,
            "scheduleId": schedule_id,
            "date": moment.date,
        },
    )


def _next_moments(config: Config, now: datetime) -> dict[str, Occurrence]:
    found = {}
    for schedule in config.pipeline.schedules:
        if not fires(schedule):
            continue
        moment = next_occurrence(schedule, config.pipeline.calendars, now)
        if moment is not None:
            found[schedule.id] = moment
    return found
