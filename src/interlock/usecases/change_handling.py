"""Change a handling: decide from what is stored, write conditionally, and decide again after a lost race."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from interlock.domain.alerting.handling import Handling, known_so_far, unhandled
from interlock.domain.alerting.threads import SYSTEM, AlertKey, Thread, phase_now
from interlock.domain.event import Event, EventType, Phase, Severity, Subject, happened, subject
from interlock.domain.run import RunKey
from interlock.errors import ConflictError, NotFoundError, TransientError
from interlock.ports.alerts import AlertStores
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox
from interlock.usecases.save_run import LOST_RACE

_TRIES = 8


class AlertOrder(msgspec.Struct, frozen=True):
    """Which alerts a person looks after, who asks for it, and why."""

    key: AlertKey
    by: str
    reason: str


class KnownAlerts(msgspec.Struct, frozen=True):
    """What was told of a date so far."""

    severity: Severity
    attempt: int | None = None


def change_handling(
    key: AlertKey,
    decide: Callable[[Handling, datetime], Handling],
    announce: Callable[[Handling], Event],
    ports: Ports,
    alerts: AlertStores,
) -> Handling:
    """Return it as it stands afterwards. `decide` returns its argument if it says so already; a repeat
    publishes what the first may have stored and not published.
    """
    for _ in range(_TRIES):
        now = ports.clock()
        found = alerts.handlings.find(key) or unhandled(key, now)
        changed = decide(found, now)
        event = announce(changed)
        if changed is found or alerts.handlings.save(changed, event):
            publish_outbox(event.event_id, ports)
            return changed
    raise TransientError(f"{key}: {LOST_RACE}, {_TRIES} times in a row")


def known_alerts(key: AlertKey, ports: Ports, alerts: AlertStores) -> KnownAlerts:
    """Raises NotFoundError if there is no alert, ConflictError if its date has recovered."""
    threads = alerts.threads.of_date(key.pipeline, key.schedule, key.date)
    told = [] if key.run is None else ports.events.of_run(key.run)
    severity, attempt = known_so_far(told)
    if not threads and severity in (None, Severity.INFO):
        raise NotFoundError(f"{_name(key)} has no alert; to hold alerts to come, use a mute")
    if _phase(told, threads) is Phase.DONE:
        raise ConflictError(f"{_name(key)} has recovered: there is nothing to look after")
    return KnownAlerts(severity or _severest(threads), attempt)


#: The events that tell what a person did about alerts.
HANDLED = (EventType.ALERT_ACKNOWLEDGED, EventType.ALERT_SNOOZED, EventType.ALERT_UNSNOOZED)


def handling_event(
    kind: EventType,
    order: AlertOrder,
    handling: Handling,
    message: str,
    ports: Ports,
    **detail: object,
) -> Event:
    """It is about the date, or else says which alerts it is about."""
    assert kind in HANDLED
    key, at = order.key, handling.changed_at
    config = None if key.pipeline == SYSTEM else ports.pipelines.find(key.pipeline)
    pipeline = None if config is None else config.pipeline
    if key.run is None:
        about = _without_date(key, subject(pipeline))
        detail["alerts"] = f"{key.schedule} {key.date}"
    else:
        about = subject(pipeline, key.run)
    facts: dict[str, Any] = {"reason": order.reason, "requestedBy": order.by, **detail}
    parts = (handling.version, at.isoformat())
    return happened(kind, about, at, message, parts=parts, **facts)


def _without_date(key: AlertKey, about: Subject) -> Subject:
    pipeline_id = None if key.pipeline == SYSTEM else key.pipeline
    return msgspec.structs.replace(about, pipeline_id=pipeline_id)


def _phase(told: list[Event], threads: list[Thread]) -> Phase | None:
    if told:
        return phase_now(told)
    return next((thread.state for thread in threads), None)


def _severest(threads: list[Thread]) -> Severity:
    found = [thread.severity for thread in threads if thread.severity is not None]
    return max(found, key=tuple(Severity).index, default=Severity.ERROR)


def _name(key: AlertKey) -> str:
    run: RunKey | None = key.run
    return f"{key.pipeline} {key.date}" if run is not None else f"{key.schedule} {key.date}"
