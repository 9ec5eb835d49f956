"""Watch: one pass of the watchdog. It looks for what did not happen, and must work when all else fails."""

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import msgspec

from interlock.domain.admission import Admission, Exclude, Reject, StartAgain, admit, run_keys
from interlock.domain.canonical import content_hash
from interlock.domain.event import Event, EventType, Subject, clean, happened
from interlock.domain.guards import (
    GUARDS,
    EngineState,
    Finding,
    FireLate,
    Guard,
    Missed,
    Needs,
    Snapshot,
    Suspect,
    needs,
    stand_ins,
    wants_engine,
)
from interlock.domain.partition import Grain, label_at
from interlock.domain.pipeline import Schedule
from interlock.domain.run import Run, RunKey, Status
from interlock.domain.sensor import Reading
from interlock.domain.timestamp import spell
from interlock.domain.zones import zone
from interlock.ports import Config, Ports, WatchdogState
from interlock.usecases.act_on_finding import act_on_finding
from interlock.usecases.admit_reading import refusal_events
from interlock.usecases.adopt_config import adopt_config
from interlock.usecases.arm_cron import arm_cron
from interlock.usecases.claim_event import claim_event
from interlock.usecases.evidence import readings_for
from interlock.usecases.job_ending import ending_of
from interlock.usecases.judge_rerun import judge_rerun

T = TypeVar("T")
log = logging.getLogger(__name__)

OVERLAP = timedelta(minutes=15)
PASS_LEASE = timedelta(minutes=4)
FARTHEST = timedelta(days=31)
OUTBOX_PATIENCE = timedelta(minutes=1)
_LAGGING = 500
_SHOWN = 50


class Failure(msgspec.Struct, frozen=True):
    """A check that failed, for one pipeline or for all (`*`)."""

    check: str
    pipeline: str
    error: str


class Report(msgspec.Struct):
    """What a pass found and did."""

    now: datetime
    findings: list[tuple[str, str, Finding]] = []
    failures: list[Failure] = []
    suspects: dict[str, datetime] = {}
    beyond: datetime | None = None

    def count(self, kind: type) -> int:
        return sum(isinstance(finding, kind) for _, _, finding in self.findings)


def watch(every: timedelta, ports: Ports, since: datetime | None = None) -> Report | None:
    """One pass; None when another one is under way. What fails is recorded and does not stop the rest."""
    now = ports.clock()
    state = ports.watch.load()
    if state.pass_until is not None and now < state.pass_until:
        return None
    claimed = msgspec.structs.replace(state, version=state.version + 1, pass_until=now + PASS_LEASE)
    if not ports.watch.save(claimed):
        return None
    report = Report(now)
    _sweep(report, ports)
    _look_at_all(claimed, since, report, ports)
    _conclude(claimed, report, every, ports)
    return report


def _sweep(report: Report, ports: Ports) -> None:
    """Configs that nobody adopted, events that nobody told, requests that nobody judged."""
    with_each = _each(report, "sweep")
    with_each(ports.pipelines.unadopted, lambda wanted: adopt_config(wanted.pipeline_id, ports))
    with_each(
        lambda: ports.outbox.leftovers(report.now - OUTBOX_PATIENCE),
        lambda event: _publish(event, ports),
    )
    with_each(ports.reruns.unjudged, lambda request: judge_rerun(request, ports))


def _publish(event: Event, ports: Ports) -> None:
    ports.events.publish([event])
    ports.outbox.clear([event])


def _look_at_all(
    state: WatchdogState, since: datetime | None, report: Report, ports: Ports
) -> None:
    due = _guarded(report, "stale-triggers", "*", lambda: ports.runs.due(report.now)) or []
    configs = _guarded(report, "list", "*", ports.pipelines.in_force) or []
    by_pipeline: dict[str, list[Run]] = {}
    for run in due:
        by_pipeline.setdefault(run.key.pipeline_id, []).append(run)
    known = {config.pipeline.id for config in configs}
    for pipeline_id in by_pipeline.keys() - known:
        find = partial(ports.pipelines.find, pipeline_id)
        config = _guarded(report, "list", pipeline_id, find)
        if config is not None:
            configs.append(config)
    for config in configs:
        start = since or _since(state, config, report)
        runs = by_pipeline.get(config.pipeline.id, [])
        look = partial(_look_at, config, runs, start, state, report, ports)
        _guarded(report, "look", config.pipeline.id, look)


