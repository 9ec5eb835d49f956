"""Claim an event: tell a fact that has no run row, once."""

from interlock.domain.event import Event
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox


def claim_event(event: Event, ports: Ports) -> bool:
    """Whether it was news. A claim that was stored and not told is told now."""
    won = ports.claims.claim(event)
    publish_outbox(event.event_id, ports)
    return won
