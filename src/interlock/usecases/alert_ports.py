"""Alert ports: everything that sending alerts may touch, in one struct."""

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.ports.alerts import Deliveries, Handlings, Paces, Sink, Switches, Threads
from interlock.ports.engine import Clock
from interlock.ports.stores import Events


@dataclass(frozen=True)
class AlertPorts:
    """Everything that sending alerts may touch."""

    clock: Clock
    deliveries: Deliveries
    threads: Threads
    handlings: Handlings
    paces: Paces
    switches: Switches
    events: Events
    sinks: Mapping[str, Sink]
