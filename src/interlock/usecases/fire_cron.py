"""Fire cron: open a run for every occurrence that is due, then arm the next one."""

from datetime import datetime, timedelta

from interlock.domain import duration
from interlock.domain.config import Config
from interlock.domain.opening import Opening
from interlock.domain.run import OpenedBy, RunKey
from interlock.domain.schedule import occurrences
from interlock.usecases.arm_cron import arm_cron, fires
from interlock.usecases.claim_event import claim_event
from interlock.usecases.open_run import open_run
from interlock.usecases.ports import Ports
from interlock.usecases.repeat_events import ran_before_the_edit, repeat_events


def fire_cron(pipeline_id: str, schedule_id: str, ports: Ports) -> None:
    """A fire opens the run of its date, or finds it open. After downtime, each missed moment still within
    its evaluation window is fired late; the watchdog reports the others.
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
    if not pipeline.has_schedule(schedule_id) or not fires(pipeline.schedule(schedule_id)):
        return
    schedule = pipeline.schedule(schedule_id)
    window = duration.parse(schedule.evaluation.window)
    standing = config.standing(schedule.id)
    since = max(now - window, standing.since)
    for moment in occurrences(schedule, pipeline.calendars, since, now + timedelta(microseconds=1)):
        key = RunKey(pipeline.id, schedule.id, moment.date, dry=pipeline.dry_run)
        opening = Opening(key, OpenedBy.CRON, "", now, due_at=moment.due_at)
        run = open_run(opening, config, ports)
        if ran_before_the_edit(run, config):
            for event in repeat_events(run, config, moment.due_at, due=moment.due_at):
                claim_event(event, ports)
