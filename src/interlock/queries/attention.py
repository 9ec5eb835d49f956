"""Attention: what needs a person now, the worst first; and what soon will, unless something changes."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import IntEnum

import msgspec

from interlock.domain.chance import first_breach
from interlock.domain.config import Config, Pause, RefusedConfig
from interlock.domain.event import Event, EventType
from interlock.domain.history import EventFilter
from interlock.domain.run import Run, RunKey, Status
from interlock.domain.sla import blocked_by
from interlock.domain.unreadable import RowKind
from interlock.ports.reads import History
from interlock.usecases.ports import Ports

#: How long a problem stays on the list: an older one is history.
RECENT = timedelta(days=1)
_MOST = 100
#: A run that was due longer ago is history: dates that failed and were left so would fill the list.
_LATEST = 30 * RECENT

_MISSED = (
    EventType.SCHEDULE_MISSED,
    EventType.IRREGULAR_SCHEDULE_MISSED,
    EventType.SENSOR_DEADLINE_EXPIRED,
    EventType.SLA_BREACH,
    EventType.READINESS_MISSED,
)


class AttentionKind(IntEnum):
    """Why something needs a person; smaller is worse."""

    OVERDUE = 0
    GIVEN_UP = 1
    FAILED = 2
    UNREADABLE = 3
    MISSED = 4
    REFUSED = 5
    AT_RISK = 6
    PAUSED = 7


class Concern(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that needs a person."""

    kind: AttentionKind
    pipeline_id: str
    since: datetime
    reasons: tuple[str, ...]
    key: RunKey | None = None
    run: Run | None = None
    due_at: datetime | None = None
    #: The refused file.
    file: str = ""


def concerns(
    configs: Mapping[str, Config],
    now: datetime,
    ports: Ports,
    history: History,
    refused: Sequence[RefusedConfig] = (),
) -> list[Concern]:
    """For the pipelines in force, and the files refused now. The worst first; within a kind, the newest
    first.
    """
    by_key: dict[RunKey, Concern] = {}
    for found in (*_late(configs, now, history), *_failed(now, history)):
        assert found.key is not None
        by_key.setdefault(found.key, found)
    others = (
        *_unreadable(now, ports, history),
        *_missed(by_key, now, ports, history),
        *_refused(refused, now, history),
        *_paused(configs, now),
    )
    return sorted((*by_key.values(), *others), key=lambda each: (each.kind, _newest_first(each)))


def reasons(run: Run, configs: Mapping[str, Config], now: datetime) -> tuple[str, ...]:
    """Why a run is not done, according to its current file."""
    config = configs.get(run.key.pipeline_id)
    if config is None or not config.pipeline.has_schedule(run.key.schedule_id):
        return ("its pipeline is no longer in force",)
    return tuple(blocked_by(run, config.pipeline, run.key.schedule_id, now))


def _newest_first(concern: Concern) -> float:
    return -concern.since.timestamp()


def _late(configs: Mapping[str, Config], now: datetime, history: History) -> Iterator[Concern]:
    for run in history.due(now - _LATEST, now, _MOST):
        due = first_breach(run)
        is_over = due is not None and due <= now
        if is_over and due is not None and due < now - 7 * RECENT:
            continue
        yield Concern(
            kind=_kind(run, is_over),
            pipeline_id=run.key.pipeline_id,
            key=run.key,
            run=run,
            since=due if is_over and due is not None else run.warning_at or run.changed_at,
            due_at=due,
            reasons=reasons(run, configs, now),
        )


def _kind(run: Run, is_over: bool) -> AttentionKind:
    """A failed run needs action, whatever its deadline."""
    if run.status is Status.FAILED and not run.awaits_retry:
        return AttentionKind.FAILED
    return AttentionKind.OVERDUE if is_over else AttentionKind.AT_RISK