def _look_at(
    config: Config,
    due: Sequence[Run],
    since: datetime,
    state: WatchdogState,
    report: Report,
    ports: Ports,
) -> None:
    now = report.now
    for schedule in config.pipeline.schedules:
        ours = tuple(run for run in due if run.key.schedule_id == schedule.id)
        seen = _snapshot(config, schedule, ours, since, state, report, ports)
        for name, guard in GUARDS.items():
            if name != "stale-triggers" and (config.is_retired or config.pipeline.dry_run):
                continue
            _run_guard(name, guard, seen, config, report, ports)
    if not config.is_retired:
        arm_cron(config, now, ports)


def _run_guard(
    name: str, guard: Guard, seen: Snapshot, config: Config, report: Report, ports: Ports
) -> None:
    pipeline_id = config.pipeline.id
    findings = _guarded(report, name, pipeline_id, lambda: list(guard(seen, report.now))) or []
    for finding in findings:
        if isinstance(finding, Suspect):
            first = seen.suspects.get(finding.name, report.now)
            report.suspects[finding.name] = first
            continue
        report.findings.append((name, pipeline_id, finding))
        act = partial(act_on_finding, finding, config, report.now, ports)
        _guarded(report, name, pipeline_id, act)


def _snapshot(
    config: Config,
    schedule: Schedule,
    due: tuple[Run, ...],
    since: datetime,
    state: WatchdogState,
    report: Report,
    ports: Ports,
) -> Snapshot:
    pipeline, now = config.pipeline, report.now
    quiet = config.is_retired or pipeline.dry_run
    wanted = (
        Needs((), {}, ()) if quiet else needs(pipeline, schedule, since, config.active_since, now)
    )
    keys = [RunKey(pipeline.id, schedule.id, date, dry=pipeline.dry_run) for date in wanted.dates]
    runs = ports.runs.find(keys) if keys else {}
    absent = [key for key in keys if key not in runs]
    hours = [
        msgspec.structs.replace(key, date=hour)
        for key in absent
        for hour in stand_ins(schedule, key.date)
    ]
    runs |= ports.runs.find(hours) if hours else {}
    # an engine that can't be asked blinds this check alone, and declares nobody dead
    asked = partial(_asked, due, now, ports)
    engine, succeeded = _guarded(report, "stale-triggers", pipeline.id, asked) or ({}, frozenset())
    return Snapshot(
        pipeline=pipeline,
        schedule=schedule,
        since=since,
        needs=wanted,
        due=due,
        runs={key.date: run for key, run in runs.items()},
        readings=() if quiet else tuple(_readings(config, schedule, since, now, ports)),
        watches={key.date: watch for key, watch in ports.marks.watches(absent).items()}
        if absent and wanted.deadlines
        else {},
        engine=engine,
        succeeded=succeeded,
        seen_after=_seen_after(config, due, ports),
        suspects=state.suspects,
        last_ok_at=state.last_ok_at,
        down=_down(state),
        not_watched=since if since == now - FARTHEST else None,
        paused=config.is_paused(now),
    )


def _down(state: WatchdogState) -> tuple[datetime, datetime] | None:
    if state.down_from is None or state.down_until is None:
        return None
    return state.down_from, state.down_until


def _asked(
    due: Iterable[Run], now: datetime, ports: Ports
) -> tuple[dict[str, EngineState], frozenset[str]]:
    """What became of the attempts that may be dead: in the engine, and in the job log."""
    return _engine(due, now, ports), frozenset(_succeeded(due, now, ports))


