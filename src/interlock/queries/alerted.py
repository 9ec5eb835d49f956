"""Alerted: events, each with the sinks that got it as an alert, for people."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from interlock.domain.alerting.deliveries import Delivery, DeliveryState
from interlock.domain.event import Event
from interlock.ports.alerts import Deliveries


class AlertOutcome(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One sink and the state of the alert there; `at` is when that was, or when the next look is due."""

    sink: str
    channel: str
    state: DeliveryState
    at: datetime
    tries: int = 0
    error: str | None = None


class Alerted(msgspec.Struct, frozen=True, rename="camel"):
    """An event and where it was sent."""

    event: Event
    alerts: tuple[AlertOutcome, ...] = ()


def alerted(events: Sequence[Event], deliveries: Deliveries) -> list[Alerted]:
    """Leaves out deliveries that only changed the first message of a thread: they sent no message."""
    found = deliveries.of_events(events)
    return [
        Alerted(
            event, tuple(_told(each) for each in found.get(event.event_id, ()) if not each.quiet)
        )
        for event in events
    ]


def _told(delivery: Delivery) -> AlertOutcome:
    target = delivery.target
    return AlertOutcome(
        target.sink,
        target.channel,
        delivery.state,
        delivery.due_at,
        delivery.tries,
        delivery.error,
    )
