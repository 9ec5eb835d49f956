"""Fire cron: open a run for every moment that is due, then arm the next one."""

from datetime import datetime, timedelta

from interlock.domain import duration
from interlock.domain.run import OpenedBy, RunKey
from interlock.domain.schedule import occurrences
from interlock.ports import Config, Ports
from interlock.usecases.arm_cron import arm_cron, fires
from interlock.usecases.open_run import open_run


def fire_cron(pipeline_id: str, schedule_id: str, ports: Ports) -> None:
    """A fire opens the run of its date, or finds it open. After downtime, each missed moment that is
    not older than its evaluation window is fired late; the watchdog reports the others.
    """
    now = ports.clock()
    config = ports.pipelines.find(pipeline_id)
    if config is None or config.is_retired:
        return
    if not config.is_paused(now):
        _open_due(config, schedule_id, now, ports)
    arm_cron(config, now, ports)


def _open_due(config: Config, schedule_id: str, now: datetime, ports: Ports) -> None:
    pipeline = config.pipeline
    schedule = next((s for s in pipeline.schedules if s.id == schedule_id), None)
    if schedule is None or not fires(schedule):
        return
    window = duration.parse(schedule.evaluation.window)
    since = max(now - window, config.active_since)
    for moment in occurrences(schedule, pipeline.calendars, since, now + timedelta(microseconds=1)):
        key = RunKey(pipeline.id, schedule.id, moment.date, dry=pipeline.dry_run)
        open_run(key, OpenedBy.CRON, "", config, ports, now=now, due_at=moment.due_at)
