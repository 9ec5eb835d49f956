"""Hold anew: the snooze of a date began or ended, and the alerts that it holds wait for its new end."""

from collections.abc import Sequence
from datetime import timedelta

from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.alerting.deliveries import DeliveryState
from interlock.domain.alerting.handling import Handling
from interlock.domain.alerting.mutes import held_until
from interlock.domain.alerting.threads import alert_key
from interlock.domain.event import Event
from interlock.usecases.alert_ports import AlertPorts
from interlock.usecases.update_thread import events_of_date

#: How soon alerts are released that need not wait any longer.
_AT_ONCE = timedelta(seconds=1)
_MOST = 1000


def hold_anew(event: Event, handling: Handling | None, alerts: Alerts, ports: AlertPorts) -> None:
    """A mute that covers them still holds them."""
    now = ports.clock()
    snooze = None if handling is None else handling.snoozed
    found = ports.deliveries.of_events(_told(event, ports))
    for delivery in (each for told in found.values() for each in told):
        if delivery.state is not DeliveryState.HELD:
            continue
        until = held_until(alerts.mutes, delivery.event, now, snooze) or now + _AT_ONCE
        if until != delivery.due_at and delivery.due_at > now:
            ports.deliveries.save(delivery.held(until))


def _told(event: Event, ports: AlertPorts) -> Sequence[Event]:
    """The events of the alerts that it is about."""
    if event.date is not None:
        return events_of_date(event, ports)
    key = alert_key(event)
    newest = ports.events.newest(pipeline_id=event.pipeline_id, kind=key.schedule, limit=_MOST)
    return [each for each in newest if alert_key(each) == key]
