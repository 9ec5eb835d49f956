"""Alerts file: `alerts.yaml` from its text, and the checks between its parts."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import msgspec

from interlock.domain import duration, timestamp
from interlock.domain.alerting.alert_rules import (
    CONSOLE,
    Alerts,
    EscalationStep,
    Mute,
    Route,
    RouteTarget,
)
from interlock.domain.alerting.mutes import is_endless
from interlock.domain.alerting.sink_kinds import SinkConfig
from interlock.files.json_nodes import node_of
from interlock.files.loaded import in_order, read_whole, unreadable
from interlock.files.nodes import List, Map, Node, Unreadable
from interlock.files.problem import Problem, ProblemKind, quoted
from interlock.files.problem_collector import At, Check, ProblemCollector, known

SOONEST_STEP = timedelta(minutes=1)
LATEST_STEP = timedelta(days=7)

ReadAlerts = tuple[Alerts | None, tuple[Problem, ...]]


def load_alerts(text: str | bytes, file: str = "") -> ReadAlerts:
    """Read the file; None when it has errors."""
    from interlock.files.yaml_nodes import parse

    try:
        return _read(parse(text), file)
    except Unreadable as error:
        return None, (unreadable(error, file),)


def alert_lines(text: str | bytes) -> dict[str, int]:
    """The line of each sink, route and mute, by its place: `sinks.slack`, `routes.0`, `mutes.1`."""
    from interlock.files.yaml_nodes import parse

    root = parse(text)
    found: dict[str, int] = {}
    parts = root.items if isinstance(root, Map) else {}
    for part in ("sinks", "routes", "mutes"):
        node = parts.get(part)
        if isinstance(node, Map):
            found |= {f"{part}.{name}": key.line for name, key in node.keys.items()}
        elif isinstance(node, List):
            found |= {f"{part}.{number}": item.line for number, item in enumerate(node.items)}
    return found


def read_alerts(value: Any) -> ReadAlerts:
    """Read what a store holds, decoded from JSON, with the checks of the file."""
    try:
        return _read(node_of(value), "")
    except Unreadable as error:
        return None, (unreadable(error),)


def _read(node: Node, file: str) -> ReadAlerts:
    reading = ProblemCollector(file, CHECKS)
    alerts = read_whole(Alerts, node, reading)
    sound = alerts if reading.is_sound else None
    return None if sound is None else _with_default(sound), in_order(reading.problems)


def _with_default(alerts: Alerts) -> Alerts:
    """Records the first sink as the default: later on, maps have no order."""
    first = next(iter(alerts.usable), None)
    return msgspec.structs.replace(alerts, default=alerts.default or first)


def check_mute(mute: Mute, at: At) -> None:
    """A mute is weekly or happens once, and it must end."""
    if mute.weekly is None and mute.until is None:
        at.error("until", ProblemKind.MISSING, "a mute needs an end: until, or weekly")
    elif mute.weekly is not None and (mute.since, mute.until) != (None, None):
        at.error("weekly", ProblemKind.CONFLICT, "a mute is weekly or has from and until, not both")
    elif mute.weekly is not None and _is_whole(mute) and is_endless(mute.weekly):
        at.error(
            "weekly",
            ProblemKind.OUT_OF_RANGE,
            "the mute never ends: leave at least an hour of the week free",
        )
    elif mute.since is not None and mute.until is not None and known(mute.since, mute.until):
        since, until = timestamp.instant(mute.since), timestamp.instant(mute.until)
        if since is not None and until is not None and until <= since:
            at.error("until", ProblemKind.OUT_OF_RANGE, "must be after from")


def _is_whole(mute: Mute) -> bool:
    weekly = mute.weekly
    assert weekly is not None
    if not known(weekly) or not known(weekly.days):
        return False
    return known(*weekly.days, weekly.since, weekly.until, weekly.timezone)


def check_step(step: EscalationStep, at: At) -> None:
    """An escalation comes after the alert, and while people still want it."""
    if known(step.after) and not SOONEST_STEP <= duration.parse(step.after) <= LATEST_STEP:
        at.error("after", ProblemKind.OUT_OF_RANGE, "must be from 1m to 7d")


def check_route(route: Route, at: At) -> None:
    """Each step comes later than the one before, and leads to people who don't have the alert yet."""
    if not known(route.to) or not known(route.escalate):
        return
    before, reached = timedelta(), {to for to in route.to if known(to)}
    for number, step in enumerate(route.escalate):
        if not known(step) or not known(step.after) or not known(step.to):
            continue
        here, after = at.inner("escalate", number), duration.parse(step.after)
        if after <= before:
            here.error(
                "after", ProblemKind.OUT_OF_RANGE, "must be longer than that of the step before"
            )
        for position, to in enumerate(step.to):
            if known(to) and to in reached:
                message = "the route leads there already: escalate to another sink or channel"
                here.inner("to", position).error("sink", ProblemKind.CONFLICT, message)
        before, reached = after, reached | {to for to in step.to if known(to)}


def check_alerts(alerts: Alerts, at: At) -> None:
    """Every route must lead to an existing sink, and to a channel of it."""
    sinks = alerts.sinks if known(alerts.sinks) else None
    if sinks is None:
        return
    console = sinks.get(CONSOLE.sink)
    if console is not None and known(console) and console.type != CONSOLE.sink:
        message = "this name is reserved for the console, which takes alerts without a route"
        at.inner("sinks").error(CONSOLE.sink, ProblemKind.CONFLICT, message)
    if alerts.default is not None and known(alerts.default):
        _check_lead(sinks, alerts.default, None, at, "default")
    for place, sink, channel in _leads(alerts):
        _check_lead(sinks, sink, channel, at.inner(*place))


def _leads(alerts: Alerts) -> Iterator[tuple[tuple[str | int, ...], str, str | None]]:
    """The position of each target of each route, and where it leads."""
    for number, route in enumerate(alerts.routes if known(alerts.routes) else ()):
        if not known(route) or not known(route.to):
            continue
        yield from _leads_to(route.to, ("routes", number))
        for step, each in enumerate(route.escalate if known(route.escalate) else ()):
            if known(each) and known(each.to):
                yield from _leads_to(each.to, ("routes", number, "escalate", step))


def _leads_to(
    targets: tuple[RouteTarget, ...], place: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], str, str | None]]:
    for position, to in enumerate(targets):
        if known(to) and known(to.sink, to.channel):
            yield (*place, "to", position), to.sink, to.channel


def _check_lead(
    sinks: dict[str, SinkConfig], sink: str, channel: str | None, at: At, key: str = "sink"
) -> None:
    config = sinks.get(sink)
    if config is None:
        names = ", ".join(sinks) or "none"
        at.error(key, ProblemKind.BAD_VALUE, f"unknown sink {quoted(sink)}; known sinks: {names}")
    elif not known(config):
        return
    elif not config.kind.has_channels:
        if channel is not None:
            at.error(
                "channel", ProblemKind.CONFLICT, f"a sink of type {config.type} has no channels"
            )
    elif channel is None and config.channel is None:
        missing = "channel" if key == "sink" else key
        at.error(
            missing, ProblemKind.MISSING, f"neither the route nor the sink {sink} names a channel"
        )


CHECKS: dict[type, Check] = {
    Mute: check_mute,
    EscalationStep: check_step,
    Route: check_route,
    Alerts: check_alerts,
}
