"""Publish the outbox: tell what was stored with a state and has not been told yet."""

from interlock.domain.run import RunKey
from interlock.usecases.ports import Ports


def publish_outbox(owner: RunKey | str, ports: Ports) -> None:
    """Whoever loads a state with a filled outbox empties it first. Twice is once, by the ids."""
    events = ports.outbox.pending(owner_of(owner))
    if events:
        ports.events.publish(events)
        ports.outbox.clear(events)


def owner_of(owner: RunKey | str) -> str:
    """The name under which a run's or a mark's events wait."""
    if isinstance(owner, str):
        return owner
    return f"{owner}/dry" if owner.dry else str(owner)
