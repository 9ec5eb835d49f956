"""Alert samples: events of every kind, and files that say where they go."""

from datetime import timedelta
from typing import Any

import msgspec

from contracts.samples import KEY, NOW
from interlock.domain.alerting.alert_rules import (
    Alerts,
    Match,
    Mute,
    Route,
    RouteTarget,
)
from interlock.domain.alerting.sink_kinds import (
    ConsoleConfig,
    SinkConfig,
    SlackConfig,
    WebhookConfig,
)
from interlock.domain.event import Event, EventType, Subject, happened
from interlock.domain.run import RunKey

SLACK = SlackConfig("slack", channel="C0MAIN")
HOOK = WebhookConfig("webhook", url="https://ops.example/hook", secret="whsec_eA==")
CONSOLE = ConsoleConfig("console")


def told(
    kind: EventType = EventType.JOB_FAILED,
    after: float = 0,
    key: RunKey | None = KEY,
    message: str = "",
    part: object = 0,
    **changes: Any,
) -> Event:
    """An event of this type, this many seconds after NOW."""
    about = Subject() if key is None else Subject(key.pipeline_id, key.schedule_id, key.date)
    at = NOW + timedelta(seconds=after)
    parts = tuple(part for _ in kind.spec.id)
    event = happened(kind, about, at, message or f"{kind} at {after}", parts=parts)
    return msgspec.structs.replace(event, **changes)


def a_file(*routes: Route, mutes: tuple[Mute, ...] = (), **sinks: SinkConfig) -> Alerts:
    return Alerts(sinks=sinks or {"slack": SLACK}, routes=routes, mutes=mutes)


def a_route(
    sink: str = "slack", channel: str | None = None, goes_on: bool = False, **match: Any
) -> Route:
    return Route(Match(**match), (RouteTarget(sink, channel),), goes_on)