def _failed(now: datetime, history: History) -> Iterator[Concern]:
    first, yesterday = ((now - days * RECENT).date().isoformat() for days in (2, 1))
    for run in history.failed(first, _MOST):
        is_old = run.key.date < yesterday and run.changed_at < now - RECENT
        if run.awaits_retry or is_old:
            continue
        message = run.failure.message if run.failure else "unknown"
        yield Concern(
            kind=AttentionKind.GIVEN_UP
            if run.status is Status.FAILED_FINAL
            else AttentionKind.FAILED,
            pipeline_id=run.key.pipeline_id,
            key=run.key,
            run=run,
            since=run.changed_at,
            due_at=first_breach(run),
            reasons=(message,),
        )


def _missed(
    known: Mapping[RunKey, Concern], now: datetime, ports: Ports, history: History
) -> Iterator[Concern]:
    """Dates without a run, once each, however many events they have."""
    told: dict[RunKey, Event] = {}
    for kind in _MISSED:
        for event in _recent(kind, now, history):
            key = key_of(event)
            if key is not None:
                told.setdefault(key, event)
    runs = ports.runs.find(list(told))
    for key, event in told.items():
        run = runs.get(key)
        if key in known or (run is not None and run.status is not Status.FAILED):
            continue
        yield Concern(
            kind=AttentionKind.MISSED,
            pipeline_id=key.pipeline_id,
            key=key,
            since=event.timestamp,
            reasons=(event.message,),
        )


def _unreadable(now: datetime, ports: Ports, history: History) -> Iterator[Concern]:
    """Unreadable rows of pipelines; of reported rows of runs, those still unreadable."""
    events = _recent(EventType.ROW_UNREADABLE, now, history)
    keys = {event.event_id: key_of(event) for event in events}
    runs = ports.runs.find([key for key in keys.values() if key is not None])
    for event in events:
        key = keys[event.event_id]
        run = None if key is None else runs.get(key)
        of_run = event.detail.get("kind") == RowKind.RUN
        fixed = of_run and (run is None or run.status is not Status.UNREADABLE)
        if fixed or event.pipeline_id is None:
            continue
        yield Concern(
            kind=AttentionKind.UNREADABLE,
            pipeline_id=event.pipeline_id,
            key=key if of_run else None,
            since=event.timestamp,
            reasons=(event.message,),
        )


def key_of(event: Event) -> RunKey | None:
    """The run that an event is about, if it is about one."""
    if not event.pipeline_id or not event.schedule_id or not event.date:
        return None
    return RunKey(event.pipeline_id, event.schedule_id, event.date)


def _refused(
    refused: Sequence[RefusedConfig], now: datetime, history: History
) -> Iterator[Concern]:
    """Each file that is refused now, however long ago that was told."""
    for each in refused:
        wanted = EventFilter(pipeline_id=each.pipeline_id, kind=EventType.CONFIG_REJECTED)
        told = [one.event.timestamp for one in history.events(wanted, None, 1)]
        yield Concern(
            kind=AttentionKind.REFUSED,
            pipeline_id=each.pipeline_id or "",
            since=told[0] if told and each.pipeline_id else now,
            reasons=(f"refused: {each}",),
            file=each.file,
        )


def _paused(configs: Mapping[str, Config], now: datetime) -> Iterator[Concern]:
    for config in configs.values():
        pause = config.pause(now)
        if pause is not None:
            yield Concern(
                kind=AttentionKind.PAUSED,
                pipeline_id=config.pipeline.id,
                since=pause.since,
                due_at=pause.until,
                reasons=(f"{pause}: no run opens until {_end(pause)}",),
            )


def _end(pause: Pause) -> str:
    return "it is resumed" if pause.until is None else f"{pause.until:%Y-%m-%d %H:%M} UTC"


def _recent(kind: EventType, now: datetime, history: History) -> list[Event]:
    found = history.events(EventFilter(kind=kind, since=now - RECENT), None, _MOST)
    return [told.event for told in found]
