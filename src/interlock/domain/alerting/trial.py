"""Trial: a test message, where it goes, and what came of it."""

from datetime import datetime

from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.alerting.deliveries import Answer, Posted, Target
from interlock.domain.alerting.note import TrialNote
from interlock.errors import ConfigError


def trial_note(route: str, now: datetime) -> TrialNote:
    return TrialNote(f"test alert through {route}: nothing is wrong", now)


def trial_targets(alerts: Alerts, route: str) -> list[Target]:
    """By the number of a route, the name of a sink, SINK:CHANNEL, or `default`.

    Raises ConfigError that lists the available routes.
    """
    if route == "default":
        return [alerts.default_target]
    if route.isascii() and route.isdigit() and 1 <= int(route) <= len(alerts.routes):
        return [alerts.target(to.sink, to.channel) for to in alerts.routes[int(route) - 1].to]
    sink, _, channel = route.partition(":")
    if sink not in alerts.sinks or (not channel and sink not in alerts.usable):
        ways = [*map(str, range(1, len(alerts.routes) + 1)), *alerts.usable, "default"]
        raise ConfigError(f"unknown route {route}; available: {', '.join(ways)}")
    return [alerts.target(sink, channel or None)]


def said(answer: Answer) -> str | None:
    """What went wrong; None if it was sent."""
    if isinstance(answer, Posted):
        return None
    return str(
        getattr(answer, "error", "the channel accepts no messages at the moment; try again later")
    )
