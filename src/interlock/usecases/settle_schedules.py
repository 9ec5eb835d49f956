"""Settle schedules: do what is due by the file in force, before a new file replaces it."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

from interlock.domain.admission import Ignore
from interlock.domain.config import Config
from interlock.domain.due_dates import needs
from interlock.domain.findings import Admit, WatchdogFinding
from interlock.domain.guards import Snapshot, sla_scheduling, trigger_deadlines, unsettled
from interlock.domain.pipeline import Schedule
from interlock.usecases.fire_cron import fire_cron
from interlock.usecases.load_snapshots import (
    ScheduleLook,
    load,
    looked_since,
    snapshot,
    trigger_readings,
)
from interlock.usecases.ports import Ports
from interlock.usecases.watchdog_checks import act_on_finding


def settle_schedules(
    config: Config, edited: Mapping[str, Collection[str]], now: datetime, ports: Ports
) -> None:
    """Fire the occurrences whose timers are about to fire. For edited schedules, also do what the next
    watchdog pass would have done: afterwards their former occurrences mean nothing. `edited` says which
    dates of each the new file has ahead and handles itself.

    Safe to call again after dying at any line.
    """
    if not config.is_paused(now):
        for name, moment in config.armed.items():
            if moment.due_at <= now:
                fire_cron(config.pipeline.id, name, ports)
    for schedule in config.pipeline.schedules:
        if schedule.id in edited:
            for finding in _findings(config, schedule, edited[schedule.id], now, ports):
                act_on_finding(finding, config, now, ports)


def _findings(
    config: Config, schedule: Schedule, ahead: Collection[str], now: datetime, ports: Ports
) -> Iterator[WatchdogFinding]:
    state = ports.watch.load()
    since = looked_since(state, config, now)
    wanted = needs(config.pipeline, schedule, since, config.standing(schedule.id), now)
    look = ScheduleLook(config, schedule, since, (), wanted)
    if look.is_quiet:
        return
    look.readings = trigger_readings(look, now, ports)
    seen = snapshot(look, load([look], now, ports), state, now, ports)
    yield from _unread(seen)
    yield from unsettled(seen, ahead, now)
    yield from trigger_deadlines(seen, now)
    yield from sla_scheduling(seen, now)


def _unread(seen: Snapshot) -> Iterator[WatchdogFinding]:
    """Readings that nothing has acted on yet: by the new file they would come too early to count."""
    for reading, admissions in seen.readings:
        for admission in admissions:
            if not isinstance(admission, Ignore):
                yield Admit(reading, admission)