def _engine(due: Iterable[Run], now: datetime, ports: Ports) -> dict[str, EngineState]:
    return {
        run.execution_name: ports.workflows.describe(run.execution_name)
        for run in due
        if wants_engine(run, now)
    }


def _succeeded(due: Iterable[Run], now: datetime, ports: Ports) -> Iterable[str]:
    for run in due:
        if run.status is Status.RUNNING and wants_engine(run, now):
            ending = ending_of(run, ports.job_log.of_run(run.key))
            if ending is not None and ending.event == "success":
                yield run.key.date


def _seen_after(config: Config, due: Iterable[Run], ports: Ports) -> dict[str, frozenset[str]]:
    """The post-run keys of which something came after completion."""
    post_run = config.pipeline.post_run
    if post_run is None:
        return {}
    keys = frozenset(rule.key for rule in post_run.rules)
    found = {}
    for run in due:
        done_at = run.completed_at
        if run.status is not Status.COMPLETED or done_at is None:
            continue
        seen = {key for key, at in run.post_run.seen.items() if at >= done_at}
        readings = readings_for(run.key, config.pipeline, ports, keys)
        seen |= {
            key
            for key, reading in readings.items()
            if reading.updated_at is not None and reading.updated_at > done_at
        }
        found[run.key.date] = frozenset(seen)
    return found


def _readings(
    config: Config, schedule: Schedule, since: datetime, now: datetime, ports: Ports
) -> Iterable[tuple[Reading, tuple[Admission, ...]]]:
    """The trigger readings of the last days, with what the ordinary path would make of them."""
    if schedule.trigger is None or config.is_paused(now):
        return
    key, where = schedule.trigger.rule.key, zone(schedule.timezone)
    first = label_at(min(since, now - timedelta(days=2)), where, Grain.DAY)
    last = label_at(now + timedelta(days=1), where, Grain.DAY)
    pipeline_id = config.pipeline.id
    found = ports.sensors.between(pipeline_id, key, str(first), str(last))
    found += ports.sensors.find(pipeline_id, [key]).values()
    for reading in found:
        runs = ports.runs.find(run_keys(config.pipeline, reading))
        decided = tuple(
            admission
            for admission in admit(config.pipeline, reading, runs, now)
            if _schedule_of(admission) == schedule.id
            and not isinstance(admission, StartAgain)  # stale-triggers sees to it
            and not _is_told(admission, config, ports)
        )
        if decided:
            yield reading, decided


def _schedule_of(admission: Admission) -> str:
    key = getattr(admission, "key", None) or getattr(getattr(admission, "run", None), "key", None)
    return key.schedule_id if key is not None else getattr(admission, "schedule_id", "")


def _is_told(admission: Admission, config: Config, ports: Ports) -> bool:
    """A refusal that has been told already is no news, however often it is found."""
    if not isinstance(admission, Exclude | Reject):
        return False
    ids = [event.event_id for event in refusal_events(admission, config)]
    return len(ports.marks.is_claimed(ids)) == len(ids)


def _since(state: WatchdogState, config: Config, report: Report) -> datetime:
    """From when on a pipeline has not been looked at; not farther back than we can promise.

    What lies beyond that is noted, unless a pause still holds it.
    """
    own = state.lagging.get(config.pipeline.id)
    start = own or state.since or config.active_since
    if config.paused_since is not None:
        start = min(start, config.paused_since)
    farthest = report.now - FARTHEST
    if start < farthest and not config.is_paused(report.now):
        report.beyond = min(start, report.beyond or start)
    return max(start - OVERLAP, farthest)


