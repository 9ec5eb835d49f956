"""Dispatcher: brings events to people, once each, in one thread per pipeline, schedule and date."""

import logging
from datetime import datetime, timedelta

from interlock.adapters.local.store import Store
from interlock.domain.delivery import Delivery, DeliveryState, Posted, Target
from interlock.domain.event import CATALOGUE, Alert, Event, EventType, clean, happened, subject
from interlock.domain.note import AlertNote
from interlock.domain.thread import opened, thread_key
from interlock.ports import Ports, Sink
from interlock.usecases.claim_event import claim_event
from interlock.wiring.unchanged import Unchanged

log = logging.getLogger(__name__)

CONSUMER = "alerts"
AT_ONCE = 256
THREAD_WAIT = timedelta(seconds=3)
DELAYS = tuple(timedelta(seconds=s) for s in (5, 30, 120, 600, 1800, 3600))
_TARGET = Target("console")


class Dispatcher:
    """Reads the event log behind a cursor of its own, so that nothing is skipped and nothing waits."""

    def __init__(self, store: Store, ports: Ports, sink: Sink) -> None:
        self._store, self._ports, self._sink = store, ports, sink
        self._agenda = Unchanged(store.agenda.stamp, store.agenda.look)

    def step(self, now: datetime) -> bool:
        """Queue what is new and send what is due. Whether there was anything."""
        queued = self._queue(now)
        due = self._agenda().next_alert
        if due is None or due > now:
            return queued
        alerts = self._store.deliveries.due(now, AT_ONCE)
        for alert in alerts:
            claimed = alert.claimed(now)
            if self._store.deliveries.save(claimed):
                self._send(claimed, now)
        return queued or bool(alerts)

    def next_due(self) -> datetime | None:
        return self._agenda().next_alert

    def _queue(self, now: datetime) -> bool:
        if not self._agenda().has_unqueued:
            return False
        told = self._store.events.after(self._store.cursors.at(CONSUMER), AT_ONCE)
        for each in told:
            if self._is_wanted(each.event):
                self._store.deliveries.save(Delivery(event=each.event, target=_TARGET, due_at=now))
        if told:
            self._store.cursors.move(CONSUMER, told[-1].seq)
        return bool(told)

    def _is_wanted(self, event: Event) -> bool:
        alert = CATALOGUE[event.type].alert
        if alert is Alert.YES:
            return True
        key = thread_key(event, _TARGET.channel)
        return alert is Alert.THREAD and self._store.threads.find(key) is not None

    def _send(self, alert: Delivery, now: datetime) -> None:
        threads, key = self._store.threads, thread_key(alert.event, _TARGET.channel)
        thread = threads.find(key)
        if thread is None:
            thread = opened(alert.event, _TARGET.channel, now)
            threads.save(thread)
        root = thread.thread_ts
        if root is None:
            claimed = thread.claimed(alert.event.event_id, now)
            if claimed is None or not threads.save(claimed):
                self._store.deliveries.save(alert.postponed(now + THREAD_WAIT))
                return
            thread = claimed
        try:
            answer = self._sink.post(_TARGET.channel, AlertNote(alert.event), root)
        except Exception as error:  # noqa: BLE001 - whatever a sink raises, the alert comes back later
            self._failed(alert, clean(str(error)), now)
            return
        if not isinstance(answer, Posted):
            self._failed(alert, str(answer), now)
            return
        if root is None:
            threads.save(thread.rooted(answer.receipt))
        self._store.deliveries.save(alert.sent(now, answer.receipt))

    def _failed(self, alert: Delivery, error: str, now: datetime) -> None:
        log.warning("alert failed", extra={"action": "alert_failed", "event": alert.event.event_id})
        failed = alert.failed(error, now, DELAYS)
        self._store.deliveries.save(failed)
        if failed.state is DeliveryState.GIVEN_UP:
            self._tell_given_up(failed)

    def _tell_given_up(self, alert: Delivery) -> None:
        config = self._ports.pipelines.find(alert.event.pipeline_id or "")
        event = happened(
            EventType.ALERT_UNDELIVERED,
            subject(config.pipeline if config else None),
            alert.due_at,
            f"{alert.target} gave up on an alert: {alert.error}",
            parts=(alert.target.sink, alert.event.event_id),
            sink=alert.target.sink,
            channel=alert.target.channel,
            error=alert.error,
            tries=alert.tries,
        )
        claim_event(event, self._ports)
        self._store.deliveries.save(alert.dead(alert.due_at))
