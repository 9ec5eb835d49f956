"""Publish the outbox: publish what was stored with a state and not yet published."""

from interlock.domain.run import RunKey
from interlock.usecases.ports import Ports


def publish_outbox(owner: RunKey | str, ports: Ports) -> None:
    """A caller that loads a state with a filled outbox empties it first. Repeating is harmless: ids
    deduplicate.
    """
    events = ports.outbox.pending(owner_of(owner))
    if events:
        ports.events.publish(events)
        ports.outbox.clear(events)


def owner_of(owner: RunKey | str) -> str:
    """The outbox owner of a run's or a mark's events."""
    if isinstance(owner, str):
        return owner
    return f"{owner}/dry" if owner.dry else str(owner)
