"""Watch: one pass of the watchdog. It looks for what did not happen, and must work when all else fails."""

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import msgspec

from interlock.domain.canonical import content_hash
from interlock.domain.event import Event, EventType, Subject, clean, happened
from interlock.domain.guards import (
    GUARDS,
    Finding,
    FireLate,
    Guard,
    Missed,
    Needs,
    Snapshot,
    Suspect,
    needs,
)
from interlock.domain.pipeline import Schedule
from interlock.domain.run import Run
from interlock.domain.timestamp import spell
from interlock.ports import Config, Ports, WatchdogState
from interlock.usecases.act_on_finding import act_on_finding
from interlock.usecases.adopt_config import adopt_config
from interlock.usecases.arm_cron import arm_cron
from interlock.usecases.claim_event import claim_event
from interlock.usecases.judge_rerun import judge_rerun
from interlock.usecases.snapshots import (
    FARTHEST,
    Look,
    ask_engine,
    load,
    snapshot,
    trigger_readings,
)

T = TypeVar("T")
log = logging.getLogger(__name__)

OVERLAP = timedelta(minutes=15)
PASS_LEASE = timedelta(minutes=4)
OUTBOX_PATIENCE = timedelta(minutes=1)
_LAGGING = 500
#: So many cadences a pass, or a pipeline in it, may be late before that is told.
_PASSES_LATE = 3
_SHOWN = 50
_TOGETHER = 100


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
    #: The pipelines for which no time was left; they come first in the next pass.
    left_out: set[str] = set()

    def count(self, kind: type) -> int:
        return sum(isinstance(finding, kind) for _, _, finding in self.findings)


def watch(
    every: timedelta,
    ports: Ports,
    since: datetime | None = None,
    has_time: Callable[[], bool] = lambda: True,
) -> Report | None:
    """One pass; None when another one is under way. What fails is recorded and does not stop the rest.

    It stops between pipelines when there is no time left; the next pass goes on there.
    """
    now = ports.clock()
    state = ports.watch.load()
    if state.pass_until is not None and now < state.pass_until:
        return None
    claimed = msgspec.structs.replace(state, version=state.version + 1, pass_until=now + PASS_LEASE)
    if not ports.watch.save(claimed):
        return None
    report = Report(now)
    _sweep(report, ports)
    _look_at_all(claimed, since, report, ports, has_time)
    _note_starving(claimed, report, every)
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
    state: WatchdogState,
    since: datetime | None,
    report: Report,
    ports: Ports,
    has_time: Callable[[], bool],
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
    configs.sort(key=lambda config: state.lagging.get(config.pipeline.id, report.now))
    for batch in batched(configs, _TOGETHER):
        if not has_time():
            report.left_out |= {config.pipeline.id for config in batch}
            continue
        looks = [
            look
            for config in batch
            for look in _guarded(
                report,
                "look",
                config.pipeline.id,
                partial(_looks, config, by_pipeline, since, state, report, ports),
            )
            or []
        ]
        _look_at(looks, state, report, ports)
    for config in configs:
        if not config.is_retired:
            arm = partial(arm_cron, config, report.now, ports)
            _guarded(report, "cron", config.pipeline.id, arm)


def _note_starving(state: WatchdogState, report: Report, every: timedelta) -> None:
    """A pipeline that no pass has time for is not watched, and that is a failure."""
    for name in sorted(report.left_out):
        if report.now - state.lagging.get(name, report.now) > _PASSES_LATE * every:
            error = "no pass has had time for it"
            report.failures.append(Failure("time", name, error))


def _looks(
    config: Config,
    due: dict[str, list[Run]],
    since: datetime | None,
    state: WatchdogState,
    report: Report,
    ports: Ports,
) -> list[Look]:
    """What there is to look at in a pipeline, with what only it knows."""
    start = since or _since(state, config, report)
    pipeline = config.pipeline
    left = {run.key.schedule_id for run in due.get(pipeline.id, ())}
    gone = [Schedule(id=name) for name in sorted(left) if not pipeline.has_schedule(name)]
    schedules = (*pipeline.schedules, *gone)
    return [_look(config, schedule, start, due, report, ports) for schedule in schedules]


def _look(
    config: Config,
    schedule: Schedule,
    since: datetime,
    due: dict[str, list[Run]],
    report: Report,
    ports: Ports,
) -> Look:
    pipeline, now = config.pipeline, report.now
    ours = tuple(r for r in due.get(pipeline.id, ()) if r.key.schedule_id == schedule.id)
    look = Look(config, schedule, since, ours, Needs((), {}, ()))
    if not look.is_quiet:
        look.needs = needs(pipeline, schedule, since, config.active_since, now)
    look.readings = trigger_readings(look, now, ports)
    # an engine that can't be asked blinds this check alone, and declares nobody dead
    asked = _guarded(report, "stale-triggers", pipeline.id, partial(ask_engine, ours, now, ports))
    look.engine, look.succeeded = asked or ({}, frozenset())
    return look


def _look_at(looks: Sequence[Look], state: WatchdogState, report: Report, ports: Ports) -> None:
    loaded = _guarded(report, "load", "*", lambda: load(looks, report.now, ports))
    if loaded is None:
        return
    for look in looks:
        pipeline_id = look.config.pipeline.id
        see = partial(snapshot, look, loaded, state, report.now, ports)
        seen = _guarded(report, "look", pipeline_id, see)
        if seen is None:
            continue
        for name, guard in GUARDS.items():
            if name == "stale-triggers" or not look.is_quiet:
                _run_guard(name, guard, seen, look.config, report, ports)


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
    gap = state.last_pass_at is not None and now - state.last_pass_at > _PASSES_LATE * every
    ok_at = state.last_ok_at or now
    back = not failing and now - ok_at > _PASSES_LATE * every
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
    behind = {failure.pipeline for failure in report.failures} | report.left_out
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
    starts = (state.failing_since, state.last_pass_at if gap else None, report.beyond)
    known = [start for start in starts if start is not None]
    if known:
        _tell_recovered(min(known), report, ports)


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


def batched(items: Sequence[T], size: int) -> Iterable[Sequence[T]]:
    return (items[n : n + size] for n in range(0, len(items), size))


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
