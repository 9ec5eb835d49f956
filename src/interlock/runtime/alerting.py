"""Alerting: the routes and sinks of alerts; replaced as a whole when the file changes."""

from collections.abc import Mapping
from dataclasses import dataclass

from interlock.adapters.sqlite.store import Store
from interlock.domain.alerting.alert_rules import CONSOLE, Alerts, with_sinks
from interlock.ports.alerts import Sink
from interlock.ports.stores import Events
from interlock.usecases.alert_ports import AlertPorts


@dataclass(frozen=True)
class Alerting:
    """What the alert sender needs."""

    alerts: Alerts
    ports: AlertPorts


def local_ports(store: Store, events: Events, sinks: Mapping[str, Sink]) -> AlertPorts:
    return AlertPorts(
        clock=store.clock,
        deliveries=store.deliveries,
        threads=store.threads,
        handlings=store.handlings,
        paces=store.paces,
        switches=store.switches,
        events=events,
        sinks=sinks,
    )


def console_alone(store: Store, events: Events, console: Sink) -> Alerting:
    """Without declared routes, alerts go to the console."""
    return Alerting(with_sinks(Alerts(), None), local_ports(store, events, {CONSOLE.sink: console}))
