"""Unskip a run: a date that need not run is expected again, and what is due for it is done."""

from collections.abc import Callable
from datetime import datetime

import msgspec

from interlock.domain.admission import trigger_keys
from interlock.domain.config import Config
from interlock.domain.event import Event, EventType, clean
from interlock.domain.opening import open_moments
from interlock.domain.partition import Label, starts_at
from interlock.domain.run import OpenedBy, Run, RunKey, Skip, Status
from interlock.domain.run_events import about_date, run_subject
from interlock.domain.schedule import begins_at
from interlock.domain.sensor import UnreadableReading
from interlock.domain.skipping import objection_to_unskip
from interlock.domain.sla import SlaWatch
from interlock.domain.timestamp import spell
from interlock.domain.zones import zone
from interlock.errors import ConflictError, TransientError
from interlock.usecases.admit_reading import admit_reading
from interlock.usecases.arm_cron import fires
from interlock.usecases.arm_deadlines import arm_deadlines
from interlock.usecases.evidence import readings_for
from interlock.usecases.find_runs import find_watch
from interlock.usecases.fire_cron import fire_cron
from interlock.usecases.fire_deadline import watch_owner
from interlock.usecases.look_back import look_back
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.reopen_run import Reopening, reopen_run
from interlock.usecases.run_order import RunOrder, ordered_run
from interlock.usecases.save_run import LOST_RACE

_TRIES = 8
#: What opened the attempt of a run whose skip was undone.
UNSKIPPED = "unskip"


def unskip_run(order: RunOrder, ports: Ports) -> Run | None:
    """The run as it stands; None if its date has none again. A run that had attempts gets a further one,
    which no budget pays for.

    The watchdog is asked to look back before the row goes, so that a crash loses no date. A repeat does the
    rest of the work and changes nothing else. Raises ConflictError for a date that is not skipped.
    """
    for _ in range(_TRIES):
        found = ordered_run(order.key, ports)
        run, config = found.run, found.config
        objection = objection_to_unskip(run)
        if objection is not None:
            return _undone(order, run, found.key, config, ports, objection)
        assert run is not None
        if not run.is_placeholder:
            return _reopen(order, run, config, ports)
        if _remove(order, run, config, ports):
            _catch_up(found.key, config, ports)
            return ordered_run(order.key, ports).run
    raise TransientError(f"{order.name}: {LOST_RACE}, {_TRIES} times in a row")


def _undone(
    order: RunOrder, run: Run | None, key: RunKey, config: Config, ports: Ports, objection: str
) -> Run | None:
    """A date whose skip was undone before: finishes what a crash may have left."""
    watch = find_watch(key, config.pipeline, ports)
    since = None if watch is None else watch.unskipped_at
    if since is not None and (run is None or run.opened_at >= since):
        _catch_up(key, config, ports)
        return ordered_run(order.key, ports).run
    if run is not None and (run.opened_by, run.opened_for) == (OpenedBy.OPERATOR, UNSKIPPED):
        return reopen_run(_reopening(run.key, lambda stored: False), config, ports)
    raise ConflictError(f"{order.name}: {objection}")


def _reopen(order: RunOrder, run: Run, config: Config, ports: Ports) -> Run:
    skip, now = run.skip, ports.clock()

    def may(stored: Run) -> bool:
        nonlocal skip
        skip = stored.skip
        return stored.status is Status.SKIPPED and not stored.is_placeholder

    def events(fresh: Run) -> tuple[Event, ...]:
        return _events(order, fresh, skip, now, config)

    reopening = msgspec.structs.replace(
        _reopening(run.key, may),
        events=events,
        changes=lambda stored: {"sla_armed": open_moments(stored)},
    )
    return reopen_run(reopening, config, ports)


def _reopening(key: RunKey, may: Callable[[Run], bool]) -> Reopening:
    return Reopening(key=key, by=OpenedBy.OPERATOR, opened_for=UNSKIPPED, may=may)


def _remove(order: RunOrder, run: Run, config: Config, ports: Ports) -> bool:
    """False if another process was first, or events had to be published beforehand."""
    now, key = ports.clock(), run.key
    look_back(key.pipeline_id, _begins(key, config), ports)
    publish_outbox(key, ports)
    publish_outbox(watch_owner(key), ports)
    watch = ports.claims.watch(key) or SlaWatch(key=key, version=0)
    expected = msgspec.structs.replace(watch, version=watch.version + 1, armed={}, unskipped_at=now)
    won = ports.runs.remove(run, expected, _events(order, run, run.skip, now, config))
    if won:
        publish_outbox(watch_owner(key), ports)
    return won


def _begins(key: RunKey, config: Config) -> datetime:
    """From when on something may have been due for the date."""
    pipeline, label = config.pipeline, Label.parse(key.date)
    if not pipeline.has_schedule(key.schedule_id):
        return config.active_since
    schedule = pipeline.schedule(key.schedule_id)
    first = starts_at(label, zone(schedule.timezone))
    return min(first, begins_at(schedule, pipeline.calendars, label))


def _catch_up(key: RunKey, config: Config, ports: Ports) -> None:
    """What can be done at once; the watchdog does the rest. The readings of a date whose run was pruned
    belonged to that run.
    """
    publish_outbox(watch_owner(key), ports)
    arm_deadlines(key, config, ports)
    pipeline = config.pipeline
    schedule = pipeline.schedule(key.schedule_id)
    if fires(schedule):
        fire_cron(key.pipeline_id, schedule.id, ports)
    watch = find_watch(key, pipeline, ports)
    if watch is not None and watch.pruned_at is not None:
        return
    for reading in readings_for(key, pipeline, ports, trigger_keys(schedule)).values():
        if not isinstance(reading, UnreadableReading):
            admit_reading(reading, ports)


def _events(
    order: RunOrder, run: Run, skip: Skip | None, now: datetime, config: Config
) -> tuple[Event, ...]:
    assert skip is not None
    who = f" by {order.by}" if order.by else ""
    return about_date(
        EventType.RUN_UNSKIPPED,
        run_subject(run, config.pipeline),
        now,
        clean(f"the skip was undone{who}: {order.reason}"),
        parts=(run.attempt, spell(skip.at)),
        reason=clean(order.reason),
        requestedBy=order.by or None,
        skippedBy=skip.by or None,
        skipReason=clean(skip.reason),
    )
