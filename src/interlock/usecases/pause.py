"""Pause and resume: hold a pipeline, and let it continue without losing a date."""

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from interlock.domain import duration
from interlock.domain.admission import (
    Admission,
    OpenRun,
    Reopen,
    ReopenWhenReady,
    admit,
    used_keys,
)
from interlock.domain.config import Config
from interlock.domain.event import Event, EventType, happened, subject
from interlock.domain.pipeline import Pipeline, Schedule
from interlock.domain.rerun_request import RerunRequest
from interlock.domain.run import RunKey
from interlock.domain.schedule import occurrences
from interlock.domain.sensor import Reading, UnreadableReading, split_key
from interlock.domain.timestamp import spell
from interlock.errors import NotFoundError, TransientError
from interlock.usecases.admit_reading import admit_reading, concerned_runs
from interlock.usecases.adopt_config import config_owner
from interlock.usecases.advance_backfill import advance_of_pipeline
from interlock.usecases.arm_cron import fires
from interlock.usecases.evidence import judge_now
from interlock.usecases.find_runs import find_runs
from interlock.usecases.fire_cron import fire_cron
from interlock.usecases.judge_rerun import judge_rerun
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.retry_job import retry_job
from interlock.usecases.save_run import LOST_RACE

log = logging.getLogger(__name__)

_TRIES = 8
_RESUMED: dict[str, Any] = {
    "paused_since": None,
    "paused_until": None,
    "paused_by": "",
    "paused_reason": "",
}
_RECENT = 1000


class Foreseen(msgspec.Struct, frozen=True, rename="camel"):
    """A date that a resume would start, and why."""

    schedule_id: str
    date: str
    why: str


def pause(
    pipeline_id: str, ports: Ports, until: datetime | None = None, by: str = "", reason: str = ""
) -> Config:
    """While paused, no run opens; readings are kept, and SLA deadlines still apply.

    Pausing again says until when, who and why anew; it is paused since the first time. A repeat that says
    the same changes nothing.
    """
    now = ports.clock()

    def paused(config: Config) -> Config:
        since = config.paused_since or now
        return msgspec.structs.replace(
            config,
            paused_since=since,
            paused_until=until,
            paused_by=by,
            paused_reason=reason,
        )

    return _change(pipeline_id, ports, paused, lambda before, after: _paused(after, now))


def resume(pipeline_id: str, ports: Ports, by: str = "", reason: str = "") -> Config:
    """Resume it. What arrived during the pause is acted on now; the watchdog does the rest."""
    now = ports.clock()
    before = ports.pipelines.find(pipeline_id)

    def resumed(config: Config) -> Config:
        return msgspec.structs.replace(config, **_RESUMED)

    def events(was: Config, after: Config) -> Sequence[Event]:
        return _resumed(was, after, now, by, reason)

    config = _change(pipeline_id, ports, resumed, events)
    if before is not None and before.paused_since is not None:
        _catch_up(config, before.paused_since, ports)
    return config


def foresee_resume(pipeline_id: str, ports: Ports) -> list[Foreseen]:
    """What a resume would start now; changes nothing. Empty for a pipeline that is not paused."""
    config = ports.pipelines.find(pipeline_id)
    if config is None or config.is_retired:
        raise NotFoundError(f"no pipeline {pipeline_id} is in force")
    if config.paused_since is None:
        return []
    found = [
        each
        for schedule in config.pipeline.schedules
        for each in _foreseen(config, schedule, config.paused_since, ports)
    ]
    found += [
        Foreseen(request.key.schedule_id, request.key.date, f"rerun requested: {request.reason}")
        for request in _waiting(pipeline_id, ports)
    ]
    return sorted(set(found), key=lambda each: (each.date, each.schedule_id))


def _foreseen(
    config: Config, schedule: Schedule, since: datetime, ports: Ports
) -> Iterator[Foreseen]:
    now, pipeline = ports.clock(), config.pipeline
    for reading in _held(config, schedule, since, ports):
        runs = concerned_runs(pipeline, reading, ports)
        for admission in admit(pipeline, reading, runs, now, config.standings):
            key = _would_open(admission, pipeline, now, ports)
            if key is not None and pipeline.present_id(key.schedule_id) == schedule.id:
                yield Foreseen(schedule.id, key.date, f"reading of {reading.key}")
    if fires(schedule):
        counts_since = config.standing(schedule.id).since
        first = max(now - duration.parse(schedule.evaluation.window), counts_since)
        until = now + timedelta(microseconds=1)
        moments = list(occurrences(schedule, pipeline.calendars, first, until))
        keys = {RunKey(pipeline.id, schedule.id, m.date, dry=pipeline.dry_run) for m in moments}
        there = {key.date for key in find_runs(keys, pipeline, ports)}
        for moment in moments:
            if moment.date not in there:
                yield Foreseen(schedule.id, moment.date, "its cron time fell into the pause")


