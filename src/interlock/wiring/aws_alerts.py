"""AWS alerts: the routes and sinks, for the function that sends alerts."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from interlock.adapters.alerts.lines import LineAlerts
from interlock.adapters.alerts.sinks import sinks_of, slack_channel
from interlock.adapters.aws.alert_queue import AlertQueue
from interlock.adapters.aws.deliveries import DynamoDeliveries
from interlock.adapters.aws.rows import millis
from interlock.adapters.aws.table import Table
from interlock.adapters.aws.timers import MUTE
from interlock.adapters.http.addresses import NOWHERE, AllowedHosts
from interlock.adapters.jobs.aws.secrets_manager import fetch_secret
from interlock.adapters.secrets.references import FetchSecret, Secrets
from interlock.domain.alerting.alert_rules import Alerts, with_sinks
from interlock.domain.alerting.deliveries import Delivery, DeliveryState
from interlock.domain.event import envelope
from interlock.domain.timer import Timer
from interlock.domain.unreadable import unreadable_event
from interlock.files.alerts_file import read_alerts
from interlock.ports.alerts import Sink
from interlock.usecases.alert_ports import AlertPorts
from interlock.wiring.aws_ports import AwsBackend

log = logging.getLogger(__name__)

#: How long routes are believed without asking.
ROUTES_KEPT = timedelta(seconds=60)


@dataclass(frozen=True, kw_only=True)
class AwsSinkSettings:
    """What the environment of the function says about sinks."""

    environment: Mapping[str, str] = field(repr=False)
    allowed: AllowedHosts = NOWHERE
    ca_file: Path | None = None
    public_url: str | None = None
    slack_api: str | None = None
    slack_channel: str | None = None
    slack_secret_arn: str | None = None
    slack_token: str | None = field(default=None, repr=False)
    #: Nothing there takes clicks.
    slack_signing_secret: None = None


def sink_settings(environment: Mapping[str, str]) -> AwsSinkSettings:
    return AwsSinkSettings(
        environment=environment,
        allowed=AllowedHosts.parse(environment.get("INTERLOCK_ALLOW_HOSTS", "")),
        public_url=environment.get("INTERLOCK_PUBLIC_URL") or None,
        slack_api=environment.get("SLACK_API_URL") or None,
        slack_channel=environment.get("SLACK_CHANNEL_ID") or None,
        slack_secret_arn=environment.get("SLACK_SECRET_ARN") or None,
        slack_token=environment.get("SLACK_BOT_TOKEN") or None,
    )


class AwsAlerting:
    """The alerting of an installation, rebuilt when its routes change."""

    def __init__(
        self, backend: AwsBackend, console: Sink | None = None, fetch: FetchSecret = fetch_secret
    ) -> None:
        self._backend = backend
        self._settings = sink_settings(backend.settings.environment)
        self._secrets = Secrets(backend.settings.environment, fetch=fetch)
        self._console = console or LineAlerts(base_url=self._settings.public_url)
        events = Table(backend.store.client, backend.store.names.events, backend.store.unreadable)
        self.deliveries = DynamoDeliveries(events, backend.ports.clock, self._arm_release)
        self.queue = AlertQueue(
            backend.client("sqs"), backend.settings.alert_queue_arn, backend.settings.alert_dlq_url
        )
        self._read_at: datetime | None = None
        self.alerts = Alerts()
        self.ports = self._ports()

    def refresh(self) -> None:
        """Routes that can't be read change nothing: the last good ones stay."""
        now = self._backend.ports.clock()
        if self._read_at is not None and now < self._read_at + ROUTES_KEPT:
            return
        declared = self._declared()
        if declared is not None:
            self.alerts = with_sinks(declared, slack_channel(self._settings))
            self.ports = self._ports()
        self._read_at = now

    def _declared(self) -> Alerts | None:
        stored = self._backend.store.alert_routes.kept()
        if stored is None:
            return Alerts()
        alerts, problems = read_alerts(stored)
        if alerts is None:
            shown = "; ".join(f"{problem.path}: {problem.message}" for problem in problems[:5])
            log.error("the routes can't be used: %s", shown, extra={"action": "routes_unreadable"})
        return alerts

    def _ports(self) -> AlertPorts:
        backend = self._backend
        clock = backend.ports.clock
        return AlertPorts(
            clock=clock,
            deliveries=self.deliveries,
            threads=backend.store.threads,
            handlings=backend.store.handlings,
            paces=backend.store.paces,
            switches=backend.store.switches,
            events=backend.ports.events,
            sinks=sinks_of(self.alerts, self._settings, self._secrets, self._console, clock),
        )

    def report_unreadable(self) -> None:
        """Tell of the rows that could not be read. What was sent of one already is known by its event."""
        met = self._backend.store.unreadable
        for row in met.met():
            event = unreadable_event(row, self._backend.ports.clock(), None)
            if not self.deliveries.of_events([event]):
                self._backend.ports.events.publish([event])
            met.reported(row)

    def _arm_release(self, held: Delivery) -> None:
        """At the end of a mute a message tells us to release what it held. The message of an escalation is
        its event, once more.
        """
        target = held.target
        if held.state is DeliveryState.WAITING:
            name = f"escalate.{held.event.event_id}.{target.place}.{millis(held.due_at)}"
            timer = Timer(name, MUTE, held.due_at, envelope(held.event))
            self._backend.ports.timers.arm([timer])
            return
        name = f"mute.{target.sink}.{target.channel}.{millis(held.due_at)}"
        release = {"release": {"sink": target.sink, "channel": target.channel}}
        self._backend.ports.timers.arm([Timer(name, MUTE, held.due_at, release)])
