"""Claim an event: publish a fact without a run row, once."""

from interlock.domain.event import Event
from interlock.usecases.ports import Ports
from interlock.usecases.publish_outbox import publish_outbox


def claim_event(event: Event, ports: Ports) -> bool:
    """Whether it was new. A claim that was stored but not published is published now."""
    won = ports.claims.claim(event)
    publish_outbox(event.event_id, ports)
    return won
