"""Snooze an alert: hold further alerts of a date until an instant, or no longer."""

from datetime import datetime, timedelta

from interlock.domain import duration
from interlock.domain.alerting.handling import LONGEST_SNOOZE, Handling, Snooze
from interlock.domain.event import Event, EventType
from interlock.domain.timestamp import spell
from interlock.errors import ConfigError, ConflictError
from interlock.ports.alerts import AlertStores
from interlock.usecases.change_handling import (
    AlertOrder,
    change_handling,
    handling_event,
    known_alerts,
)
from interlock.usecases.ports import Ports


def snooze_alert(
    order: AlertOrder,
    span: timedelta,
    ports: Ports,
    alerts: AlertStores,
    *,
    include_critical: bool = False,
) -> Handling:
    """The last snooze stands, counted from now."""
    if not timedelta() < span <= LONGEST_SNOOZE:
        longest = duration.for_people(LONGEST_SNOOZE)
        raise ConfigError(f"snooze for up to {longest}; for longer, add a mute to alerts.yaml")
    known_alerts(order.key, ports, alerts)

    def decide(found: Handling, now: datetime) -> Handling:
        return found.snooze(
            Snooze(
                by=order.by,
                reason=order.reason,
                at=now,
                until=now + span,
                include_critical=include_critical,
            )
        )

    def announce(handling: Handling) -> Event:
        assert handling.snoozed is not None
        until = handling.snoozed.until
        message = f"snoozed by {order.by} until {until:%Y-%m-%d %H:%M} UTC: {order.reason}"
        return handling_event(
            EventType.ALERT_SNOOZED,
            order,
            handling,
            message,
            ports,
            until=spell(until),
            includeCritical=include_critical or None,
        )

    return change_handling(order.key, decide, announce, ports, alerts)


def unsnooze_alert(order: AlertOrder, ports: Ports, alerts: AlertStores) -> Handling:
    """What the snooze held is sent now. Raises ConflictError if nothing is snoozed."""

    def decide(found: Handling, now: datetime) -> Handling:
        if not found.is_snoozed(now):
            raise ConflictError(f"{order.key.pipeline} {order.key.date} is not snoozed")
        return found.unsnooze(now)

    def announce(handling: Handling) -> Event:
        message = f"snooze ended by {order.by}: {order.reason}"
        return handling_event(EventType.ALERT_UNSNOOZED, order, handling, message, ports)

    return change_handling(order.key, decide, announce, ports, alerts)
