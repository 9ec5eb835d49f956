"""Release held alerts: a mute is over; one summary lists what it held, and alerts still open follow."""

from collections.abc import Sequence
from datetime import datetime

from interlock.domain.alerting.alert_rules import Alerts
from interlock.domain.alerting.deliveries import Answer, Delivery, Posted, Target, TryLater
from interlock.domain.alerting.note import SummaryNote
from interlock.domain.alerting.threads import opened
from interlock.domain.event import Event, Phase
from interlock.ports.alerts import Sink
from interlock.usecases.alert_ports import AlertPorts
from interlock.usecases.send_alert import ask
from interlock.usecases.update_thread import events_of_date


def release_held(target: Target, alerts: Alerts, ports: AlertPorts) -> list[Delivery]:
    """The alerts still open, queued again. Empty when no mute of this target has ended."""
    held = ports.deliveries.held(target, ports.clock())
    sink = ports.sinks.get(target.sink)
    if sink is None:
        return _freed(held, ports)  # the sender finds another sink for them
    until = _slot(target, sink, alerts, ports)
    if until is not None:
        return _put_back(held, until, ports)
    mine = _claimed(held, ports)
    if not mine:
        return []
    still_open, recovered = _sorted_out(mine, target, ports)
    note = SummaryNote(
        until=ports.clock(),
        open=tuple(delivery.event for delivery in still_open),
        recovered=tuple(delivery.event for delivery in recovered),
    )
    answer = ask(lambda: sink.post(target.channel, note, None))
    if not isinstance(answer, Posted):
        return _refused(mine, answer, target, ports)
    for delivery in recovered:
        ports.deliveries.save(delivery.sent(ports.clock(), answer.receipt))
    return _freed(still_open, ports)


def _slot(target: Target, sink: Sink, alerts: Alerts, ports: AlertPorts) -> datetime | None:
    now = ports.clock()
    if not sink.manner.paced:
        return None
    slot = ports.paces.take(target.place, now, alerts.limits.every)
    return slot if slot > now else None


def _claimed(held: Sequence[Delivery], ports: AlertPorts) -> list[Delivery]:
    """Claimed for a minute. After a crash they are sent one by one: nothing is lost with a summary."""
    now = ports.clock()
    claimed = [delivery.claimed(now) for delivery in held]
    return [delivery for delivery in claimed if ports.deliveries.save(delivery)]


def _sorted_out(
    held: Sequence[Delivery], target: Target, ports: AlertPorts
) -> tuple[list[Delivery], list[Delivery]]:
    over = {id(each): _is_over(each.event, target, ports) for each in held}
    still_open = [each for each in held if not over[id(each)]]
    return still_open, [each for each in held if over[id(each)]]


def _is_over(event: Event, target: Target, ports: AlertPorts) -> bool:
    """Whether the events of its date show that the problem is over."""
    told = events_of_date(event, ports)
    return opened(event, target, ports.clock(), told).state is Phase.DONE


def _refused(
    mine: Sequence[Delivery], answer: Answer, target: Target, ports: AlertPorts
) -> list[Delivery]:
    """If the sink asked to wait, wait. Otherwise each alert is sent alone, with its own tries."""
    if isinstance(answer, TryLater):
        until = ports.clock() + answer.after
        ports.paces.block(target.place, until)
        return _put_back(mine, until, ports)
    return _freed(mine, ports)


def _put_back(deliveries: Sequence[Delivery], until: datetime, ports: AlertPorts) -> list[Delivery]:
    for delivery in deliveries:
        ports.deliveries.save(delivery.held(until))
    return []


def _freed(deliveries: Sequence[Delivery], ports: AlertPorts) -> list[Delivery]:
    freed = [delivery.freed(ports.clock()) for delivery in deliveries]
    return [delivery for delivery in freed if ports.deliveries.save(delivery)]
