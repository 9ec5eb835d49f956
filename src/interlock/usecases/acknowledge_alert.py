"""Acknowledge an alert: record who looks after the alerts of a date, so that they no longer escalate."""

from datetime import datetime

from interlock.domain.alerting.handling import Acknowledgement, Handling
from interlock.domain.event import Event, EventType
from interlock.ports.alerts import AlertStores
from interlock.usecases.change_handling import (
    AlertOrder,
    change_handling,
    handling_event,
    known_alerts,
)
from interlock.usecases.ports import Ports


def acknowledge_alert(order: AlertOrder, ports: Ports, alerts: AlertStores) -> Handling:
    """The last acknowledgement stands. A repeat by the same person for the same reason changes nothing."""
    known = known_alerts(order.key, ports, alerts)

    def decide(found: Handling, now: datetime) -> Handling:
        before = found.acknowledged
        if before is not None and (before.by, before.reason) == (order.by, order.reason):
            return found
        return found.acknowledge(
            Acknowledgement(
                by=order.by,
                reason=order.reason,
                at=now,
                severity=known.severity,
                attempt=known.attempt,
            )
        )

    def announce(handling: Handling) -> Event:
        message = f"acknowledged by {order.by}: {order.reason}"
        return handling_event(EventType.ALERT_ACKNOWLEDGED, order, handling, message, ports)

    return change_handling(order.key, decide, announce, ports, alerts)
