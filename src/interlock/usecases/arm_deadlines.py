"""Arm deadlines: set timers for the moments of a date that have none, or have one at another time."""

from datetime import datetime

import msgspec

from interlock.domain.config import Config
from interlock.domain.opening import unarmed
from interlock.domain.run import DeadlineKind, Run, RunKey, Status
from interlock.domain.sla import SlaWatch
from interlock.usecases.find_runs import find_watch, kept_key
from interlock.usecases.fire_deadline import first_watch, is_covered, watched_instants
from interlock.usecases.open_run import deadline_timer
from interlock.usecases.ports import Ports
from interlock.usecases.save_run import RunWrite, save_run


def arm_deadlines(key: RunKey, config: Config, ports: Ports) -> list[str]:
    """Returns the names that were armed; the row records for which instants."""
    key = kept_key(key, config.pipeline, ports)
    run = ports.runs.find([key]).get(key)
    if run is None:
        return _arm_watch(key, config, ports)
    idle = run.status in (Status.UNREADABLE, Status.SKIPPED)
    return [] if idle else _arm_run(key, ports)


def _arm_run(key: RunKey, ports: Ports) -> list[str]:
    now = ports.clock()
    armed: dict[DeadlineKind, datetime] = {}

    def decide(run: Run) -> RunWrite | None:
        nonlocal armed
        armed = {} if run.status is Status.SKIPPED else dict(unarmed(run))
        if not armed:
            return None
        ports.timers.arm([deadline_timer(key, kind, at) for kind, at in armed.items()])
        return RunWrite(run.changed(now, sla_armed=run.sla_armed | armed))

    save_run(key, decide, ports)
    return [deadline_timer(key, kind, at).name for kind, at in armed.items()]


def _arm_watch(key: RunKey, config: Config, ports: Ports) -> list[str]:
    fresh = first_watch(key, config)
    watch = find_watch(key, config.pipeline, ports) or fresh
    if watch is None or fresh is None or is_covered(key, config, ports):
        return []
    due = _open_moments(watch, fresh, ports.clock())
    armed = {kind: at for kind, at in due.items() if watch.armed.get(kind) != at}
    if not armed:
        return []
    timers = [deadline_timer(key, kind, at) for kind, at in armed.items()]
    ports.timers.arm(timers)
    ports.claims.save_watch(
        msgspec.structs.replace(
            watch,
            version=watch.version + 1,
            warning_at=fresh.warning_at,
            breach_at=fresh.breach_at,
            readiness_at=fresh.readiness_at,
            armed=watch.armed | armed,
        )
    )
    return [timer.name for timer in timers]


def _open_moments(watch: SlaWatch, fresh: SlaWatch, now: datetime) -> dict[DeadlineKind, datetime]:
    """The moments of the current file. The readiness moment is armed only if it lies ahead: a file may have
    declared it after the moment, and the watchdog judges one that passed without a timer.
    """
    return {
        kind: at
        for kind, at in watched_instants(fresh).items()
        if kind not in watch.told
        and (at > now if kind is DeadlineKind.READINESS else watch.verdict is None)
    }
