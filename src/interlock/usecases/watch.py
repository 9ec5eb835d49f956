"""Watch: one pass of the watchdog. It looks for what did not happen, and must work when all else fails."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import msgspec

from interlock.domain.canonical import content_hash
from interlock.domain.config import Config
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
    may_have_come,
    needs,
)
from interlock.domain.pipeline import Schedule
from interlock.domain.run import Run, RunKey
from interlock.domain.timestamp import spell
from interlock.domain.watchdog_state import WatchdogState
from interlock.errors import UnreadableError
from interlock.usecases.act_on_finding import act_on_finding
from interlock.usecases.adopt_config import adopt_config
from interlock.usecases.arm_cron import arm_cron
from interlock.usecases.claim_event import claim_event
from interlock.usecases.judge_rerun import judge_rerun
from interlock.usecases.load_snapshots import (
    FARTHEST,
    LoadedRows,
    ScheduleLook,
    ask_engine,
    last_looked,
    load,
    looked_since,
    snapshot,
    trigger_readings,
    unattended,
)
from interlock.usecases.ports import Ports
from interlock.usecases.report_unreadable import report_unreadable
from interlock.usecases.watch_order import in_order, in_turn

T = TypeVar("T")
log = logging.getLogger(__name__)

PASS_LEASE = timedelta(minutes=4)
OUTBOX_PATIENCE = timedelta(minutes=1)
_LAGGING = 500
#: So many cadences a pass, or a pipeline in it, may be late before that is told.
_PASSES_LATE = 3
_SHOWN = 50
_TOGETHER = 100


class CheckFailure(msgspec.Struct, frozen=True):
    """A check that failed, for one pipeline or for all (`*`)."""

    check: str
    pipeline: str
    error: str


class RunsToWatch(msgspec.Struct):
    """The runs that a pass must look at, by pipeline; of some no execution seems to be at work."""

    runs: dict[str, list[Run]] = {}
    unattended: frozenset[RunKey] = frozenset()


class PassReport(msgspec.Struct):
    """What a pass found and did."""

    now: datetime
    findings: list[tuple[str, str, Finding]] = []
    failures: list[CheckFailure] = []
    suspects: dict[str, datetime] = {}
    beyond: datetime | None = None
    #: The pipelines of which something can't be read: they are looked at from the same moment again.
    unreadable: set[str] = set()
    #: The pipelines for which no time was left, in order; the next pass begins with them.
    left_out: dict[str, None] = {}

    def count(self, kind: type) -> int:
        return sum(isinstance(finding, kind) for _, _, finding in self.findings)


def watch(
    every: timedelta,
    ports: Ports,
    since: datetime | None = None,
    has_time: Callable[[], bool] = lambda: True,
    reconcile_every: timedelta = timedelta(0),
) -> PassReport | None:
    """One pass; None when another one is under way. What fails is recorded and does not stop the rest.

    It stops between pipelines when there is no time left; the next pass goes on there. Readings and
    requests are compared with what came of them every so often, where reading them costs something.
    """
    now = ports.clock()
    state = ports.watch.load()
    if state.pass_until is not None and now < state.pass_until:
        return None
    claimed = _claimed(state, every, now)
    if not ports.watch.save(claimed):
        return None
    report = PassReport(now)
    _sweep(report, ports, has_time)
    due = _due(report, ports)
    configs = in_order(_listed(due, report, ports), claimed, now)
    turn = in_turn(configs, claimed, now, timedelta(0) if since else reconcile_every)
    for batch in batched(configs, _TOGETHER):
        if has_time():
            _look_at(batch, due, turn, since, claimed, report, ports, has_time)
        else:
            report.left_out |= dict.fromkeys(config.pipeline.id for config in batch)
    _arm_all(configs, report, ports)
    _guarded(report, "report", "*", lambda: report_unreadable(ports))
    _note_starving(claimed, configs, report, every)
    paused = {config.pipeline.id for config in configs if config.is_paused(now)}
    _conclude(claimed, report, paused, every, ports)
    return report


def _claimed(state: WatchdogState, every: timedelta, now: datetime) -> WatchdogState:
    """The state while a pass is made. A pass that comes far too late ends a time in which none was made: the
    controller was down, the machine slept, or the clock leapt.
    """
    last = state.last_pass_at
    late = last is not None and now - last > _PASSES_LATE * every
    return msgspec.structs.replace(
        state,
        version=state.version + 1,
        pass_until=now + PASS_LEASE,
        down_from=last if late else state.down_from,
        down_until=now if late else state.down_until,
    )


def _sweep(report: PassReport, ports: Ports, has_time: Callable[[], bool]) -> None:
    """Configs that nobody adopted, events that nobody told, requests that nobody judged."""
    with_each = _each(report, "sweep", has_time)
    with_each(ports.pipelines.unadopted, lambda wanted: adopt_config(wanted.pipeline_id, ports))
    with_each(
        lambda: ports.outbox.leftovers(report.now - OUTBOX_PATIENCE),
        lambda event: _publish(event, ports),
    )
    with_each(ports.reruns.unjudged, lambda request: judge_rerun(request, ports))


def _publish(event: Event, ports: Ports) -> None:
    ports.events.publish([event])
    ports.outbox.clear([event])


def _due(report: PassReport, ports: Ports) -> RunsToWatch:
    """Those whose time has come, and those that are open while no execution is at work on them."""
    by_time = _guarded(report, "stale-triggers", "*", lambda: ports.runs.due(report.now)) or []
    left = _guarded(report, "stale-triggers", "*", lambda: unattended(ports)) or []
    due = RunsToWatch(unattended=frozenset(run.key for run in left))
    for run in {run.key: run for run in (*by_time, *left)}.values():
        due.runs.setdefault(run.key.pipeline_id, []).append(run)
    return due


def _listed(due: RunsToWatch, report: PassReport, ports: Ports) -> list[Config]:
    """The configs in force, and those of pipelines that are gone and still have something under way."""
    configs = _guarded(report, "list", "*", ports.pipelines.in_force) or []
    report.unreadable |= ports.pipelines.unreadable()
    for pipeline_id in due.runs.keys() - {config.pipeline.id for config in configs}:
        find = partial(ports.pipelines.find, pipeline_id)
        config = _guarded(report, "list", pipeline_id, find)
        if config is not None:
            configs.append(config)
    return configs


def _look_at(
    configs: Sequence[Config],
    due: RunsToWatch,
    turn: set[str],
    since: datetime | None,
    state: WatchdogState,
    report: PassReport,
    ports: Ports,
    has_time: Callable[[], bool],
) -> None:
    names = [config.pipeline.id for config in configs if config.pipeline.id in turn]
    _each(report, "sweep")(
        lambda: ports.reruns.unlisted(names), lambda request: judge_rerun(request, ports)
    )
    looks = [
        look
        for config in configs
        for look in _guarded(
            report,
            "look",
            config.pipeline.id,
            partial(_looks, config, due, turn, since, state, report, ports),
        )
        or []
    ]
    _check(looks, state, report, ports, has_time)


def _arm_all(configs: Iterable[Config], report: PassReport, ports: Ports) -> None:
    for config in configs:
        if not config.is_retired:
            arm = partial(arm_cron, config, report.now, ports)
            _guarded(report, "cron", config.pipeline.id, arm)


def _note_starving(
    state: WatchdogState, configs: Sequence[Config], report: PassReport, every: timedelta
) -> None:
    """A pipeline that no pass has time for is not watched, and that is a failure."""
    error, late = "no pass has had time for it", _PASSES_LATE * every
    for name in sorted(report.left_out):
        if report.now - state.lagging.get(name, report.now) > late:
            report.failures.append(CheckFailure("time", name, error))
    common = state.since or min((each.active_since for each in configs), default=report.now)
    if len(report.left_out) > _LAGGING and report.now - common > late:
        report.failures.append(CheckFailure("time", "*", error))


def _looks(
    config: Config,
    due: RunsToWatch,
    turn: set[str],
    since: datetime | None,
    state: WatchdogState,
    report: PassReport,
    ports: Ports,
) -> list[ScheduleLook]:
    """What there is to look at in a pipeline, with what only it knows."""
    start = since or _since(state, config, report)
    pipeline = config.pipeline
    left = {run.key.schedule_id for run in due.runs.get(pipeline.id, ())}
    gone = [Schedule(id=name) for name in sorted(left) if not pipeline.has_schedule(name)]
    schedules = (*pipeline.schedules, *gone)
    closely = pipeline.id in turn
    return [_look(config, each, start, due, closely, report, ports) for each in schedules]


def _look(
    config: Config,
    schedule: Schedule,
    since: datetime,
    due: RunsToWatch,
    closely: bool,
    report: PassReport,
    ports: Ports,
) -> ScheduleLook:
    pipeline, now = config.pipeline, report.now
    of_pipeline = due.runs.get(pipeline.id, ())
    present = pipeline.present_id
    ours = tuple(r for r in of_pipeline if present(r.key.schedule_id) == schedule.id)
    look = ScheduleLook(config, schedule, since, ours, Needs((), {}, ()))
    if not look.is_quiet:
        look.needs = needs(pipeline, schedule, since, config.standing(schedule.id), now)
    if closely or may_have_come(look.needs, schedule, now):
        look.readings = trigger_readings(look, now, ports)
    # an engine that can't be asked blinds this check alone, and declares nobody dead
    ask = partial(ask_engine, ours, due.unattended, now, ports)
    asked = _guarded(report, "stale-triggers", pipeline.id, ask)
    look.engine, look.succeeded = asked or ({}, frozenset())
    return look


def _check(
    looks: Sequence[ScheduleLook],
    state: WatchdogState,
    report: PassReport,
    ports: Ports,
    has_time: Callable[[], bool],
) -> None:
    for some, loaded in _loaded(looks, report, ports, has_time):
        for look in some:
            see = partial(snapshot, look, loaded, state, report.now, ports)
            seen = _guarded(report, "look", look.config.pipeline.id, see)
            if seen is None:
                continue
            for name, guard in GUARDS.items():
                if name == "stale-triggers" or not look.is_quiet:
                    _run_guard(name, guard, seen, look.config, report, ports)


def _loaded(
    looks: Sequence[ScheduleLook], report: PassReport, ports: Ports, has_time: Callable[[], bool]
) -> Iterator[tuple[Sequence[ScheduleLook], LoadedRows]]:
    """The looks with what they need, read together; if that fails, pipeline by pipeline, so that the
    trouble of one stays its own.
    """
    try:
        together = load(looks, report.now, ports)
    except Exception:
        log.exception("many pipelines can't be read together", extra={"action": "batch_failed"})
    else:
        yield looks, together
        return
    tried = PassReport(report.now)
    groups = _by_pipeline(looks)
    for name, some in groups.items():
        if not has_time():
            report.left_out[name] = None
            continue
        loaded = _guarded(tried, "load", name, partial(load, some, report.now, ports))
        if loaded is not None:
            yield some, loaded
    report.unreadable |= tried.unreadable
    report.failures += _one_for_all(tried.failures, len(groups))


def _by_pipeline(looks: Iterable[ScheduleLook]) -> dict[str, list[ScheduleLook]]:
    found: dict[str, list[ScheduleLook]] = {}
    for look in looks:
        found.setdefault(look.config.pipeline.id, []).append(look)
    return found


def _one_for_all(failures: list[CheckFailure], pipelines: int) -> list[CheckFailure]:
    """What fails for each of several pipelines is not the trouble of one of them."""
    if pipelines > 1 and len(failures) == pipelines:
        return [msgspec.structs.replace(failures[0], pipeline="*")]
    return failures


def _run_guard(
    name: str, guard: Guard, seen: Snapshot, config: Config, report: PassReport, ports: Ports
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


def _since(state: WatchdogState, config: Config, report: PassReport) -> datetime:
    """From when on a pipeline has not been looked at; not farther back than we can promise.

    What lies beyond that is noted, unless a pause still holds it.
    """
    start = last_looked(state, config)
    if start < report.now - FARTHEST and not config.is_paused(report.now):
        report.beyond = min(start, report.beyond or start)
    return looked_since(state, config, report.now)


def _conclude(
    state: WatchdogState, report: PassReport, paused: set[str], every: timedelta, ports: Ports
) -> None:
    """Record the pass, and say what it means for the watchdog itself."""
    now = report.now
    failing = sorted({f"{failure.check} ({failure.pipeline})" for failure in report.failures})
    gap = state.last_pass_at is not None and now - state.last_pass_at > _PASSES_LATE * every
    ok_at = state.last_ok_at or now
    back = not failing and now - ok_at > _PASSES_LATE * every
    since = state.failing_since or (now if failing else None)
    _guarded(report, "report", "*", lambda: _tell(state, report, failing, since, gap, ports))
    lagging = _lagging(state, report, paused)
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
            left_at=next(iter(report.left_out), None) if lagging is None else None,
            failing_since=since if failing else None,
            failures=tuple(failing),
            suspects=report.suspects,
        )
    )


def _lagging(
    state: WatchdogState, report: PassReport, paused: set[str]
) -> dict[str, datetime] | None:
    """Pipelines that stay where they were: those that failed, those without time, those paused, and those
    whose config can't be read.

    None when the common start itself must stay.
    """
    behind = {failure.pipeline for failure in report.failures} | report.left_out.keys() | paused
    behind |= report.unreadable - {"*"}
    if "*" in behind or len(behind) > _LAGGING:
        return None
    start = state.since or report.now
    return {name: state.lagging.get(name, start) for name in behind}


def _tell(
    state: WatchdogState,
    report: PassReport,
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


def _tell_degraded(report: PassReport, failing: list[str], since: datetime, ports: Ports) -> None:
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


def _tell_recovered(start: datetime, report: PassReport, ports: Ports) -> None:
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


def _guarded(report: PassReport, check: str, pipeline_id: str, act: Callable[[], T]) -> T | None:
    """One bad pipeline never blinds the others: what it raises is recorded. A row that can't be read is
    reported by itself.
    """
    try:
        return act()
    except UnreadableError as error:
        extra = {"action": "row_unreadable", "check": check}
        log.warning("a check met a row that can't be read: %s", error, extra=extra)
        report.unreadable.add(pipeline_id)
        return None
    except Exception as error:
        log.exception("watchdog check failed", extra={"action": "guard_broke", "check": check})
        report.failures.append(
            CheckFailure(check, pipeline_id, clean(f"{type(error).__name__}: {error}"))
        )
        return None


def _each(
    report: PassReport, check: str, has_time: Callable[[], bool] = lambda: True
) -> Callable[..., None]:
    """Act on each of a list; a list or an item that fails is recorded, and the rest goes on."""

    def run(listing: Callable[[], Iterable[Any]], act: Callable[[Any], object]) -> None:
        for item in _guarded(report, check, "*", lambda: list(listing())) or []:
            if has_time():
                _guarded(report, check, _owner(item), partial(act, item))
            else:
                report.left_out |= dict.fromkeys({_owner(item)} - {"*"})

    return run


def _owner(item: Any) -> str:
    key = getattr(item, "key", None)
    return getattr(item, "pipeline_id", None) or getattr(key, "pipeline_id", None) or "*"
