"""Route an event: decide who gets it, and update the threads of its date.

Alerts to send are stored as deliveries; a repeat finds them and stores none twice.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec

from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.alerting.deliveries import Delivery, DeliveryState, Target
from interlock.domain.alerting.handling import Handling, in_words
from interlock.domain.alerting.mutes import held_until
from interlock.domain.alerting.routes import targets_of
from interlock.domain.alerting.threads import Thread, alert_key
from interlock.domain.event import Event, EventType, Severity
from interlock.errors import TransientError
from interlock.usecases.alert_ports import AlertPorts
from interlock.usecases.escalate_alert import escalate_alert
from interlock.usecases.hold_anew import hold_anew
from interlock.usecases.update_thread import change_thread, open_thread

_TRIES = 8


def route_event(event: Event, alerts: Alerts, ports: AlertPorts) -> list[Delivery]:
    """Its deliveries, as they stand now."""
    threads = _threads(event, ports)
    handling, note = _handled(event, threads, ports)
    targets = targets_of(event, alerts, {thread.key.channel for thread in threads})
    until = _held_until(event, handling, alerts, ports)
    for target in targets:
        _tell(Delivery(event=event, target=target, due_at=ports.clock(), note=note), until, ports)
    escalate_alert(event, handling, alerts, ports)
    for thread in threads:
        _move(event, thread, targets, ports)
    if event.type in (EventType.ALERT_SNOOZED, EventType.ALERT_UNSNOOZED):
        hold_anew(event, handling, alerts, ports)
    return ports.deliveries.of_events([event]).get(event.event_id, [])


def _threads(event: Event, ports: AlertPorts) -> list[Thread]:
    key = alert_key(event)
    return ports.threads.of_date(key.pipeline, key.schedule, key.date)


def _handled(
    event: Event, threads: Collection[Thread], ports: AlertPorts
) -> tuple[Handling | None, str]:
    """What people did about its date, and what readers must know if this event undoes it. Before the first
    alert there is nothing that people could have done.
    """
    if event.severity is Severity.INFO and not threads:
        return None, ""
    for _ in range(_TRIES):
        found = ports.handlings.find(alert_key(event))
        after = None if found is None else found.after(event, ports.clock())
        if found is None or after is None or after is found:
            return found, ""
        if ports.handlings.save(after):
            before = found.acknowledged
            is_undone = before is not None and after.acknowledged is None
            return after, f"new since {before.by} acknowledged it" if before and is_undone else ""
    raise TransientError("too many senders are changing what is known of a date at once")


def _held_until(
    event: Event, handling: Handling | None, alerts: Alerts, ports: AlertPorts
) -> datetime | None:
    snooze = None if handling is None else handling.snoozed
    return held_until(alerts.mutes, event, ports.clock(), snooze)


def _tell(delivery: Delivery, until: datetime | None, ports: AlertPorts) -> None:
    """Queue it, or hold it while a mute or a snooze lasts. An alert that people will get opens its thread at
    once, so that later events belong to it, however soon they follow.
    """
    event, target = delivery.event, delivery.target
    if ports.deliveries.find(event, target) is not None:
        return
    if until is not None:
        delivery = msgspec.structs.replace(delivery, state=DeliveryState.HELD, due_at=until)
    else:
        open_thread(event, target, ports)
    ports.deliveries.save(delivery)


def _move(event: Event, thread: Thread, told: Sequence[Target], ports: AlertPorts) -> None:
    """Every event of a date updates its threads. Without an alert of its own, the first message shows it."""

    def change(found: Thread) -> Thread:
        return found.after(event, in_words(ports.handlings.find(thread.key.alert)))

    moved = change_thread(thread.key, change, ports)
    sink = ports.sinks.get(thread.sink)
    if sink is None or not sink.manner.threaded:
        return
    if moved is not None and moved.is_stale and thread.target not in told:
        delivery = Delivery(event=event, target=thread.target, due_at=ports.clock(), quiet=True)
        ports.deliveries.save(delivery)