def _conclude(state: WatchdogState, report: Report, every: timedelta, ports: Ports) -> None:
    """Record the pass, and say what it means for the watchdog itself."""
    now = report.now
    failing = sorted({f"{failure.check} ({failure.pipeline})" for failure in report.failures})
    gap = state.last_pass_at is not None and now - state.last_pass_at > 3 * every
    ok_at = state.last_ok_at or now
    back = not failing and now - ok_at > 3 * every
    since = state.failing_since or (now if failing else None)
    _guarded(report, "report", "*", lambda: _tell(state, report, failing, since, gap, ports))
    lagging = _lagging(state, report, ports)
    ports.watch.save(
        msgspec.structs.replace(
            state,
            version=state.version + 1,
            pass_until=None,
            last_pass_at=now,
            last_ok_at=state.last_ok_at if failing else now,
            down_from=state.last_ok_at if back else state.down_from,
            down_until=now if back else state.down_until,
            since=now if lagging is not None else state.since,
            lagging=lagging if lagging is not None else state.lagging,
            failing_since=since if failing else None,
            failures=tuple(failing),
            suspects=report.suspects,
        )
    )


def _lagging(state: WatchdogState, report: Report, ports: Ports) -> dict[str, datetime] | None:
    """Pipelines that stay where they were: those that failed, and those that are paused.

    None when the common start itself must stay.
    """
    behind = {failure.pipeline for failure in report.failures}
    if "*" in behind:
        return None
    behind |= {
        config.pipeline.id for config in ports.pipelines.in_force() if config.is_paused(report.now)
    }
    if len(behind) > _LAGGING:
        return None
    start = state.since or report.now
    return {name: state.lagging.get(name, start) for name in behind}


def _tell(
    state: WatchdogState,
    report: Report,
    failing: list[str],
    since: datetime | None,
    gap: bool,
    ports: Ports,
) -> None:
    if failing and since is not None:
        _tell_degraded(report, failing, since, ports)
        return
    start = state.failing_since or (state.last_pass_at if gap else report.beyond)
    if start is not None:
        _tell_recovered(start, report, ports)


def _tell_degraded(report: Report, failing: list[str], since: datetime, ports: Ports) -> None:
    shown = [msgspec.to_builtins(failure) for failure in report.failures[:_SHOWN]]
    event = happened(
        EventType.WATCHDOG_DEGRADED,
        Subject(),
        report.now,
        f"watchdog checks failed: {', '.join(failing)}".replace("(*)", "(all)"),
        parts=(spell(since), content_hash(failing, 12), (report.now - since).days),
        failures=shown,
        count=len(report.failures),
        since=spell(since),
    )
    claim_event(event, ports)


def _tell_recovered(start: datetime, report: Report, ports: Ports) -> None:
    begin: dict[str, Any] = {"from": spell(start)}
    event = happened(
        EventType.WATCHDOG_RECOVERED,
        Subject(),
        report.now,
        f"the watchdog is back after {spell(start)}",
        parts=(spell(start),),
        until=spell(report.now),
        firedLate=report.count(FireLate),
        missed=report.count(Missed),
        recovered=len(report.findings),
        notWatched=None if report.beyond is None else spell(report.now - FARTHEST),
        **begin,
    )
    claim_event(event, ports)


def _guarded(report: Report, check: str, pipeline_id: str, act: Callable[[], T]) -> T | None:
    """One bad pipeline never blinds the others: what it raises is recorded."""
    try:
        return act()
    except Exception as error:
        log.exception("watchdog check failed", extra={"action": "guard_broke", "check": check})
        report.failures.append(
            Failure(check, pipeline_id, clean(f"{type(error).__name__}: {error}"))
        )
        return None


def _each(report: Report, check: str) -> Callable[..., None]:
    """Act on each of a list; a list or an item that fails is recorded, and the rest goes on."""

    def run(listing: Callable[[], Iterable[Any]], act: Callable[[Any], object]) -> None:
        for item in _guarded(report, check, "*", lambda: list(listing())) or []:
            _guarded(report, check, _owner(item), partial(act, item))

    return run


def _owner(item: Any) -> str:
    key = getattr(item, "key", None)
    return getattr(item, "pipeline_id", None) or getattr(key, "pipeline_id", None) or "*"
