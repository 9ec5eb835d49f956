"""Deferred events: what a step can't publish stays in its outbox, and the step continues.

The number of tries of a step is limited, and its outcome must not depend on who listens. The next step of
the run, or the watchdog, publishes what is left.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from interlock.domain.event import Event
from interlock.domain.run import RunKey
from interlock.errors import TransientError, UnavailableError
from interlock.ports.stores import Events, Outbox
from interlock.usecases.ports import Ports

log = logging.getLogger(__name__)


def deferring(ports: Ports) -> Ports:
    """The same ports for one step, where a failed publish leaves the outbox as it is and raises nothing."""
    events = DeferringEvents(ports.events)
    return replace(ports, events=events, outbox=_KeepingOutbox(ports.outbox, events))


class DeferringEvents:
    """After one failure, this step tries no further publish: a hanging bus must not use up its time."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._deferred: set[str] = set()
        self.of_run: Callable[[RunKey], list[Event]] = events.of_run
        self.newest: Any = events.newest

    def publish(self, events: Sequence[Event]) -> None:
        if not self._deferred:
            try:
                self._events.publish(events)
                return
            except (TransientError, UnavailableError) as error:
                log.warning(
                    "events wait to be published: %s", error, extra={"action": "publish_deferred"}
                )
        self._deferred |= {event.event_id for event in events}

    def is_deferred(self, event: Event) -> bool:
        return event.event_id in self._deferred


class _KeepingOutbox:
    def __init__(self, outbox: Outbox, events: DeferringEvents) -> None:
        self._outbox, self._events = outbox, events
        self.pending: Callable[[str], list[Event]] = outbox.pending
        self.leftovers: Any = outbox.leftovers

    def clear(self, events: Sequence[Event]) -> None:
        told = [event for event in events if not self._events.is_deferred(event)]
        if told:
            self._outbox.clear(told)
