"""Alerting: who is told of what, and the sinks that do it; replaced whole when the file changes."""

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.adapters.sqlite.store import Store
from interlock.domain.alerting.alert_rules import CONSOLE, Alerts, with_sinks
from interlock.ports.alerts import Sink
from interlock.ports.stores import Events
from interlock.usecases.ports import AlertPorts


@dataclass(frozen=True)
class Alerting:
    """What a dispatcher must know."""

    alerts: Alerts
    ports: AlertPorts


def local_ports(store: Store, events: Events, sinks: Mapping[str, Sink]) -> AlertPorts:
    return AlertPorts(
        clock=store.clock,
        deliveries=store.deliveries,
        threads=store.threads,
        paces=store.paces,
        switches=store.switches,
        events=events,
        sinks=sinks,
    )


def console_alone(store: Store, events: Events, console: Sink) -> Alerting:
    """Nothing is declared: whoever looks at the screen is told."""
    return Alerting(with_sinks(Alerts(), None), local_ports(store, events, {CONSOLE.sink: console}))
