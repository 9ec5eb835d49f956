"""Route an event: decide who gets it, and update the threads of its date.

Alerts to send are stored as deliveries; a repeat finds them and stores none twice.
"""

from collections.abc import Sequence

import msgspec

from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.alerting.deliveries import Delivery, DeliveryState, Target
from interlock.domain.alerting.mutes import muted_until
from interlock.domain.alerting.routes import targets_of
from interlock.domain.alerting.threads import Thread, opened, thread_key
from interlock.domain.event import Event
from interlock.usecases.alert_ports import AlertPorts
from interlock.usecases.update_thread import change_thread, events_of_date


def route_event(event: Event, alerts: Alerts, ports: AlertPorts) -> list[Delivery]:
    """Its deliveries, as they stand now."""
    threads = _threads(event, ports)
    targets = targets_of(event, alerts, {thread.key.channel for thread in threads})
    for target in targets:
        _tell(event, target, alerts, ports)
    for thread in threads:
        _move(event, thread, targets, ports)
    return ports.deliveries.of_events([event]).get(event.event_id, [])


def _threads(event: Event, ports: AlertPorts) -> list[Thread]:
    key = thread_key(event, "")
    return ports.threads.of_date(key.pipeline, key.schedule, key.date)


def _tell(event: Event, target: Target, alerts: Alerts, ports: AlertPorts) -> None:
    """Queue it, or hold it while a mute lasts. An alert that people will get opens its thread at once, so
    that later events belong to it, however soon they follow.
    """
    if ports.deliveries.find(event, target) is not None:
        return
    now = ports.clock()
    delivery = Delivery(event=event, target=target, due_at=now)
    until = muted_until(alerts.mutes, event, now)
    if until is not None:
        delivery = msgspec.structs.replace(delivery, state=DeliveryState.HELD, due_at=until)
    else:
        open_thread(event, target, ports)
    ports.deliveries.save(delivery)


def open_thread(event: Event, target: Target, ports: AlertPorts) -> Thread:
    """The thread of its date, opened if there is none."""
    key = thread_key(event, target.place)
    found = ports.threads.find(key)
    if found is not None:
        return found
    told: Sequence[Event] = events_of_date(event, ports)
    thread = opened(event, target, ports.clock(), told)
    if ports.threads.save(thread):
        return thread
    return ports.threads.find(key) or thread  # another process got there first


def _move(event: Event, thread: Thread, told: Sequence[Target], ports: AlertPorts) -> None:
    """Every event of a date updates its threads. Without an alert of its own, the first message shows it."""
    sink = ports.sinks.get(thread.sink)
    if sink is None or not sink.manner.threaded:
        return
    moved = change_thread(thread.key, lambda found: found.moved(event), ports)
    if moved is not None and moved.is_stale and thread.target not in told:
        delivery = Delivery(event=event, target=thread.target, due_at=ports.clock(), quiet=True)
        ports.deliveries.save(delivery)
