"""Alert sender: sends events to people. It follows the event log and sends the deliveries that are due.

Each sink has its own thread, so a sink that does not respond delays no other.
"""

import logging
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Protocol

from interlock.adapters.sqlite.store import Store
from interlock.domain.alerting.alert_rules import CONSOLE
from interlock.domain.alerting.deliveries import Delivery
from interlock.domain.event import Event
from interlock.errors import InterlockError
from interlock.runtime.alerting import Alerting
from interlock.runtime.commit_cache import CommitCache
from interlock.usecases.release_held import release_held
from interlock.usecases.route_event import route_event
from interlock.usecases.send_alert import send_alerts

log = logging.getLogger(__name__)

CONSUMER = "alerts"
AT_ONCE = 256


class Senders(Protocol):
    """What does the sending: the alert sender itself, or a thread for each sink."""

    def busy(self) -> Sequence[str]:
        """The sinks whose alerts are being sent."""
        ...

    def send(self, sink: str, work: Callable[[], object]) -> None: ...


class OwnSenders:
    """Send one after another, in this thread."""

    def busy(self) -> Sequence[str]:
        return ()

    def send(self, sink: str, work: Callable[[], object]) -> None:
        work()


class SenderThreads:
    """At most one thread per sink. `idle` is called whenever one finishes."""

    def __init__(self, idle: Callable[[], None]) -> None:
        self._idle = idle
        self._pool = ThreadPoolExecutor(16, thread_name_prefix="interlock-sender")
        self._busy: set[str] = set()
        self._stopped = False
        self._sending = threading.Lock()

    def busy(self) -> Sequence[str]:
        return tuple(self._busy)

    def send(self, sink: str, work: Callable[[], object]) -> None:
        with self._sending:
            if self._stopped:
                return
            self._busy.add(sink)
            try:
                self._pool.submit(self._work, sink, work)
            except BaseException:  # no memory, or no thread: a later round sends it
                self._busy.discard(sink)
                raise

    def stop(self) -> None:
        """Start nothing more; a send in progress is repeated after the next start if necessary."""
        with self._sending:
            self._stopped = True
            self._pool.shutdown(wait=False, cancel_futures=True)

    def _work(self, sink: str, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception:
            log.exception("alerts can't be sent", extra={"action": "send_failed", "sink": sink})
        finally:
            self._busy.discard(sink)
            self._idle()


class AlertSender:
    """Reads the event log with its own cursor, so that it skips nothing and blocks nothing."""

    def __init__(
        self, store: Store, alerting: Callable[[], Alerting], senders: Senders | None = None
    ) -> None:
        self._store = store
        self._alerting = alerting
        self._senders = senders or OwnSenders()
        self._agenda = CommitCache(store.agenda.stamp, store.agenda.look)

    def step(self, now: datetime) -> bool:
        """Route new events, release alerts held long enough, send what is due. Whether there was any work."""
        routed = self._route()
        released = self._release(now)
        return self._send(now) or routed or released

    def next_due(self) -> datetime | None:
        look = self._agenda()
        moments = (look.next_alert, look.next_mute_end)
        return min((moment for moment in moments if moment is not None), default=None)

    def _route(self) -> bool:
        if not self._agenda().has_unqueued:
            return False
        told = self._store.events.after(self._store.cursors.at(CONSUMER), AT_ONCE)
        for each in told:
            self._route_one(each.event)
        if told:
            self._store.cursors.move(CONSUMER, told[-1].seq)
        return bool(told)

    def _route_one(self, event: Event) -> None:
        """An event that can't be routed stops no other, and is not lost."""
        alerting = self._alerting()
        try:
            route_event(event, alerting.alerts, alerting.ports)
        except (InterlockError, sqlite3.Error):
            raise  # the store failed: try the same again later
        except Exception:
            log.exception("an event can't be routed", extra={"action": "route_failed"})
            plain = Delivery(event=event, target=CONSOLE, due_at=alerting.ports.clock())
            self._store.deliveries.save(plain)

    def _release(self, now: datetime) -> bool:
        if not _is_due(self._agenda().next_mute_end, now):
            return False
        alerting = self._alerting()
        targets = self._store.deliveries.ended_mutes(now)
        for target in targets:
            release_held(target, alerting.alerts, alerting.ports)
        return bool(targets)

    def _send(self, now: datetime) -> bool:
        if not _is_due(self._agenda().next_alert, now):
            return False
        alerting = self._alerting()
        by_sink: dict[str, list[Delivery]] = {}
        for delivery in self._store.deliveries.due(now, AT_ONCE, self._senders.busy()):
            by_sink.setdefault(delivery.target.sink, []).append(delivery)
        for sink, deliveries in by_sink.items():
            self._senders.send(sink, _work(deliveries, alerting))
        return bool(by_sink)


def _work(deliveries: Sequence[Delivery], alerting: Alerting) -> Callable[[], object]:
    return lambda: send_alerts(deliveries, alerting.alerts, alerting.ports)


def _is_due(moment: datetime | None, now: datetime) -> bool:
    return moment is not None and moment <= now
