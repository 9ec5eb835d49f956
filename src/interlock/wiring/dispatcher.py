"""Dispatcher: brings events to people, once each, in one thread per pipeline, schedule and date."""

import logging
from datetime import datetime, timedelta

import msgspec

from interlock.adapters.local.alerts import QueuedAlert
from interlock.adapters.local.store import Store
from interlock.adapters.local.threads import Thread, ThreadKey
from interlock.domain.event import CATALOGUE, Alert, Event, EventType, clean, happened, subject
from interlock.ports import Ports, Sink
from interlock.usecases.claim_event import claim_event
from interlock.wiring.unchanged import Unchanged

log = logging.getLogger(__name__)

CONSUMER = "alerts"
AT_ONCE = 256
CLAIM = timedelta(seconds=60)
ROOT_CLAIM = timedelta(seconds=30)
THREAD_WAIT = timedelta(seconds=3)
DELAYS = tuple(timedelta(seconds=s) for s in (5, 30, 120, 600, 1800, 3600))
_NAME = "console"
_CHANNEL = "-"


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
        alerts = self._store.alerts.claim(now, CLAIM, AT_ONCE)
        for alert in alerts:
            self._send(alert, now)
        return queued or bool(alerts)

    def next_due(self) -> datetime | None:
        return self._agenda().next_alert

    def _queue(self, now: datetime) -> bool:
        if not self._agenda().has_unqueued:
            return False
        told = self._store.events.after(self._store.cursors.at(CONSUMER), AT_ONCE)
        for each in told:
            if self._is_wanted(each.event):
                self._store.alerts.enqueue(_NAME, _CHANNEL, each.event, now)
        if told:
            self._store.cursors.move(CONSUMER, told[-1].seq)
        return bool(told)

    def _is_wanted(self, event: Event) -> bool:
        alert = CATALOGUE[event.type].alert
        if alert is Alert.YES:
            return True
        return alert is Alert.THREAD and self._store.threads.find(thread_key(event)) is not None

    def _send(self, alert: QueuedAlert, now: datetime) -> None:
        key = thread_key(alert.event)
        thread = self._store.threads.find(key)
        root = None if thread is None else thread.thread_ts
        if root is None and not self._store.threads.claim(key, _NAME, now, now + ROOT_CLAIM):
            self._store.alerts.postponed(alert, now + THREAD_WAIT)
            return
        try:
            receipt = self._sink.send(alert.event, root)
        except Exception as error:  # noqa: BLE001 - whatever a sink raises, the alert comes back later
            self._failed(alert, error, now)
            return
        if root is None:
            claimed = self._store.threads.find(key)
            if claimed is not None:
                self._store.threads.save(_rooted(claimed, receipt))
        self._store.alerts.sent(alert, now, receipt)

    def _failed(self, alert: QueuedAlert, error: Exception, now: datetime) -> None:
        log.warning("alert failed", extra={"action": "alert_failed", "event": alert.event.event_id})
        message = clean(str(error))
        if alert.tries < len(DELAYS):
            self._store.alerts.failed(alert, message, now + DELAYS[alert.tries])
            return
        self._store.alerts.dead(alert, message, now)
        config = self._ports.pipelines.find(alert.event.pipeline_id or "")
        event = happened(
            EventType.ALERT_UNDELIVERED,
            subject(config.pipeline if config else None),
            now,
            f"{_NAME} gave up on an alert: {message}",
            parts=(_NAME, alert.event.event_id),
            sink=_NAME,
            channel=_CHANNEL,
            error=message,
            tries=alert.tries + 1,
        )
        claim_event(event, self._ports)


def thread_key(event: Event) -> ThreadKey:
    """One conversation per pipeline, schedule and date; without a date, per type and day."""
    day = event.date or f"{event.timestamp:%Y-%m-%d}"
    schedule = event.schedule_id or event.type
    return ThreadKey(event.pipeline_id or "_system", schedule, day, _CHANNEL)


def _rooted(thread: Thread, receipt: str) -> Thread:
    return msgspec.structs.replace(thread, thread_ts=receipt, version=thread.version + 1)
