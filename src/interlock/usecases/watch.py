"""Watch: one pass of the watchdog. It looks for what did not happen, and must work when all else fails."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, TypeVar

import msgspec

from interlock.domain.config import Config
from interlock.domain.due_dates import Needs, may_have_come, needs
from interlock.domain.event import Event
from interlock.domain.findings import Suspect, WatchdogFinding
from interlock.domain.guards import Snapshot
from interlock.domain.pipeline import Schedule
from interlock.domain.run import Run, RunKey
from interlock.domain.watchdog_state import WatchdogState
from interlock.usecases.adopt_config import adopt_config
from interlock.usecases.advance_backfill import advance_backfill
from interlock.usecases.arm_cron import arm_cron
from interlock.usecases.conclude_pass import (
    MOST_LAGGING,
    PASSES_LATE,
    CheckFailure,
    PassReport,
    conclude_pass,
    guarded,
)
from interlock.usecases.judge_rerun import judge_rerun
from interlock.usecases.load_snapshots import (
    FARTHEST,
    LoadedRows,
    ScheduleLook,
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
from interlock.usecases.watchdog_checks import GUARDS, GuardSpec, act_on_finding

T = TypeVar("T")
log = logging.getLogger(__name__)

PASS_LEASE = timedelta(minutes=4)
OUTBOX_PATIENCE = timedelta(minutes=1)
_TOGETHER = 100


class RunsToWatch(msgspec.Struct):
    """The runs that a pass must look at, by pipeline; of some no execution seems to be at work."""

    runs: dict[str, list[Run]] = {}
    unattended: frozenset[RunKey] = frozenset()


class WatchPass(msgspec.Struct, frozen=True):
    """One pass under way: what it began with, and what it has found so far."""

    state: WatchdogState
    due: RunsToWatch
    #: The pipelines whose readings and requests are compared in this pass.
    turn: set[str]
    report: PassReport
    #: From when on to look; None: from where each pipeline was looked at last.
    since: datetime | None
    has_time: Callable[[], bool]

    @property
    def now(self) -> datetime:
        return self.report.now


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
    this = WatchPass(claimed, due, turn, report, since, has_time)
    for batch in batched(configs, _TOGETHER):
        if has_time():
            _look_at(batch, this, ports)
        else:
            report.left_out |= dict.fromkeys(config.pipeline.id for config in batch)
    _arm_all(configs, report, ports)
    guarded(report, "report", "*", lambda: report_unreadable(ports))
    _note_starving(claimed, configs, report, every)
    paused = {config.pipeline.id for config in configs if config.is_paused(now)}
    conclude_pass(claimed, report, paused, every, ports)
    return report


def _claimed(state: WatchdogState, every: timedelta, now: datetime) -> WatchdogState:
    """The state while a pass is made. A pass that comes far too late ends a time in which none was made: the
    controller was down, the machine slept, or the clock leapt.
    """
    last = state.last_pass_at
    late = last is not None and now - last > PASSES_LATE * every
    return msgspec.structs.replace(
        state,
        version=state.version + 1,
        pass_until=now + PASS_LEASE,
        down_from=last if late else state.down_from,
        down_until=now if late else state.down_until,
    )


def _sweep(report: PassReport, ports: Ports, has_time: Callable[[], bool]) -> None:
    """Adopt pending configs, publish pending events, decide pending requests, advance backfills."""
    with_each = _each(report, "sweep", has_time)
    with_each(ports.pipelines.unadopted, lambda wanted: adopt_config(wanted.pipeline_id, ports))
    with_each(
        lambda: ports.outbox.leftovers(report.now - OUTBOX_PATIENCE),
        lambda event: _publish(event, ports),
    )
    with_each(ports.reruns.unjudged, lambda request: judge_rerun(request, ports))
    with_each(ports.backfills.unsettled, lambda backfill: advance_backfill(backfill.id, ports))


def _publish(event: Event, ports: Ports) -> None:
    ports.events.publish([event])
    ports.outbox.clear([event])


def _due(report: PassReport, ports: Ports) -> RunsToWatch:
    """Those whose time has come, and those that are open while no execution is at work on them."""
    by_time = guarded(report, "stale-triggers", "*", lambda: ports.runs.due(report.now)) or []
    left = guarded(report, "stale-triggers", "*", lambda: unattended(ports)) or []
    due = RunsToWatch(unattended=frozenset(run.key for run in left))
    for run in {run.key: run for run in (*by_time, *left)}.values():
        due.runs.setdefault(run.key.pipeline_id, []).append(run)
    return due


def _listed(due: RunsToWatch, report: PassReport, ports: Ports) -> list[Config]:
    """The configs in force, and those of pipelines that are gone and still have something under way."""
    configs = guarded(report, "list", "*", ports.pipelines.in_force) or []
    report.unreadable |= ports.pipelines.unreadable()
    for pipeline_id in due.runs.keys() - {config.pipeline.id for config in configs}:
        find = partial(ports.pipelines.find, pipeline_id)
        config = guarded(report, "list", pipeline_id, find)
        if config is not None:
            configs.append(config)
    return configs


def _look_at(configs: Sequence[Config], this: WatchPass, ports: Ports) -> None:
    report = this.report
    names = [config.pipeline.id for config in configs if config.pipeline.id in this.turn]
    _each(report, "sweep")(
        lambda: ports.reruns.unlisted(names), lambda request: judge_rerun(request, ports)
    )
    looks = [
        look
        for config in configs
        for look in guarded(
            report, "look", config.pipeline.id, partial(_looks, config, this, ports)
        )
        or []
    ]
    _check(looks, this, ports)


def _arm_all(configs: Iterable[Config], report: PassReport, ports: Ports) -> None:
    for config in configs:
        if not config.is_retired:
            arm = partial(arm_cron, config, report.now, ports)
            guarded(report, "cron", config.pipeline.id, arm)


def _note_starving(
    state: WatchdogState, configs: Sequence[Config], report: PassReport, every: timedelta
) -> None:
    """A pipeline that no pass has time for is not watched, and that is a failure."""
    error, late = "no pass has had time for it", PASSES_LATE * every
    for name in sorted(report.left_out):
        if report.now - state.lagging.get(name, report.now) > late:
            report.failures.append(CheckFailure("time", name, error))
    common = state.since or min((each.active_since for each in configs), default=report.now)
    if len(report.left_out) > MOST_LAGGING and report.now - common > late:
        report.failures.append(CheckFailure("time", "*", error))


def _looks(config: Config, this: WatchPass, ports: Ports) -> list[ScheduleLook]:
    """What there is to look at in a pipeline, with what only it knows."""
    start = this.since or _since(this.state, config, this.report)
    pipeline = config.pipeline
    left = {run.key.schedule_id for run in this.due.runs.get(pipeline.id, ())}
    gone = [Schedule(id=name) for name in sorted(left) if not pipeline.has_schedule(name)]
    return [_look(config, each, start, this, ports) for each in (*pipeline.schedules, *gone)]


def _look(
    config: Config, schedule: Schedule, since: datetime, this: WatchPass, ports: Ports
) -> ScheduleLook:
    pipeline, now = config.pipeline, this.now
    of_pipeline = this.due.runs.get(pipeline.id, ())
    present = pipeline.present_id
    ours = tuple(r for r in of_pipeline if present(r.key.schedule_id) == schedule.id)
    look = ScheduleLook(config, schedule, since, ours, Needs((), {}, ()))
    look.unattended = this.due.unattended
    if not look.is_quiet:
        look.needs = needs(pipeline, schedule, since, config.standing(schedule.id), now)
    if pipeline.id in this.turn or may_have_come(look.needs, schedule, now):
        look.readings = trigger_readings(look, now, ports)
    return look


def _check(looks: Sequence[ScheduleLook], this: WatchPass, ports: Ports) -> None:
    for some, loaded in _loaded(looks, this, ports):
        for look in some:
            see = partial(snapshot, look, loaded, this.state, this.now, ports)
            seen = guarded(this.report, "look", look.config.pipeline.id, see)
            if seen is None:
                continue
            for row in GUARDS.values():
                if row.of_quiet or not look.is_quiet:
                    _run_guard(row, look, seen, this.report, ports)


def _loaded(
    looks: Sequence[ScheduleLook], this: WatchPass, ports: Ports
) -> Iterator[tuple[Sequence[ScheduleLook], LoadedRows]]:
    """The looks with what they need, read together; if that fails, pipeline by pipeline, so that the
    trouble of one stays its own.
    """
    report = this.report
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
        if not this.has_time():
            report.left_out[name] = None
            continue
        loaded = guarded(tried, "load", name, partial(load, some, report.now, ports))
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
    row: GuardSpec, look: ScheduleLook, seen: Snapshot, report: PassReport, ports: Ports
) -> None:
    pipeline_id = look.config.pipeline.id
    if row.load is not None:
        # a failed load silences only this check, and ends no run
        load_more = partial(row.load, look, report.now, ports)
        more = guarded(report, row.name, pipeline_id, load_more)
        if more is None and not row.copes:
            return
        seen = msgspec.structs.replace(seen, **(more or {}))
    find = partial(_found, row, seen, report.now)
    for finding in guarded(report, row.name, pipeline_id, find) or []:
        if isinstance(finding, Suspect):
            first = seen.suspects.get(finding.name, report.now)
            report.suspects[finding.name] = first
            continue
        report.findings.append((row.name, pipeline_id, finding))
        act = partial(act_on_finding, finding, look.config, report.now, ports)
        guarded(report, row.name, pipeline_id, act)


def _found(row: GuardSpec, seen: Snapshot, now: datetime) -> list[WatchdogFinding]:
    return list(row.guard(seen, now))


def _since(state: WatchdogState, config: Config, report: PassReport) -> datetime:
    """From when on a pipeline has not been looked at; not farther back than we can promise.

    What lies beyond that is noted, unless a pause still holds it.
    """
    start = last_looked(state, config)
    if start < report.now - FARTHEST and not config.is_paused(report.now):
        report.beyond = min(start, report.beyond or start)
    return looked_since(state, config, report.now)


def batched(items: Sequence[T], size: int) -> Iterable[Sequence[T]]:
    return (items[n : n + size] for n in range(0, len(items), size))


def _each(
    report: PassReport, check: str, has_time: Callable[[], bool] = lambda: True
) -> Callable[..., None]:
    """Act on each of a list; a list or an item that fails is recorded, and the rest goes on."""

    def run(listing: Callable[[], Iterable[Any]], act: Callable[[Any], object]) -> None:
        for item in guarded(report, check, "*", lambda: list(listing())) or []:
            if has_time():
                guarded(report, check, _owner(item), partial(act, item))
            else:
                report.left_out |= dict.fromkeys({_owner(item)} - {"*"})

    return run


def _owner(item: Any) -> str:
    key = getattr(item, "key", None)
    return getattr(item, "pipeline_id", None) or getattr(key, "pipeline_id", None) or "*"
