"""Publish the outbox: the events that were stored with a state and are not published yet."""

from interlock.domain.run import RunKey
from interlock.usecases.ports import Ports


def publish_outbox(owner: RunKey | str, ports: Ports) -> None:
    """A caller that loads a state with a filled outbox does this first. Repeats keep their ids."""
    events = ports.outbox.pending(owner_of(owner))
    if events:
        ports.events.publish(events)
        ports.outbox.clear(events)


def owner_of(owner: RunKey | str) -> str:
    """The owner key of a run's or a mark's waiting events."""
    if isinstance(owner, str):
        return owner
    return f"{owner}/dry" if owner.dry else str(owner)
