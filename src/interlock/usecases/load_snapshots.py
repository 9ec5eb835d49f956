"""Load snapshots: what the watchdog needs from many schedules, read in few requests.

What each schedule needs is computed first; the answers are fetched together for a hundred at a time, so the
requests of a pass grow by hundreds of pipelines, not by pipelines.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import msgspec

from interlock.domain.admission import (
    Admission,
    Exclude,
    NoteRepeat,
    OpenRun,
    PostRunReading,
    Reject,
    StartAgain,
    admit,
    run_keys,
)
from interlock.domain.config import Config
from interlock.domain.due_dates import Needs, stand_ins
from interlock.domain.guards import Snapshot, wants_engine
from interlock.domain.partition import Grain, label_at
from interlock.domain.pipeline import Pipeline, Schedule
from interlock.domain.post_run import post_run_keys
from interlock.domain.run import Run, RunKey, Status
from interlock.domain.sensor import Reading, UnreadableReading, carried_label
from interlock.domain.sla import SlaWatch
from interlock.domain.watchdog_state import WatchdogState
from interlock.domain.zones import zone
from interlock.usecases.admit_reading import refusal_events
from interlock.usecases.evidence import readings_for
from interlock.usecases.find_runs import find_runs, find_watch, find_watches, former_keys
from interlock.usecases.job_ending import has_succeeded
from interlock.usecases.ports import Ports

FARTHEST = timedelta(days=31)
OVERLAP = timedelta(minutes=15)
_TRIGGER_DAYS = timedelta(days=2)


class ScheduleLook(msgspec.Struct):
    """One schedule to check, and what has been read for it."""

    config: Config
    schedule: Schedule
    since: datetime
    due: tuple[Run, ...]
    needs: Needs
    readings: list[Reading] = []
    #: Those of its runs that no execution under way seems to work on.
    unattended: frozenset[RunKey] = frozenset()

    @property
    def is_quiet(self) -> bool:
        """For a retired or dry pipeline, or a removed schedule, only open runs are checked."""
        pipeline = self.config.pipeline
        gone = not pipeline.has_schedule(self.schedule.id)
        return gone or self.config.is_retired or pipeline.dry_run

    def key(self, date: str) -> RunKey:
        pipeline = self.config.pipeline
        return RunKey(pipeline.id, self.schedule.id, date, dry=pipeline.dry_run)


class LoadedRows(msgspec.Struct, frozen=True):
    """What was read for several schedules together."""

    runs: dict[RunKey, Run]
    watches: dict[RunKey, SlaWatch]


def load(looks: Sequence[ScheduleLook], now: datetime, ports: Ports) -> LoadedRows:
    """Fetch the runs and deadline watches that the schedules need."""
    dates = {look.key(date) for look in looks for date in look.needs.dates}
    of_readings = {
        key
        for look in looks
        for reading in look.readings
        for key in run_keys(look.config.pipeline, reading)
    }
    pipelines = {look.config.pipeline.id: look.config.pipeline for look in looks}
    runs = find_runs(dates | of_readings, pipelines, ports)
    absent = [key for key in dates if key not in runs]
    watches = find_watches(absent, pipelines, ports) if absent else {}
    hours = [key for look in looks for key in _stand_ins(look, runs, watches, now)]
    return LoadedRows(runs | (find_runs(hours, pipelines, ports) if hours else {}), watches)


def snapshot(
    look: ScheduleLook, loaded: LoadedRows, state: WatchdogState, now: datetime, ports: Ports
) -> Snapshot:
    """The snapshot for the guards."""
    wanted = {look.key(date): date for date in look.needs.dates}
    hours = {
        key for date in wanted.values() for key in map(look.key, stand_ins(look.schedule, date))
    }
    return Snapshot(
        pipeline=look.config.pipeline,
        schedule=look.schedule,
        since=look.since,
        needs=look.needs,
        due=look.due,
        runs={key.date: loaded.runs[key] for key in (wanted.keys() | hours) if key in loaded.runs},
        readings=tuple(_decided(look, loaded, now, ports)),
        watches={
            date: loaded.watches[key] for key, date in wanted.items() if key in loaded.watches
        },
        suspects=state.suspects,
        last_ok_at=state.last_ok_at,
        down=_down(state),
        not_watched=look.since if look.since == now - FARTHEST else None,
        paused=look.config.is_paused(now),
    )


def last_looked(state: WatchdogState, config: Config) -> datetime:
    """From when on a pipeline has not been checked; a paused one is not checked."""
    start = state.lagging.get(config.pipeline.id) or state.since or config.active_since
    return start if config.paused_since is None else min(start, config.paused_since)


def looked_since(state: WatchdogState, config: Config, now: datetime) -> datetime:
    """From when on to check it; no further back than guaranteed."""
    return max(last_looked(state, config) - OVERLAP, now - FARTHEST)


def trigger_readings(look: ScheduleLook, now: datetime, ports: Ports) -> list[Reading]:
    """The trigger readings of the last days, the plain one too."""
    schedule, config = look.schedule, look.config
    if look.is_quiet or schedule.trigger is None or config.is_paused(now):
        return []
    key, where = schedule.trigger.rule.key, zone(schedule.timezone)
    first = label_at(min(look.since, now - _TRIGGER_DAYS), where, Grain.DAY)
    last = label_at(now + timedelta(days=1), where, Grain.DAY)
    pipeline_id = config.pipeline.id
    found = ports.sensors.between(pipeline_id, key, str(first), str(last))
    plain = ports.sensors.find(pipeline_id, [key]).values()
    return [*found, *(reading for reading in plain if _names_a_date(reading, where))]


def _names_a_date(reading: Reading, where: ZoneInfo) -> bool:
    """For a reading without a date and without a time of receipt, the run it missed is unknown; so it is
    for an unreadable one.
    """
    if isinstance(reading, UnreadableReading):
        return False
    return reading.timed or carried_label(reading.fields, where, reading.received_at) is not None


def unattended(ports: Ports) -> list[Run]:
    """Open runs that no execution in progress works on. Both lists may lag: the engine is asked about
    each run before anything is reported.
    """
    by_execution = ports.runs.open_executions()
    names = by_execution.keys() - ports.workflows.running() if by_execution else set()
    found = ports.runs.find([by_execution[name] for name in names])
    return [run for run in found.values() if run.is_open and run.execution_name in names]


def engine_answers(look: ScheduleLook, now: datetime, ports: Ports) -> dict[str, Any]:
    """What became of the attempts that may be dead: in the engine, and in the job log."""
    doubtful = [run for run in look.due if wants_engine(run, run.key not in look.unattended, now)]
    return {
        "engine": {
            each.execution_name: ports.workflows.describe(each.execution_name) for each in doubtful
        },
        "succeeded": frozenset(run.key.date for run in doubtful if has_succeeded(run, ports)),
    }


def came_after(look: ScheduleLook, now: datetime, ports: Ports) -> dict[str, Any]:
    """The post-run keys of which something came since the job was launched."""
    pipeline = look.config.pipeline
    keys = post_run_keys(pipeline)
    found = {}
    for run in look.due if keys else ():
        since = run.launched_at or run.completed_at
        if run.status is not Status.COMPLETED or since is None:
            continue
        readings = readings_for(run.key, pipeline, ports, keys, run)
        came = {key for key, reading in readings.items() if _came_since(reading, since)}
        found[run.key.date] = frozenset(came | run.post_run.seen.keys())
    return {"seen_after": found}


def _stand_ins(
    look: ScheduleLook, runs: dict[RunKey, Run], watches: dict[RunKey, SlaWatch], now: datetime
) -> Iterable[RunKey]:
    """The hours of days whose deadline may have to be reported; most have their timers."""
    for date in look.needs.dates:
        key = look.key(date)
        if key in runs or not _is_open_question(look, date, watches.get(key), now):
            continue
        for hour in stand_ins(look.schedule, date):
            yield look.key(hour)


def _is_open_question(look: ScheduleLook, date: str, watch: SlaWatch | None, now: datetime) -> bool:
    if date in look.needs.closing or watch is None:
        return True
    moments = (watch.warning_at, watch.breach_at, watch.readiness_at)
    passed = [at for at in moments if at is not None and at <= now]
    return watch.verdict is None and len(passed) > len(watch.told)


def _down(state: WatchdogState) -> tuple[datetime, datetime] | None:
    if state.down_from is None or state.down_until is None:
        return None
    return state.down_from, state.down_until


def _came_since(reading: Reading, since: datetime) -> bool:
    if reading.timed and reading.received_at >= since:
        return True
    return reading.updated_at is not None and reading.updated_at > since


def _decided(
    look: ScheduleLook, loaded: LoadedRows, now: datetime, ports: Ports
) -> Iterable[tuple[Reading, tuple[Admission, ...]]]:
    """The readings, with what the ordinary path would do with them now."""
    pipeline = look.config.pipeline
    for reading in look.readings:
        runs = {key: loaded.runs[key] for key in run_keys(pipeline, reading) if key in loaded.runs}
        if runs and all(_has_seen(run, reading) for run in runs.values()):
            continue  # the usual case, and most of a quiet pass
        decided = tuple(
            admission
            for admission in admit(pipeline, reading, runs, now, look.config.standings)
            if pipeline.present_id(_schedule_of(admission)) == look.schedule.id
            and not isinstance(admission, StartAgain)  # the guard stale-triggers handles it
            and not _is_judged(admission)
            and not _is_told(admission, look.config, ports)
            and not _is_pruned(admission, reading, pipeline, ports)
        )
        if decided:
            yield reading, decided


def _schedule_of(admission: Admission) -> str:
    key = getattr(admission, "key", None) or getattr(getattr(admission, "run", None), "key", None)
    return key.schedule_id if key is not None else getattr(admission, "schedule_id", "")


def _has_seen(run: Run, reading: Reading) -> bool:
    """Whether a run in progress was opened by this reading, or has judged it since."""
    started = run.is_open and run.started_at is not None and run.first_sensor_at is not None
    return started and run.trigger_version == reading.version


def _is_judged(admission: Admission) -> bool:
    """A post-run reading is new only if it came after completion and has not been judged."""
    if not isinstance(admission, PostRunReading):
        return False
    run, at = admission.run, admission.reading.received_at
    if run.completed_at is None or at <= run.completed_at:
        return True
    return run.post_run.seen.get(admission.rule_key) == at


def _is_pruned(admission: Admission, reading: Reading, pipeline: Pipeline, ports: Ports) -> bool:
    """A reading that existed when the run of its date was pruned belonged to that run."""
    if not isinstance(admission, OpenRun):
        return False
    watch = find_watch(admission.key, pipeline, ports)
    pruned_at = None if watch is None else watch.pruned_at
    return pruned_at is not None and reading.received_at <= pruned_at


def _is_told(admission: Admission, config: Config, ports: Ports) -> bool:
    """A rejection that was already published is not new, however often it is found."""
    if not isinstance(admission, Exclude | Reject | NoteRepeat):
        return False
    ids = [event.event_id for event in refusal_events(admission, config)]
    if len(ports.claims.is_claimed(ids)) == len(ids):
        return True
    return isinstance(admission, Exclude) and _is_told_of_former(admission, config, ports)


def _is_told_of_former(admission: Exclude, config: Config, ports: Ports) -> bool:
    """Whether it was published while the schedule had another id."""
    former = former_keys(admission.key, config.pipeline)
    told = (msgspec.structs.replace(admission, key=key) for key in former)
    ids = [event.event_id for each in told for event in refusal_events(each, config)]
    return bool(ids) and bool(ports.claims.is_claimed(ids))