def _would_open(
    admission: Admission, pipeline: Pipeline, now: datetime, ports: Ports
) -> RunKey | None:
    """The date that an admission would start."""
    match admission:
        case OpenRun(key):
            return key
        case Reopen(run):
            return run.key
        case ReopenWhenReady(run, _, until):
            return run.key if judge_now(run, pipeline, now, ports, until).ready else None
        case _:
            return None


def _catch_up(config: Config, since: datetime, ports: Ports) -> None:
    for schedule in config.pipeline.schedules:
        for reading in _held(config, schedule, since, ports):
            admit_reading(reading, ports)
        fire_cron(config.pipeline.id, schedule.id, ports)
    for run in ports.runs.of_pipeline(config.pipeline.id, "0000", "9999", _RECENT):
        if run.awaits_retry and run.retry_at is not None and run.retry_at <= ports.clock():
            retry_job(run.key, run.attempt, ports)
    for request in _waiting(config.pipeline.id, ports):
        judge_rerun(request, ports)
    advance_of_pipeline(config.pipeline.id, ports)


def _waiting(pipeline_id: str, ports: Ports) -> list[RerunRequest]:
    """The pipeline's requests that are not judged yet."""
    listed = [each for each in ports.reruns.unjudged() if each.key.pipeline_id == pipeline_id]
    return listed + ports.reruns.unlisted([pipeline_id])


def _held(config: Config, schedule: Schedule, since: datetime, ports: Ports) -> list[Reading]:
    """The readings that a schedule uses and that arrived during the pause, in order of arrival."""
    used = used_keys(config.pipeline, schedule)
    held = [
        reading
        for reading in ports.sensors.of_pipeline(config.pipeline.id)
        if reading.received_at >= since
        and split_key(reading.key)[0] in used
        and not isinstance(reading, UnreadableReading)
    ]
    return sorted(held, key=lambda reading: reading.received_at)


def _publish(pipeline_id: str, ports: Ports) -> None:
    """What can't be published now is published later: asking again would be another request."""
    try:
        publish_outbox(config_owner(pipeline_id), ports)
    except TransientError as error:
        log.warning("not published yet: %s", error, extra={"action": "publish_deferred"})


def _paused(config: Config, now: datetime) -> Sequence[Event]:
    pause = config.pause(now)
    if pause is None:
        return ()  # its end lies in the past
    told = happened(
        EventType.PIPELINE_PAUSED,
        subject(config.pipeline),
        now,
        str(pause),
        parts=(config.version,),
        reason=pause.reason or None,
        requestedBy=pause.by or None,
        since=spell(pause.since),
        until=None if pause.until is None else spell(pause.until),
    )
    return (told,)


def _resumed(
    before: Config, config: Config, now: datetime, by: str, reason: str
) -> Sequence[Event]:
    if before.paused_since is None:
        return ()
    who, why = f" by {by}" if by else "", f" ({reason})" if reason else ""
    told = happened(
        EventType.PIPELINE_RESUMED,
        subject(config.pipeline),
        now,
        f"resumed{who}{why}",
        parts=(config.version,),
        reason=reason or None,
        requestedBy=by or None,
        since=spell(before.paused_since),
    )
    return (told,)


def _change(
    pipeline_id: str,
    ports: Ports,
    change: Callable[[Config], Config],
    events: Callable[[Config, Config], Sequence[Event]],
) -> Config:
    for _ in range(_TRIES):
        config = ports.pipelines.find(pipeline_id)
        if config is None or config.is_retired:
            raise NotFoundError(f"no pipeline {pipeline_id} is in force")
        changed = change(config)
        if changed == config:
            _publish(pipeline_id, ports)
            return config  # a repeat
        changed = msgspec.structs.replace(changed, version=config.version + 1)
        if ports.pipelines.save(changed, events(config, changed)):
            _publish(pipeline_id, ports)
            return changed
    raise TransientError(f"{pipeline_id}: {LOST_RACE}, {_TRIES} times in a row")
