"""Alert dispatcher: handles messages of the alert queue. Each holds an event that a rule forwarded, or
reports that a mute has ended. A message whose alert has not arrived yet comes back when it is due.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from interlock.adapters.aws.event_items import event_from_envelope
from interlock.adapters.unreadable_rows import DAMAGED
from interlock.domain import canonical
from interlock.domain.alerting.deliveries import Delivery, DeliveryState, Target
from interlock.domain.event import Event
from interlock.errors import InterlockError
from interlock.lambdas.invocation import begin, home_of
from interlock.usecases.release_held import release_held
from interlock.usecases.route_event import route_event
from interlock.usecases.send_alert import send_alerts
from interlock.wiring.aws_alerts import AwsAlerting
from interlock.wiring.aws_settings import Function

log = logging.getLogger(__name__)

#: A timer is never set earlier than its time, nor less than a minute ahead.
_JUST_FIRED = timedelta(seconds=30)

_backend = home_of(Function.ALERT_DISPATCHER)

Message = dict[str, Any]


@cache
def _alerting() -> AwsAlerting:
    return AwsAlerting(_backend())


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    begin(_backend(), context)
    return handle(event["Records"], _alerting())


def handle(messages: Sequence[Message], alerting: AwsAlerting) -> dict[str, Any]:
    """Route all messages of a batch first: many alerts for one channel become one digest."""
    alerting.refresh()
    batch = _Batch(alerting)
    for message in messages:
        try:
            batch.take(message)
        except Exception:
            log.exception("message failed", extra={"action": "message_failed"})
            batch.failed.append(message)
    batch.send()
    try:
        alerting.report_unreadable()
    except Exception:
        log.exception("report failed", extra={"action": "report_failed"})
    return {"batchItemFailures": [{"itemIdentifier": m["messageId"]} for m in batch.failed]}


class _Batch:
    """The messages of this invocation, and what each is about."""

    def __init__(self, alerting: AwsAlerting) -> None:
        self._alerting = alerting
        self._events: list[tuple[Message, Event]] = []
        self._releases: list[tuple[Message, Target]] = []
        self._deliveries: list[Delivery] = []
        self.failed: list[Message] = []

    def take(self, message: Message) -> None:
        alerting = self._alerting
        read = _read(message)
        if read is None:
            alerting.queue.give_up(message)
        elif isinstance(read, Target):
            release_held(read, alerting.alerts, alerting.ports)
            self._releases.append((message, read))
            self._deliveries += alerting.deliveries.freed(read, alerting.ports.clock())
        else:
            self._deliveries += route_event(read, alerting.alerts, alerting.ports)
            self._events.append((message, read))

    def send(self) -> None:
        alerting = self._alerting
        try:
            send_alerts(self._deliveries, alerting.alerts, alerting.ports)
        except Exception:
            log.exception("alerts can't be sent", extra={"action": "send_failed"})
        now = alerting.ports.clock()
        known = alerting.deliveries.of_events([event for _, event in self._events])
        for message, event in self._events:
            self._conclude_or_fail(message, known.get(event.event_id, []), now)
        for message, target in self._releases:
            self._conclude_or_fail(message, alerting.deliveries.freed(target, now), now)

    def _conclude_or_fail(
        self, message: Message, deliveries: Sequence[Delivery], now: datetime
    ) -> None:
        """If the queue does not answer for one message, the others are still handled."""
        try:
            self._conclude(message, deliveries, now)
        except InterlockError:
            log.exception("the queue can't be asked", extra={"action": "queue_failed"})
            if message not in self.failed:
                self.failed.append(message)

    def _conclude(self, message: Message, deliveries: Sequence[Delivery], now: datetime) -> None:
        """A message is done when none of its deliveries are pending. A held alert and an escalation have
        their own timers.
        """
        if any(delivery.state is DeliveryState.DEAD for delivery in deliveries):
            self._alerting.queue.give_up(message)
        under_way = [
            delivery.due_at
            for delivery in deliveries
            if not delivery.is_settled and not _has_timer(delivery, now)
        ]
        if under_way:
            self.failed.append(message)
            self._alerting.queue.come_again(message, min(under_way) - now)


def _has_timer(delivery: Delivery, now: datetime) -> bool:
    """Whether another message brings it back. The timer of an escalation may just have fired, early by the
    difference of two clocks.
    """
    if delivery.state is DeliveryState.WAITING:
        return delivery.due_at > now + _JUST_FIRED
    return delivery.state is DeliveryState.HELD


def _read(message: Message) -> Event | Target | None:
    """None for what is neither an event nor the end of a mute."""
    try:
        told = canonical.decode(message["body"])
        if "release" in told:
            return Target(told["release"]["sink"], told["release"]["channel"])
        return event_from_envelope(told)
    except DAMAGED as error:
        extra = {"action": "message_unreadable", "error": type(error).__name__}
        log.error("unreadable message", extra=extra)
        return None
