"""Conclude a pass: record what it found and failed at, and tell what that means for the watchdog itself."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar

import msgspec

from interlock.domain.canonical import content_hash
from interlock.domain.event import EventType, Subject, clean, happened
from interlock.domain.findings import FireLate, Missed, WatchdogFinding
from interlock.domain.timestamp import spell
from interlock.domain.watchdog_state import WatchdogState
from interlock.errors import UnreadableError
from interlock.usecases.claim_event import claim_event
from interlock.usecases.load_snapshots import FARTHEST
from interlock.usecases.ports import Ports

#: More pipelines than this that stay behind keep the common start where it is.
MOST_LAGGING = 500
#: How many cadences a pass, or a pipeline in it, may be late before an event reports it.
PASSES_LATE = 3
_SHOWN = 50
_TRIES = 8
T = TypeVar("T")
log = logging.getLogger(__name__)


class CheckFailure(msgspec.Struct, frozen=True):
    """A check that failed, for one pipeline or for all (`*`)."""

    check: str
    pipeline: str
    error: str


class PassReport(msgspec.Struct):
    """What a pass found and did."""

    now: datetime
    findings: list[tuple[str, str, WatchdogFinding]] = []
    failures: list[CheckFailure] = []
    suspects: dict[str, datetime] = {}
    beyond: datetime | None = None
    #: The pipelines of which something can't be read: they are looked at from the same moment again.
    unreadable: set[str] = set()
    #: The pipelines for which no time was left, in order; the next pass begins with them.
    left_out: dict[str, None] = {}

    def count(self, kind: type) -> int:
        return sum(isinstance(finding, kind) for _, _, finding in self.findings)


def guarded(report: PassReport, check: str, pipeline_id: str, act: Callable[[], T]) -> T | None:
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


def conclude_pass(
    state: WatchdogState, report: PassReport, paused: set[str], every: timedelta, ports: Ports
) -> None:
    """Record the pass, and say what it means for the watchdog itself."""
    now = report.now
    failing = sorted({f"{failure.check} ({failure.pipeline})" for failure in report.failures})
    gap = state.last_pass_at is not None and now - state.last_pass_at > PASSES_LATE * every
    ok_at = state.last_ok_at or now
    back = not failing and now - ok_at > PASSES_LATE * every
    since = state.failing_since or (now if failing else None)
    guarded(report, "report", "*", lambda: _tell(state, report, failing, since, gap, ports))
    lagging = _lagging(state, report, paused)
    concluded = msgspec.structs.replace(
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
    _store(concluded, state, ports)


def _store(concluded: WatchdogState, claimed: WatchdogState, ports: Ports) -> None:
    """A request to look back that came during the pass is kept for the next one. A pass that another one has
    replaced stores nothing.
    """
    for _ in range(_TRIES):
        if ports.watch.save(concluded):
            return
        found = ports.watch.load()
        if found.pass_until != claimed.pass_until:
            return
        asked = {name: at for name, at in found.lagging.items() if claimed.lagging.get(name) != at}
        concluded = msgspec.structs.replace(
            concluded, version=found.version + 1, lagging={**concluded.lagging, **asked}
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
    if "*" in behind or len(behind) > MOST_LAGGING:
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
