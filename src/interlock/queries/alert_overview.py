"""Alert overview: the routes, mutes and sinks in force, and the alerts that are open."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from interlock.domain.alerting.alert_rules import Alerts, Match, Mute, Route, RouteTarget
from interlock.domain.alerting.deliveries import SinkFigures
from interlock.domain.alerting.handling import Acknowledgement, Handling, Snooze
from interlock.domain.alerting.mutes import next_start, window_end
from interlock.domain.alerting.threads import AlertKey, Thread
from interlock.domain.event import Phase, Severity
from interlock.ports.alerts import AlertStores
from interlock.queries.alerts_in_force import AlertsInForce

#: How many threads are looked through for open alerts.
MOST_THREADS = 500


class _Shown(msgspec.Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    """Part of the answer. `line` is where it is written in the file, if that is known."""


class StepShown(_Shown, frozen=True, kw_only=True):
    """A step of an escalation."""

    after: str
    to: tuple[str, ...]


class RouteShown(_Shown, frozen=True, kw_only=True):
    """A route, in the order in which routes are tried; 1 is the first."""

    number: int
    match: str
    to: tuple[str, ...]
    escalate: tuple[StepShown, ...] = ()
    goes_on: bool = msgspec.field(default=False, name="continue")
    line: int | None = None


class MuteShown(_Shown, frozen=True, kw_only=True):
    """A mute: active until then, or from when on next."""

    number: int
    match: str
    when: str
    reason: str = ""
    include_critical: bool = False
    active_until: datetime | None = None
    next_at: datetime | None = None
    line: int | None = None


class SinkShown(_Shown, frozen=True, kw_only=True):
    """A sink and how its last alerts went; no figures where the backend can't count them."""

    name: str
    type: str
    is_default: bool = False
    is_disabled: bool = False
    figures: SinkFigures | None = None
    line: int | None = None


class OpenAlert(_Shown, frozen=True, kw_only=True):
    """The alerts of a date that has not recovered, and what people did about them."""

    pipeline_id: str
    schedule_id: str
    date: str
    since: datetime
    message: str
    targets: tuple[str, ...]
    state: Phase = Phase.ATTENTION
    severity: Severity = Severity.ERROR
    has_run: bool = True
    acknowledged: Acknowledgement | None = None
    snoozed: Snooze | None = None

    @property
    def key(self) -> AlertKey:
        return AlertKey(self.pipeline_id, self.schedule_id, self.date)


class AlertOverview(_Shown, frozen=True, kw_only=True):
    """`file` is empty for a stored configuration."""

    default: str
    routes: tuple[RouteShown, ...]
    mutes: tuple[MuteShown, ...]
    sinks: tuple[SinkShown, ...]
    open: tuple[OpenAlert, ...]
    file: str = ""


def alert_overview(
    declared: AlertsInForce, stores: AlertStores, pipelines: Sequence[str], now: datetime
) -> AlertOverview:
    alerts, lines = declared.alerts, declared.lines
    return AlertOverview(
        file=declared.file,
        default=str(alerts.default_target),
        routes=tuple(
            _route(number, route, alerts, lines.get(f"routes.{number}"))
            for number, route in enumerate(alerts.routes)
        ),
        mutes=tuple(
            _mute(number, mute, lines.get(f"mutes.{number}"), now)
            for number, mute in enumerate(alerts.mutes)
        ),
        sinks=tuple(_sinks(declared, stores)),
        open=tuple(open_alerts(stores, pipelines, now)),
    )


def open_alerts(stores: AlertStores, pipelines: Sequence[str], now: datetime) -> list[OpenAlert]:
    """One for each date, newest first, however many channels it has."""
    by_date: dict[AlertKey, list[Thread]] = {}
    for thread in stores.threads.open(pipelines, MOST_THREADS):
        by_date.setdefault(thread.key.alert, []).append(thread)
    handled = stores.handlings.of_keys(by_date) if by_date else {}
    return [_open(key, threads, handled.get(key), now) for key, threads in by_date.items()]


def open_alert(key: AlertKey, stores: AlertStores, now: datetime) -> OpenAlert | None:
    """The alerts of a date; None if there are none, or the date has recovered."""
    threads = stores.threads.of_date(key.pipeline, key.schedule, key.date)
    is_open = any(thread.state is not Phase.DONE for thread in threads)
    return _open(key, threads, stores.handlings.find(key), now) if is_open else None


def _open(
    key: AlertKey, threads: Sequence[Thread], handling: Handling | None, now: datetime
) -> OpenAlert:
    latest = max(threads, key=lambda thread: thread.state_at or thread.created_at)
    is_snoozed = handling is not None and handling.is_snoozed(now)
    return OpenAlert(
        pipeline_id=key.pipeline,
        schedule_id=key.schedule,
        date=key.date,
        since=min(thread.created_at for thread in threads),
        message=latest.latest or latest.first,
        targets=tuple(str(thread.target) for thread in threads),
        state=latest.state or Phase.ATTENTION,
        severity=latest.severity or Severity.ERROR,
        has_run=key.run is not None,
        acknowledged=None if handling is None else handling.acknowledged,
        snoozed=handling.snoozed if handling is not None and is_snoozed else None,
    )


def _sinks(declared: AlertsInForce, stores: AlertStores) -> Iterator[SinkShown]:
    alerts, figures = declared.alerts, stores.deliveries.figures()
    for name, config in alerts.sinks.items():
        yield SinkShown(
            name=name,
            type=config.type,
            is_default=alerts.default_target.sink == name,
            is_disabled=stores.switches.is_off(name, alerts.declared(name)),
            figures=None if figures is None else figures.get(name, SinkFigures()),
            line=declared.lines.get(f"sinks.{name}"),
        )


def _route(number: int, route: Route, alerts: Alerts, line: int | None) -> RouteShown:
    steps = tuple(
        StepShown(after=step.after, to=_targets(step.to, alerts)) for step in route.escalate
    )
    return RouteShown(
        number=number + 1,
        match=matching(route.match),
        to=_targets(route.to, alerts),
        escalate=steps,
        goes_on=route.goes_on,
        line=line,
    )


def _targets(targets: Sequence[RouteTarget], alerts: Alerts) -> tuple[str, ...]:
    return tuple(str(alerts.target(to.sink, to.channel)) for to in targets)


def _mute(number: int, mute: Mute, line: int | None, now: datetime) -> MuteShown:
    return MuteShown(
        number=number + 1,
        match=matching(mute.match),
        when=_when(mute),
        reason=mute.reason,
        include_critical=mute.include_critical,
        active_until=window_end(mute, now),
        next_at=next_start(mute, now),
        line=line,
    )


def matching(match: Match) -> str:
    """What it matches, in words."""
    parts = [
        f"severity {match.severity} or higher" if match.severity else "",
        f"pipeline {match.pipeline}" if match.pipeline else "",
        f"event {match.event}" if match.event else "",
        f"owner {match.owner}" if match.owner else "",
        *(f"tag {name} {glob}" for name, glob in match.tags.items()),
    ]
    return ", ".join(part for part in parts if part) or "every alert"


def _when(mute: Mute) -> str:
    weekly = mute.weekly
    if weekly is None:
        return f"{mute.since} to {mute.until}" if mute.since else f"until {mute.until}"
    days = " ".join(day[:3] for day in weekly.days)
    return f"{days} {weekly.since} to {weekly.until} {weekly.timezone}"
