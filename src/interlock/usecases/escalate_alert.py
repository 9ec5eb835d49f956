"""Escalate an alert: store for whom it is next if people neither acknowledge it nor the date recovers.

The date's row says which alert escalates to a target before the delivery is stored, so a repeat after a
crash stores the delivery that is missing, and only the first alert of a date escalates.
"""

from interlock.domain import duration
from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.alerting.deliveries import Delivery, DeliveryState, Target
from interlock.domain.alerting.handling import Escalation, Handling, unhandled
from interlock.domain.alerting.mutes import held_until
from interlock.domain.alerting.routes import escalations_of
from interlock.domain.alerting.threads import alert_key, phase_now
from interlock.domain.event import Event, Phase
from interlock.errors import TransientError
from interlock.usecases.alert_ports import AlertPorts
from interlock.usecases.update_thread import events_of_date

_TRIES = 8


def escalate_alert(
    event: Event, handling: Handling | None, alerts: Alerts, ports: AlertPorts
) -> None:
    """The time counts from when people hear of it: from the end of a mute or a snooze that holds it."""
    steps = escalations_of(event, alerts)
    if not steps or (handling is not None and handling.acknowledged is not None):
        return
    now = ports.clock()
    snooze = None if handling is None else handling.snoozed
    heard = held_until(alerts.mutes, event, now, snooze) or now
    for target, after in steps.items():
        if ports.deliveries.find(event, target) is not None:
            continue
        due = heard + duration.parse(after)
        stands = _registered(event, target, Escalation(event.event_id, due), ports)
        if stands is not None and stands.event_id == event.event_id:
            ports.deliveries.save(
                Delivery(
                    event=event,
                    target=target,
                    due_at=stands.due_at,
                    state=DeliveryState.WAITING,
                    note=f"unacknowledged for {after}",
                    escalates=after,
                )
            )


def _registered(
    event: Event, target: Target, escalation: Escalation, ports: AlertPorts
) -> Escalation | None:
    """The escalation to that target that stands."""
    key, now = alert_key(event), ports.clock()
    for _ in range(_TRIES):
        found = ports.handlings.find(key) or unhandled(key, now)
        changed = found.escalating(str(target), escalation, now)
        if changed is found or ports.handlings.save(changed):
            return changed.escalations.get(str(target))
    raise TransientError("too many senders are changing what is known of a date at once")


def objection_to_escalate(delivery: Delivery, ports: AlertPorts) -> str | None:
    """Why it is not needed any more. Without a row of its date it is sent: better twice than never."""
    event = delivery.event
    handling = ports.handlings.find(alert_key(event))
    if handling is not None and handling.acknowledged is not None:
        return f"acknowledged by {handling.acknowledged.by}"
    if phase_now(events_of_date(event, ports)) is Phase.DONE:
        return "the date has recovered"
    stands = None if handling is None else handling.escalations.get(str(delivery.target))
    if handling is not None and (stands is None or stands.event_id != event.event_id):
        return "another alert of the date escalates"
    return None
