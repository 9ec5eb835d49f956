"""Advance a backfill: note the dates that have ended, and request the next ones.

It is called when a run of a backfill ends, when a request of it is rejected, and by every pass of the
watchdog. A date is stored as begun before its run is requested: a process that dies in between leaves a begun
date without a request, and the next call makes it.
"""

import logging
from collections.abc import Iterable, Sequence

import msgspec

from interlock.domain.backfill import (
    Backfill,
    BackfillState,
    Beginning,
    DateFacts,
    begin,
    finished,
    is_unsent,
    settled,
)
from interlock.domain.backfill_events import turned
from interlock.domain.backfill_range import DateRules, is_expected
from interlock.domain.config import Config
from interlock.domain.event import Event
from interlock.domain.run import Run, RunKey
from interlock.errors import TransientError
from interlock.usecases.find_runs import find_runs
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox

log = logging.getLogger(__name__)

LOST_RACE = "other processes changed it first"
_TRIES = 8
#: How many waiting dates are looked up together, at least.
_TOGETHER = 50
_RETIRED = "its pipeline was retired"


def advance_backfill(backfill_id: str, ports: Ports) -> Backfill | None:
    """The backfill as it stands; None when there is none. Calling it again has no further effect."""
    for _ in range(_TRIES):
        before = ports.backfills.find(backfill_id)
        if before is None or before.is_over:
            return before
        config = ports.pipelines.find(before.pipeline_id)
        facts = facts_of(before, before.begun, config, ports)
        after = _next(before, facts, config, ports)
        events = [turned(after, config)] if after.state != before.state else []
        if after != before and not ports.backfills.save(after, events):
            continue
        publish(events, ports)
        for date, begun in after.begun.items():
            if is_unsent(begun, facts[date].request if date in facts else None):
                ports.reruns.request(after.request(date))
        return after
    raise TransientError(f"backfill {backfill_id}: {LOST_RACE}, {_TRIES} times in a row")


def advance_soon(backfill_id: str, ports: Ports) -> None:
    """For a caller whose own work is done: if it fails, the next pass of the watchdog advances it."""
    try:
        advance_backfill(backfill_id, ports)
    except Exception:
        extra = {"action": "backfill_waits", "backfill": backfill_id}
        log.exception("a backfill waits for the watchdog", extra=extra)


def advance_of_pipeline(pipeline_id: str, ports: Ports) -> None:
    """For a pipeline that has been resumed."""
    for backfill in ports.backfills.unsettled():
        if backfill.pipeline_id == pipeline_id:
            advance_soon(backfill.id, ports)


def facts_of(
    backfill: Backfill, dates: Iterable[str], config: Config | None, ports: Ports
) -> dict[str, DateFacts]:
    """What is stored about these dates."""
    wanted = list(dates)
    if not wanted:
        return {}
    runs = runs_of(backfill, wanted, config, ports)
    keys = {RunKey(backfill.pipeline_id, backfill.schedule_id, date): date for date in wanted}
    answers = {keys[key]: answer for key, answer in ports.reruns.answers(keys).items()}
    return {date: DateFacts(runs.get(date), answers.get(date)) for date in wanted}


def runs_of(
    backfill: Backfill, dates: Sequence[str], config: Config | None, ports: Ports
) -> dict[str, Run]:
    """The runs of these dates, under any id that their schedule has had."""
    key = RunKey(backfill.pipeline_id, backfill.schedule_id, "")
    if config is None:
        return {found.date: run for found, run in ports.runs.find(_dated(key, dates)).items()}
    pipeline = config.pipeline
    present = msgspec.structs.replace(
        key, schedule_id=pipeline.present_id(key.schedule_id), dry=pipeline.dry_run
    )
    found = find_runs(_dated(present, dates), pipeline, ports)
    return {each.date: run for each, run in found.items()}


def publish(events: Iterable[Event], ports: Ports) -> None:
    """Events of a backfill wait under their own ids; what can't be published now, the watchdog publishes."""
    for event in events:
        try:
            publish_outbox(event.event_id, ports)
        except TransientError as error:
            extra = {"action": "publish_failed", "event": event.event_id}
            log.warning("an event of a backfill waits: %s", error, extra=extra)


def _next(
    before: Backfill, facts: dict[str, DateFacts], config: Config | None, ports: Ports
) -> Backfill:
    """Its next version; the same one if nothing has changed."""
    now = ports.clock()
    after = settled(before, facts)
    if config is None or config.is_retired:
        if after.state in (BackfillState.RUNNING, BackfillState.PAUSED):
            return after.turned(BackfillState.CANCELLED, now, why=_RETIRED)
    elif after.state is BackfillState.RUNNING and not config.is_paused(now):
        after = _begun(after, config, ports)
    after = finished(after, now)
    return before if after == before else after.changed()


def _begun(backfill: Backfill, config: Config, ports: Ports) -> Backfill:
    """With as many dates begun as there is room for."""
    rules, now = _rules(backfill, config), ports.clock()
    waiting = backfill.waiting
    while waiting and backfill.room:
        some = waiting[: max(_TOGETHER, backfill.room)]
        waiting = waiting[len(some) :]
        runs = runs_of(backfill, some, config, ports)
        how = Beginning(runs, lambda date: rules is not None and is_expected(date, rules), now)
        backfill = begin(backfill, some, how)
    return backfill


def _rules(backfill: Backfill, config: Config) -> DateRules | None:
    """None for a schedule that the file has dropped."""
    pipeline = config.pipeline
    if not pipeline.has_schedule(backfill.schedule_id):
        return None
    return DateRules(pipeline.schedule(backfill.schedule_id), pipeline.calendars)


def _dated(key: RunKey, dates: Iterable[str]) -> list[RunKey]:
    return [msgspec.structs.replace(key, date=date) for date in dates]
