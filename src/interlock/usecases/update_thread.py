"""Update a thread: change its stored state, even while other senders do."""

from collections.abc import Callable, Sequence

from interlock.domain.alerting.deliveries import Target
from interlock.domain.alerting.threads import Thread, ThreadKey, opened, thread_key
from interlock.domain.event import Event
from interlock.domain.run import RunKey
from interlock.errors import TransientError
from interlock.usecases.alert_ports import AlertPorts

_TURNS = 20


def change_thread(
    key: ThreadKey, change: Callable[[Thread], Thread], ports: AlertPorts
) -> Thread | None:
    """The thread as it is afterwards; None when there is none. `change` may return its argument unchanged."""
    for _ in range(_TURNS):
        found = ports.threads.find(key)
        if found is None:
            return None
        changed = change(found)
        if changed is found or ports.threads.save(changed):
            return changed
    raise TransientError("too many senders are changing the thread at once")


def open_thread(event: Event, target: Target, ports: AlertPorts) -> Thread:
    """The thread of its date, opened if there is none."""
    key = thread_key(event, target.place)
    found = ports.threads.find(key)
    if found is not None:
        return found
    told: Sequence[Event] = events_of_date(event, ports)
    thread = opened(event, target, ports.clock(), told)
    if ports.threads.save(thread):
        return thread
    return ports.threads.find(key) or thread  # another process got there first


def events_of_date(event: Event, ports: AlertPorts) -> Sequence[Event]:
    """All events of its date; empty when it has none."""
    if event.pipeline_id is None or event.schedule_id is None or event.date is None:
        return ()
    return ports.events.of_run(RunKey(event.pipeline_id, event.schedule_id, event.date))
